"""``benchmarks/rules.py``: its rules are there, it hears them speak, and it counts by hand."""

import importlib
from functools import reduce
from typing import Any

import pytest
from rules import GROUPS, Answered, Question, figures_of

from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.score import Score


class Judge(CorrectnessJudge):
    """Gives every answer 4.5."""

    def __init__(self) -> None:
        pass

    def score(self, question: str, answer: str, reference: str) -> Score:
        return 4.5


def test_every_rule_that_is_taken_out_is_there() -> None:
    for path in {path for group in GROUPS.values() for path in group}:
        module, _, attribute = path.partition(":")
        home = importlib.import_module(f"lexloop.{module}")
        assert reduce(getattr, attribute.split("."), home) is not None


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        (
            {"gold": (("a.txt", 10, 20),)},
            Answered("b", False, True, (("a.txt", 15, 25), ("a.txt", 30, 40))),
            {"silent": 0, "first": 1, "found": 1, "only": 0, "verdict": 1},
        ),
        (
            {"gold": (("a.txt", 10, 20),), "points": ("pay the fee", "paint the hull")},
            Answered("Pay the fee.", False, True, (("a.txt", 10, 20),)),
            {"silent": 0, "points": 0.5, "whole": 0, "found": 1, "verdict": 0},
        ),
        ({"gold": ()}, Answered("", True), {"silent": 1}),
    ],
)
def test_figures_by_hand(asked: dict[str, Any], said: Answered, expected: dict[str, float]) -> None:
    assert figures_of(Judge(), Question("set kind", "corpus", "Who?", **asked), said) == expected
