"""When an attempt passes, and which attempt is the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import attempt, evaluation

from lexloop.core.settings import Settings
from lexloop.core.types import Attempt, Evaluation
from lexloop.nodes.evaluate.judge import Judgement
from lexloop.nodes.evaluate.verdict import (
    best_attempt,
    lowest_score,
    may_retry,
    passes,
    warning_for,
)

BARS = Settings(min_answer_relevance=0.4, min_context_relevance=0.5, min_groundedness=0.6)


def tried(number: int, verdict: Evaluation, **changed: object) -> Attempt:
    return {**attempt(number, "What fee?", [], verdict), **changed}


def unverified(*scores: float | None) -> Evaluation:
    return {**evaluation(*scores), "citations_verified": False}


@pytest.mark.parametrize(
    ("scores", "passed"),
    [
        ((0.4, 0.5, 0.6), True),
        ((1.0, 1.0, 1.0), True),
        ((0.39, 0.5, 0.6), False),
        ((0.4, 0.49, 0.6), False),
        ((0.4, 0.5, 0.59), False),
        ((None, 1.0, 1.0), False),
        ((1.0, None, 1.0), False),
        ((1.0, 1.0, None), False),
        ((float("nan"), 1.0, 1.0), False),
    ],
)
def test_each_score_must_reach_its_setting(scores: tuple[float | None, ...], passed: bool) -> None:
    assert passes(Judgement(*scores), BARS) is passed


def test_an_unresolved_score_does_not_pass_a_bar_of_zero() -> None:
    none = Settings(min_answer_relevance=0, min_context_relevance=0, min_groundedness=0)
    assert passes(Judgement(0.0, 0.0, 0.0), none)
    assert not passes(Judgement(None, 0.0, 0.0), none)


def test_retries_are_counted() -> None:
    low = evaluation(0.1, 0.1, 0.1)
    attempts = [tried(number, low) for number in (1, 2, 3)]
    allowed = [may_retry(attempts[:n], Settings(max_retries=2)) for n in (1, 2, 3)]
    assert allowed == [True, True, False]
    assert not may_retry(attempts[:1], Settings(max_retries=0))


def test_what_passed_or_has_no_documents_is_not_tried_again() -> None:
    passed: Evaluation = {**evaluation(1.0, 1.0, 1.0), "passed": True}
    assert not may_retry([tried(1, passed)], Settings())
    low = evaluation(0.1, 0.1, 0.1)
    assert not may_retry([tried(1, low)], Settings(variant="llm_only"))


def test_an_abstention_is_tried_again() -> None:
    silent = tried(1, evaluation(None, None, None), abstained=True)
    assert may_retry([silent], Settings())


@pytest.mark.parametrize(
    ("verdicts", "best"),
    [
        ([unverified(1, 1, 1), evaluation(0.1, 0.1, 0.1)], 2),
        ([evaluation(0.3, 0.9, 0.9), evaluation(0.4, 0.4, 0.4)], 2),
        ([evaluation(0.4, 0.9, 0.9), evaluation(0.9, 0.4, 0.9)], 1),
        ([evaluation(0.9, 0.9, None), evaluation(0.1, 0.1, 0.1)], 2),
        ([unverified(0.1, 1, 1), unverified(0.2, 0.2, 0.2), unverified(0.2, 1, 1)], 2),
        ([evaluation(0.3, 0.3, 0.3)], 1),
    ],
)
def test_verified_first_then_the_highest_minimum_then_the_earliest(
    verdicts: list[Evaluation], best: int
) -> None:
    attempts = [tried(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    assert best_attempt(attempts)["number"] == best


def test_an_abstention_is_better_than_an_unverified_answer_and_worse_than_a_verified() -> None:
    silent = tried(2, evaluation(None, None, None), abstained=True)
    assert best_attempt([tried(1, unverified(1, 1, 1)), silent])["abstained"]
    assert not best_attempt([tried(1, evaluation(0.1, 0.1, 0.1)), silent])["abstained"]


SCORES = st.one_of(st.none(), st.floats(0, 1))
VERDICTS = st.builds(
    lambda a, b, c, verified: {**evaluation(a, b, c), "citations_verified": verified},
    SCORES,
    SCORES,
    SCORES,
    st.booleans(),
)


@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_no_attempt_beats_the_best(verdicts: list[Evaluation]) -> None:
    attempts = [tried(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    best = best_attempt(attempts)
    for other in attempts:
        mine, theirs = best["evaluation"], other["evaluation"]
        assert mine["citations_verified"] >= theirs["citations_verified"]
        if mine["citations_verified"] == theirs["citations_verified"]:
            assert lowest_score(mine) >= lowest_score(theirs)


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
