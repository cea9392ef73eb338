"""Adaptive k against fixed k, by hand, and the rules on rankings made by hand."""

from typing import Any, cast

import numpy as np
import pytest
from _adapting_lists import Ranking
from _adapting_measure import against_fixed, curves
from _adapting_rules import RULES


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


def test_equal_tokens_mix_two_ks() -> None:
    # one question needs one passage, the other three: knowing it beats 2 for both
    curve = curves([ranking("1000"), ranking("0010")], 4)
    row = against_fixed(curve, "recall", np.array([1, 3]))
    assert (row["recall"], row["tokens"], row["k"]) == (1.0, 20.0, 2.0)
    assert (row["fixed"], row["gain"]) == (0.5, 0.5)
    assert row["fixed_tokens"] == 30.0
    half = against_fixed(curve, "recall", np.array([2, 3]))
    assert half["fixed"] == pytest.approx(0.75)  # between 2 and 3 passages


@pytest.mark.parametrize(
    ("rule", "k"),
    [
        ("classifier, 3 classes", 7),
        ("oracle: number of relevant", 2),
        ("scores", 4),  # weights exp(-0.1 n / 0.16): the fourth holds 0.07, the fifth 0.04
    ],
)
def test_rules_on_one_ranking(rule: str, k: int) -> None:
    assert RULES[rule]([ranking("01010000")]).tolist() == [k]
