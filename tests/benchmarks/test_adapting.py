"""Adaptive k against fixed k, by hand, and the rules on rankings made by hand."""

from typing import Any, cast

import numpy as np
import pytest
from _adapting_lists import Ranking
from _adapting_measure import against_fixed, curves
from _adapting_rules import MOST, RULES, by_scores


def ranking(relevant: str, tokens: int = 10, **fields: Any) -> Ranking:
    """``ranking("101")`` has its first and its third passage relevant."""
    items = [
        {
            "id": str(place),
            "relevant": mark == "1",
            "tokens": tokens,
            "score": 2.0 - 0.1 * place,
        }
        for place, mark in enumerate(relevant)
    ]
    plain = {
        "question": "Who pays?",
        "group": str(id(items)),
        "relevant": relevant.count("1"),
        "contexts": [],
        "two_classes": [0.9, 0.1],
        "three_classes": [0.1, 0.1, 0.8],
        "items": items,
    }
    return cast("Ranking", plain | fields)


def test_curves_by_hand() -> None:
    found = curves([ranking("101", contexts=[["0", "1"], ["2"], ["9"]])], 4)
    assert found.found["recall"].tolist() == [[0.0, 0.5, 0.5, 1.0, 1.0]]
    assert found.found["contexts"][0] == pytest.approx([0.0, 1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert found.tokens.tolist() == [[0.0, 10.0, 20.0, 30.0, 30.0]]


def test_equal_tokens_mix_two_ks() -> None:
    # one question needs one passage, the other three: knowing it beats 2 for both
    curve = curves([ranking("1000"), ranking("0010")], 4)
    row = against_fixed(curve, "recall", np.array([1, 3]))
    assert (row["recall"], row["tokens"], row["k"]) == (1.0, 20.0, 2.0)
    assert (row["fixed"], row["gain"]) == (0.5, 0.5)
    assert row["fixed_tokens"] == 30.0
    half = against_fixed(curve, "recall", np.array([2, 3]))
    assert half["fixed"] == pytest.approx(0.75)  # between 2 and 3 passages


def test_a_fixed_k_gains_nothing_in_any_resample() -> None:
    curve = curves([ranking("1000"), ranking("0010", tokens=7), ranking("0101")], 4)
    row = against_fixed(curve, "recall", np.array([2, 2, 2]))
    for name in ("gain", "gain_low", "gain_high"):
        assert row[name] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "k"),
    [
        ("classifier, 3 classes", 7),
        ("classifier, 2 classes", 5),
        ("oracle: number of relevant", 2),
        ("oracle: place of the last relevant", 4),
        ("scores", 4),  # weights exp(-0.1 n / 0.16): the fourth holds 0.07, the fifth 0.04
    ],
)
def test_rules_on_one_ranking(rule: str, k: int) -> None:
    assert RULES[rule]([ranking("01010000")]).tolist() == [k]


def test_rules_stay_within_their_bounds() -> None:
    rankings = [ranking("10" * 15, group=str(n)) for n in range(1, 13)]
    # a classifier is not learnt from twelve questions
    rules = [rule for name, rule in RULES.items() if "learnt" not in name]
    for rule in [*rules, by_scores(0.5, 0.001)]:
        ks = rule(rankings)
        assert len(ks) == 12
        assert ((ks >= 1) & (ks <= MOST)).all()
