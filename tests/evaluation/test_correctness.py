"""The embedded judge of correctness: its scale by hand, and what it gives real texts."""

import json
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import resources
from typing import Any

import pytest

from lexloop.core.score import Unresolved
from lexloop.core.types import ABSTENTION
from lexloop.evaluation.agreement_features import AgreementFeatures
from lexloop.evaluation.correctness import CorrectnessJudge, on_scale, read_weights
from lexloop.models.minilm import load_minilm

NAMES = [field.name for field in fields(AgreementFeatures)]
NONE = AgreementFeatures(*[0.0] * len(NAMES))
QUESTION = "How long must records be kept?"
REFERENCE = "Records must be kept for six years after the account is closed."
SILENCE = "The text does not say how long records must be kept."


@pytest.fixture(scope="module")
def judge() -> CorrectnessJudge:
    return CorrectnessJudge(load_minilm().embed)


def stored(**changes: Any) -> dict[str, Any]:
    return {"intercept": 0.0, "good": 3.5, "weights": dict.fromkeys(NAMES, 0.0)} | changes


def score(judge: CorrectnessJudge, answer: str, reference: str = REFERENCE) -> float:
    found = judge.score(QUESTION, answer, reference)
    assert isinstance(found, float)
    return found


def test_the_scale_by_hand() -> None:
    # below good 1 to 3.5 is stretched to 1 to 4, above it 3.5 to 5 shrunk to 4 to 5
    assert [on_scale(value, 3.5) for value in (1.0, 2.25, 3.5, 4.25, 5.0)] == [1, 2.5, 4, 4.5, 5]


def test_a_score_by_hand() -> None:
    weights = dict.fromkeys(NAMES, 0.0) | {"pair_recall": 2.0, "opposed": -4.0}
    regression = read_weights(stored(intercept=-1.0, weights=weights, good=4.0))
    # logit -1 + 2 * 0.5 = 0: half of the way from 1 to 5
    assert regression.score(replace(NONE, pair_recall=0.5)) == pytest.approx(3.0)
    spoilt = regression.score(replace(NONE, pair_recall=0.5, opposed=1.0))
    assert spoilt == pytest.approx(1.0 + 4.0 / (1.0 + math.exp(4.0)))


@pytest.mark.parametrize("intercept", [-1e9, 1e9])
def test_no_logit_leaves_the_scale(intercept: float) -> None:
    assert 1.0 <= read_weights(stored(intercept=intercept)).score(NONE) <= 5.0


@pytest.mark.parametrize(
    "broken",
    [
        {"weights": {}},
        {"weights": dict.fromkeys([*NAMES, "more"], 0.0)},
        {"weights": dict.fromkeys(NAMES, "much")},
        {"intercept": float("nan")},
        {"good": 5.0},
        {"good": float("nan")},
        {"good": None},
    ],
)
def test_weights_of_another_form_are_refused(broken: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_weights(stored(**broken))


def test_no_shipped_weight_counts_against_its_direction() -> None:
    source = resources.files("lexloop.data") / "judges" / "correctness.json"
    shipped = json.loads(source.read_text(encoding="utf-8"))
    signs = list(shipped["weights"].values())
    assert min(signs[:9]) >= 0.0 >= max(signs[9:])


def test_the_reference_is_right_and_anything_else_is_wrong(judge: CorrectnessJudge) -> None:
    assert score(judge, REFERENCE) > 4.8
    assert score(judge, "Six years from the closing of the account.") > 4.0
    assert score(judge, "Bake the bread in a hot oven.") < 2.0


def test_another_number_or_verdict_or_a_negation_lowers_the_score(judge: CorrectnessJudge) -> None:
    right = score(judge, REFERENCE)
    assert score(judge, REFERENCE.replace("six", "seven")) < right - 1.0
    assert score(judge, REFERENCE.replace("must", "must not")) < right - 0.5
    assert score(judge, f"No. {REFERENCE}", f"Yes. {REFERENCE}") < right - 1.0


def test_abstaining_is_right_where_nothing_answers_and_only_there(judge: CorrectnessJudge) -> None:
    assert score(judge, ABSTENTION) < 2.0
    assert score(judge, ABSTENTION, SILENCE) >= 4.0
    assert score(judge, "I'm sorry, I could not find that in the sources.", SILENCE) >= 4.0
    assert score(judge, REFERENCE, SILENCE) < 3.5


def test_markers_change_nothing(judge: CorrectnessJudge) -> None:
    marked = "Records must be kept for six years after the account is closed [1, 2]."
    assert score(judge, marked) == pytest.approx(score(judge, REFERENCE), abs=0.05)


def test_what_cannot_be_compared(judge: CorrectnessJudge) -> None:
    for reference in ("", " \n", "?"):
        assert judge.score(QUESTION, "Six years.", reference) == Unresolved(
            "there is no reference answer"
        )
    for nothing in ("", "[1]", "🙂 [2][3]"):
        assert judge.score(QUESTION, nothing, REFERENCE) == 1.0
    assert judge.score("", REFERENCE, REFERENCE) == pytest.approx(5.0, abs=0.3)
    assert judge.scores([]) == []


def test_together_and_one_by_one_give_the_same(judge: CorrectnessJudge) -> None:
    triples = [(QUESTION, answer, REFERENCE) for answer in (REFERENCE, "", "Never.", ABSTENTION)]
    triples.insert(2, (QUESTION, REFERENCE, ""))
    together: Sequence[object] = judge.scores(triples * 20)
    assert together[:5] == together[-5:]
    for found, triple in zip(together, triples, strict=False):
        alone = judge.score(*triple)
        assert found == (alone if isinstance(alone, Unresolved) else pytest.approx(alone, abs=1e-3))
