"""``benchmarks/rules.py``: its rules are there, it hears them speak, and it counts by hand."""

import importlib
import re
from functools import reduce
from typing import Any

import pytest
import rules
from rules import GROUPS, Answered, Question, figures_of, giving, never

from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.score import Score


class Judge(CorrectnessJudge):
    """Gives every answer 4.5."""

    def __init__(self) -> None:
        pass

    def score(self, question: str, answer: str, reference: str) -> Score:
        return 4.5


@pytest.mark.parametrize("path", sorted({path for group in GROUPS.values() for path in group}))
def test_every_rule_that_is_taken_out_is_there(path: str) -> None:
    module, _, attribute = path.partition(":")
    home = importlib.import_module(f"lexloop.{module}")
    assert reduce(getattr, attribute.split("."), home) is not None


def test_a_rule_that_is_gone_is_named() -> None:
    with pytest.raises(SystemExit, match=r"nodes\.question:_NO_SUCH is gone"):
        rules._put("nodes.question:_NO_SUCH", never)


def test_a_pattern_tells_when_it_matches() -> None:
    told: list[str] = []
    heard = rules._listening(re.compile("b"), never, lambda: told.append("b"))
    assert not heard.search("a")
    assert heard.sub("c", "a") == "a"
    assert heard.split("a") == ["a"]
    assert not told
    assert heard.search("abc")[0] == "b"
    assert [m[0] for m in heard.finditer("bb")] == ["b", "b"]
    assert heard.sub("c", "ab") == "ac"
    assert len(told) == 3


def test_a_function_tells_when_it_says_what_would_not_be_said_without_it() -> None:
    told: list[str] = []
    heard = rules._listening(lambda text: text == "b", giving(False), lambda: told.append("b"))
    assert [heard(letter) for letter in "abc"] == [False, True, False]
    assert told == ["b"]


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        # half of the first citation lies in the span, nothing of the second
        (
            {"gold": (("a.txt", 10, 20),)},
            Answered("b", False, True, (("a.txt", 15, 25), ("a.txt", 30, 40))),
            {"silent": 0, "first": 1, "found": 1, "only": 0, "verdict": 1},
        ),
        (
            {"gold": (("a.txt", 10, 20),)},
            Answered("b", False, True, (("b.txt", 10, 20),)),
            {"silent": 0, "first": 0, "found": 0, "only": 0, "verdict": 0},
        ),
        (
            {"gold": (("a.txt", 10, 20),), "points": ("pay the fee", "paint the hull")},
            Answered("Pay the fee.", False, True, (("a.txt", 10, 20),)),
            {"silent": 0, "points": 0.5, "whole": 0, "found": 1, "verdict": 0},
        ),
        ({"gold": ()}, Answered("", True), {"silent": 1}),
        (
            {"reference": "Yes."},
            Answered("Yes.", False, False),
            {"silent": 0, "correctness": 4.5, "correct": 1, "verdict": 0},
        ),
        ({"supported": False}, Answered(passed=True), {"right": 0}),
    ],
)
def test_figures_by_hand(asked: dict[str, Any], said: Answered, expected: dict[str, float]) -> None:
    assert figures_of(Judge(), Question("set kind", "corpus", "Who?", **asked), said) == expected


def test_what_changed_is_told_with_its_interval() -> None:
    questions = [Question("a b", "c", str(n)) for n in range(4)]
    before, after = [{"silent": 1.0, "first": 0.0}] * 4, [{"silent": 0.0, "first": 0.0}] * 4
    moved = rules._moved(questions, before, after)
    assert list(moved) == ["a b silent"]
    assert (moved["a b silent"].mean, moved["a b silent"].high) == (-1.0, -1.0)
    assert rules._row("x", (4, 3), moved) == "| x | 4 | 3 | a b silent -1.000 [-1.000, -1.000]* |"
