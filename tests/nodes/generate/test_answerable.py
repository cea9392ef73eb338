"""Whether the documents answer, by features of what was found."""

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from records import query

from lexloop.core.types import Passage
from lexloop.nodes.generate.extractive import (
    AGAINST,
    AnswerabilityFeatures,
    probability_found,
    probability_there,
    read_features,
    score_quotables,
)
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]
NONE = AnswerabilityFeatures(*[0.0] * len(fields(AnswerabilityFeatures)))


@pytest.fixture
def features(small: View, passages: Passages) -> Callable[..., AnswerabilityFeatures]:
    def read(question: str, *sections: str) -> AnswerabilityFeatures:
        asked = query(question, small)
        scored = score_quotables(asked, passages(*sections), small)
        assert scored is not None
        return read_features(asked, scored, small)

    return read


@pytest.mark.parametrize(
    ("question", "feature", "value"),
    [
        ("What is the mooring fee in Chicago?", "foreign", 1.0),
        ("What is the mooring fee in chicago?", "foreign", 0.0),
        ("What does § 99-7 require of a boat owner?", "foreign", 1.0),
        ("Which zeppelins, dirigibles, gliders and kites pay?", "unknown", 1.0),
        ("What does 'berth' mean?", "undefined", 0.0),
        ("How much is the fee?", "lacking", 0.0),
        ("How large is a boat that is exempt?", "lacking", 0.0),  # 4 metres
    ],
)
def test_each_feature(
    features: Callable[..., AnswerabilityFeatures], question: str, feature: str, value: float
) -> None:
    assert getattr(features(question), feature) == pytest.approx(value)


@pytest.mark.parametrize("question", ["?", "§", "a" * 3000])
def test_features_of_any_text_lie_in_their_range(
    features: Callable[..., AnswerabilityFeatures], question: str
) -> None:
    found = features(question)
    for field in fields(AnswerabilityFeatures):
        assert -1.0 <= getattr(found, field.name) <= 2.0
    assert 0.0 <= probability_there(found) <= 1.0
    assert 0.0 <= probability_found(found) <= 1.0


def shipped() -> dict[str, dict[str, Any]]:
    path = Path(__file__).parents[3] / "data" / "judges" / "answerable.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("part", "probability"), [("there", probability_there), ("found", probability_found)]
)
def test_the_shipped_weights_give_a_probability(
    part: str, probability: Callable[[AnswerabilityFeatures], float]
) -> None:
    stored = shipped()[part]
    assert set(stored["weights"]) == {field.name for field in fields(AnswerabilityFeatures)}
    intercept = float(stored["intercept"])
    assert probability(NONE) == pytest.approx(1 / (1 + math.exp(-intercept)))
    by_hand = intercept + 0.5 * stored["weights"]["closest"] + stored["weights"]["foreign"]
    found = replace(NONE, closest=0.5, foreign=1.0)
    assert probability(found) == pytest.approx(1 / (1 + math.exp(-by_hand)))


@pytest.mark.parametrize("part", ["there", "found"])
def test_no_weight_speaks_against_its_side(part: str) -> None:
    weights = shipped()[part]["weights"]
    assert {name for name, weight in weights.items() if weight < 0} == set(AGAINST)
    assert min(weights["score"], weights["lead"]) > 0
