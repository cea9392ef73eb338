"""Reply forms: strict, bounded, and of the right count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from lexloop.nodes.evaluate.judges import (
    Claims,
    Grade,
    Questions,
    TenthsGrade,
    evidence_on,
    number,
    turn_on,
    verdicts_on,
)
from lexloop.prompts import Data


def accepts(schema: type[BaseModel], value: object) -> bool:
    try:
        schema.model_validate(value)
    except ValidationError:
        return False
    return True


NO_NUMBERS = ["3", True, None, float("nan"), float("inf"), [3], {"score": 3}]


@pytest.mark.parametrize("score", [*NO_NUMBERS, 0.9, 5.1, -3, 10**400])
def test_what_is_no_grade(score: object) -> None:
    assert not accepts(Grade, {"score": score})


@pytest.mark.parametrize("score", [1, 3, 4.5, 5.0])
def test_grades(score: float) -> None:
    assert Grade.model_validate({"score": score}).score == score


@pytest.mark.parametrize("score", [*NO_NUMBERS, -0.1, 1.1, 0.55, 0.101])
def test_what_is_no_grade_in_tenths(score: object) -> None:
    assert not accepts(TenthsGrade, {"score": score})


@given(st.integers(0, 10))
def test_tenths_are_exact_however_they_were_computed(tenth: int) -> None:
    assert TenthsGrade.model_validate({"score": tenth * 0.1}).score == round(tenth / 10, 1)


def test_verdicts_come_out_in_the_order_of_their_numbers() -> None:
    given = {"verdicts": [{"n": 2, "verdict": False}, {"n": 1, "verdict": True}]}
    found = verdicts_on(2).model_validate(given)
    assert [verdict.verdict for verdict in found.verdicts] == [True, False]


@pytest.mark.parametrize(
    "verdicts",
    [
        [],
        [{"n": 1, "verdict": True}],
        [{"n": 1, "verdict": True}] * 2,
        [{"n": n, "verdict": True} for n in (0, 1)],
        [{"n": n, "verdict": True} for n in (1, 2, 3)],
        [{"n": 1, "verdict": True}, {"n": 2, "verdict": "true"}],
        [{"n": 1, "verdict": True}, {"n": 2, "verdict": 1}],
        [{"n": 1, "verdict": True}, {"n": 2}],
        [{"n": 1, "verdict": True}, {"n": "2", "verdict": True}],
        [{"n": True, "verdict": True}, {"n": 2, "verdict": True}],
    ],
)
def test_verdicts_must_be_one_on_each_item(verdicts: list[object]) -> None:
    assert not accepts(verdicts_on(2), {"verdicts": verdicts})


def test_what_is_wrong_with_verdicts_is_said_in_words_for_the_model() -> None:
    with pytest.raises(ValidationError, match="exactly one verdict for each n from 1 to 3"):
        verdicts_on(3).model_validate({"verdicts": []})


@pytest.mark.parametrize("scores", [[], [7], [7, 8, 9], [7, 11], [0, 7], [7, "8"], [True, 7]])
def test_scores_of_answers_are_one_each_from_1_to_10(scores: list[object]) -> None:
    assert not accepts(turn_on(2), {"remark": "So.", "scores": scores})
    good = {"reasoning": "So.", "scores": [7, 8]}
    assert accepts(evidence_on(2), {"evidence": [good] * 3})
    assert not accepts(evidence_on(2), {"evidence": [good, good, {"scores": scores}]})


@pytest.mark.parametrize("pieces", [0, 2, 4])
def test_pieces_of_evidence_are_as_many_as_asked_for(pieces: int) -> None:
    assert not accepts(evidence_on(1), {"evidence": [{"scores": [7]}] * pieces})


def test_texts_must_not_be_blank_nor_too_many() -> None:
    assert accepts(Claims, {"claims": []})
    assert not accepts(Claims, {"claims": ["So.", " \n"]})
    assert not accepts(Claims, {"claims": ["So."] * 41})
    assert not accepts(Questions, {"questions": ["What?", "What?"]})
    assert not accepts(turn_on(1), {"remark": "", "scores": [1]})


def test_items_are_numbered_from_1() -> None:
    assert number("claim", ["a", "b"]) == [Data("claim", "a", 1), Data("claim", "b", 2)]
