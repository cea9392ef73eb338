"""When an attempt passes, and which attempt is the answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import attempt, evaluation

from lexloop.core.settings import Settings
from lexloop.core.types import Attempt, Evaluation
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.node import (
    best_attempt,
    finding_of,
    passes,
    rank_of,
    warning_for,
)

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


SILENT = {"abstained": True, "verdict": evaluation(None, None, None)}
LOW = {"verdict": evaluation(0.1, 0.9, 0.9)}
BETTER = {"verdict": evaluation(0.4, 0.9, 0.9)}
WRONG = {"verdict": unverified(1, 1, 1)}


@pytest.mark.parametrize(
    ("made", "best"),
    [
        ([SILENT, LOW], 1),  # a draft is not better merely by being one
        ([LOW, SILENT, BETTER], 3),
        ([WRONG, SILENT], 2),  # what cannot be verified gives way to silence
        ([SILENT, WRONG], 1),
    ],
)
def test_abstentions_and_answers_in_each_order(made: list[dict[str, Any]], best: int) -> None:
    attempts = [
        tried(number, one["verdict"], abstained=one.get("abstained", False))
        for number, one in enumerate(made, 1)
    ]
    assert best_attempt(attempts)["number"] == best


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
