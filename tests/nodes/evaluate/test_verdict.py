"""When an attempt passes, and which attempt is the answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import attempt, evaluation, passage

from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import QUOTED, Attempt, Evaluation
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.node import (
    best_attempt,
    finding_of,
    may_retry,
    passes,
    rank_of,
    repeats,
    warning_for,
)
from lexloop.nodes.question import parse

BARS = Settings(
    **{
        "loop.min_answer_relevance": 0.4,
        "loop.min_context_relevance": 0.5,
        "loop.min_groundedness": 0.6,
    }
)


def tried(number: int, verdict: Evaluation, **changed: object) -> Attempt:
    return {**attempt(number, "What fee?", [], verdict), **changed}


def unverified(*scores: float | None) -> Evaluation:
    return {**evaluation(*scores), "citations_verified": False}


@pytest.mark.parametrize(
    ("scores", "passed"),
    [
        ((0.4, 0.5, 0.6), True),
        ((0.39, 0.5, 0.6), False),
        ((None, 1.0, 1.0), False),
        ((float("nan"), 1.0, 1.0), False),
    ],
)
def test_each_score_must_reach_its_setting(scores: tuple[float | None, ...], passed: bool) -> None:
    assert passes(Judgement(*scores), BARS) is passed


@pytest.mark.parametrize(
    ("scores", "answers", "passed"),
    [
        ((None, None, 0.6), 0.7, True),
        ((1.0, 1.0, 1.0), 0.69, False),
        ((1.0, 1.0, 0.59), 1.0, False),
        ((1.0, 1.0, 1.0), float("nan"), False),
    ],
)
def test_how_likely_it_answers_stands_for_relevance(
    scores: tuple[float | None, ...], answers: float | None, passed: bool
) -> None:
    bars = BARS.changed(**{"loop.min_answers": 0.7})
    assert passes(Judgement(*scores, answers=answers), bars) is passed


def test_what_came_of_a_question() -> None:
    passed: Evaluation = {**evaluation(1.0, 1.0, 1.0), "passed": True}
    low, none = evaluation(0.1, 0.1, 0.1), evaluation(None, None, None)
    cited = {"n": 1, "document": "d1.txt", "section": "§ 1", "page": None, "start": 0, "end": 1}
    near = [{**cited, "quote": "T"}]
    assert finding_of(tried(1, passed)) == "answers"
    assert finding_of(tried(1, passed, near=near)) == "answers"
    assert finding_of(tried(1, low)) == "in part"
    assert finding_of(tried(1, none, abstained=True, near=near)) == "near"
    assert finding_of(tried(1, none, abstained=True, near=[])) == "absent"
    assert finding_of(tried(1, none, abstained=True)) == "absent"  # kept by an older version


def test_retries_are_counted() -> None:
    low = evaluation(0.1, 0.1, 0.1)
    attempts = [tried(number, low) for number in (1, 2, 3)]
    allowed = [may_retry(attempts[:n], Settings(**{"loop.max_retries": 2})) for n in (1, 2, 3)]
    assert allowed == [True, True, False]
    assert not may_retry(attempts[:1], Settings(**{"loop.max_retries": 0}))


@pytest.mark.parametrize(
    ("verdicts", "best"),
    [
        ([unverified(1, 1, 1), evaluation(0.1, 0.1, 0.1)], 2),
        ([evaluation(0.3, 0.9, 0.9), evaluation(0.4, 0.4, 0.4)], 2),
        ([evaluation(0.9, 0.9, None), evaluation(0.1, 0.1, 0.1)], 2),
    ],
)
def test_verified_first_then_the_highest_minimum_then_the_earliest(
    verdicts: list[Evaluation], best: int
) -> None:
    attempts = [tried(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    assert best_attempt(attempts)["number"] == best


SILENT = {"abstained": True, "verdict": evaluation(None, None, None)}
LOW = {"verdict": evaluation(0.1, 0.9, 0.9)}
BETTER = {"verdict": evaluation(0.4, 0.9, 0.9)}
WRONG = {"verdict": unverified(1, 1, 1)}
PASSED = {"verdict": {**evaluation(0.5, 0.9, 0.9), "passed": True}}


@pytest.mark.parametrize(
    ("made", "best"),
    [
        ([SILENT, LOW], 1),  # a draft is not better merely by being one
        ([SILENT, LOW, PASSED], 3),
        ([LOW, SILENT, BETTER], 3),
        ([WRONG, SILENT], 2),  # what cannot be verified gives way to silence
        ([SILENT, WRONG], 1),
        ([LOW, LOW], 1),
    ],
)
def test_abstentions_and_answers_in_each_order(made: list[dict[str, Any]], best: int) -> None:
    attempts = [
        tried(number, one["verdict"], abstained=one.get("abstained", False))
        for number, one in enumerate(made, 1)
    ]
    assert best_attempt(attempts)["number"] == best


def reading(question: str, *chunks: str, guidance: str | None = None) -> State:
    """A state in which passages were found and nothing is written."""
    found = [{**passage(n, "x"), "id": name} for n, name in enumerate(chunks, 1)]
    advice = {"question": question, "queries": [], "guidance": guidance, "strategy": "whole"}
    return {
        "parsed": parse(question),
        "passages": found,
        "attempts": [],
        "advice": None if guidance is None else advice,
    }


def read(state: State, *quoted: str) -> Attempt:
    """The attempt made of it, whose answer quotes further passages."""
    beside = [{**passage(9, "y"), "id": name, "signals": {QUOTED: 1.0}} for name in quoted]
    made = tried(1, evaluation(0.1, 0.1, 0.1), question=state["parsed"]["text"])
    return {**made, "passages": [*state["passages"], *beside]}


@pytest.mark.parametrize(
    ("again", "same"),
    [
        (reading("What?", "b", "a", guidance=""), True),
        (reading("What?", "a", "b", "c", guidance=""), False),
        (reading("What fee?", "a", "b", guidance=""), False),
        (reading("What?", "a", "b", guidance="Be short."), False),  # a model heeds it
    ],
)
def test_what_is_read_again_repeats(again: State, same: bool) -> None:
    first = {**read(reading("What?", "a", "b"), "q"), "advice": again["advice"]}
    assert repeats({**again, "attempts": [first]}) is same


SCORES = st.one_of(st.none(), st.floats(0, 1))
VERDICTS = st.builds(
    lambda a, b, c, verified: {**evaluation(a, b, c), "citations_verified": verified},
    SCORES,
    SCORES,
    SCORES,
    st.booleans(),
)


@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_no_answer_beats_the_best(verdicts: list[Evaluation]) -> None:
    attempts = [tried(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    best = rank_of(best_attempt(attempts))
    assert not any(rank_of(other).beats(best) for other in attempts)


@given(st.lists(st.tuples(VERDICTS, st.booleans()), min_size=1, max_size=6))
def test_an_attempt_changes_nothing_unless_it_beats_the_best_before(
    verdicts: list[tuple[Evaluation, bool]],
) -> None:
    attempts = [
        tried(n, {**v, "citations_verified": True} if silent else v, abstained=silent)
        for n, (v, silent) in enumerate(verdicts, 1)
    ]
    before = best_attempt(attempts[:-1] or attempts)
    best = best_attempt(attempts)
    assert best is (attempts[-1] if rank_of(attempts[-1]).beats(rank_of(before)) else before)


def test_warnings() -> None:
    passed: Evaluation = {**evaluation(1.0, 1.0, 1.0), "passed": True}
    assert warning_for(tried(1, passed), judged=True) == ""
    low = tried(1, evaluation(0.1, 0.1, 0.1, "Too little.", "b", "c", "never shown"))
    said = warning_for(low, judged=True)
    assert said == ("No attempt passed the evaluation; this is the best one. Too little. b c")
    assert warning_for(low, judged=False) == "This answer was not evaluated."
    wrong = tried(1, {**unverified(None, None, None), "reasons": ["[1] cites no passage."]})
    assert "[1] cites no passage." in warning_for(wrong, judged=False)
    silent = tried(1, evaluation(None, None, None), abstained=True)
    assert warning_for(silent, judged=True) == warning_for(silent, judged=False) == ""
