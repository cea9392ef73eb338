"""The correctness of answers beside references, and the features that it is read off."""

import math
from dataclasses import asdict, astuple, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sets import rows

from lexloop.core.types import ABSTENTION
from lexloop.models.minilm import load_minilm
from lexloop_eval.correctness import (
    AgreementFeatures,
    CorrectnessJudge,
    Text,
    declines,
    on_scale,
    read_features,
    read_weights,
)
from lexloop_eval.score import Unresolved


def test_what_is_a_refusal_and_what_the_law_denies() -> None:
    refusals = (
        ABSTENTION,
        "I'm sorry, but I cannot answer that.",
        "A deadline is not given anywhere.",
        "I do not have access to the harbour rules.",
        "The documents say nothing about it.",
        "On this the rule is silent.",
    )
    laws = (
        "",
        "The fee is not due in winter.",
        "No owner may moor a boat without a permit.",
        "If no information is available, the harbour master may set the fee.",
        "The permit lapses unless details are not provided within ten days.",
    )
    assert [sentence for sentence in refusals if not declines(sentence)] == []
    assert [sentence for sentence in laws if declines(sentence)] == []


EAST, NORTH = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
DIAGONAL = (EAST + NORTH) / np.float32(np.sqrt(2.0))


def features(question: str, answer: str, reference: str) -> dict[str, float]:
    """The features where all three texts mean the same."""
    read = Text(question), Text(answer), Text(reference)
    return asdict(read_features(*read, {text.plain: EAST for text in read}))


@pytest.mark.parametrize(("question", "answer", "reference", "expected"), rows("agreement"))
def test_features_of_an_answer_beside_its_reference(
    question: str, answer: str, reference: str, expected: dict[str, float]
) -> None:
    values = features(question, answer, reference)
    assert {name: values[name] for name in expected} == expected


def test_overlap_by_hand() -> None:
    # terms: own pay moor fee | own pay harbour fee fast; pairs: own-pay is shared
    values = features("Who?", "Owners pay harbour fees fast.", "Owners pay mooring fees.")
    assert values["pair_recall"] == pytest.approx(1 / 3)
    assert values["pair_precision"] == pytest.approx(1 / 4)
    assert values["word_recall"] == pytest.approx(3 / 4)
    assert values["new_recall"] == pytest.approx(3 / 4)
    assert values["new_precision"] == pytest.approx(3 / 5)
    reference = "Owners pay mooring fees. Tenants repair hulls."
    values = features("Who?", "Tenants repair hulls quickly. Owners sleep.", reference)
    assert values["claims_covered"] == pytest.approx((1 / 4 + 1) / 2)
    # 2 words against 8: log((8 + 5) / (2 + 5)); only a shorter answer counts against
    long = "Owners pay the mooring fee in early spring."
    assert features("Who?", "Owners pay.", long)["shorter"] == pytest.approx(np.log(13 / 7))
    assert features("Who?", long, "Owners pay.")["shorter"] == 0.0


def test_closeness_beside_the_question() -> None:
    question, answer, reference = Text("Who?"), Text("Owners."), Text("Tenants.")
    values = read_features(
        question, answer, reference, {"Who?": EAST, "Owners.": DIAGONAL, "Tenants.": NORTH}
    )
    assert values.on_question == pytest.approx(np.sqrt(0.5))
    assert values.new_meaning == pytest.approx(1.0, abs=1e-6)


@example("", "\x00", "a" * 50_000)
@example("[1]", "1. " * 20_000, "Pay.")
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_every_feature_but_the_last_is_a_share(question: str, answer: str, reference: str) -> None:
    read = Text(question), Text(answer), Text(reference)
    *shares, shorter = astuple(read_features(*read, {text.plain: EAST for text in read}))
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert 0.0 <= shorter < np.inf


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
    value = judge.score(QUESTION, answer, reference)
    assert isinstance(value, float)
    return value


def test_a_score_by_hand() -> None:
    # below good 1 to 3.5 is stretched to 1 to 4, above it 3.5 to 5 shrunk to 4 to 5
    assert [on_scale(value, 3.5) for value in (1.0, 2.25, 3.5, 4.25, 5.0)] == [1, 2.5, 4, 4.5, 5]
    weights = dict.fromkeys(NAMES, 0.0) | {"pair_recall": 2.0, "opposed": -4.0}
    regression = read_weights(stored(intercept=-1.0, weights=weights, good=4.0))
    # logit -1 + 2 * 0.5 = 0: half of the way from 1 to 5
    assert regression.score(replace(NONE, pair_recall=0.5)) == pytest.approx(3.0)
    spoilt = regression.score(replace(NONE, pair_recall=0.5, opposed=1.0))
    assert spoilt == pytest.approx(1.0 + 4.0 / (1.0 + math.exp(4.0)))


def test_weights_of_another_form_are_refused() -> None:
    with pytest.raises((ValueError, TypeError)):
        read_weights(stored(good=5.0))


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


def test_what_cannot_be_compared(judge: CorrectnessJudge) -> None:
    for reference in ("", " \n", "?"):
        assert judge.score(QUESTION, "Six years.", reference) == Unresolved(
            "there is no reference answer"
        )
    for nothing in ("", "[1]", "🙂 [2][3]"):
        assert judge.score(QUESTION, nothing, REFERENCE) == 1.0
    assert judge.score("", REFERENCE, REFERENCE) == pytest.approx(5.0, abs=0.3)
    assert judge.scores([]) == []
