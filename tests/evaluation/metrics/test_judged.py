"""Metrics on what judges said: HyPA-RAG's four, the triad, tenths, correctness, cosine."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from sklearn.metrics import average_precision_score as sklearn_average_precision
from sklearn.metrics.pairwise import cosine_similarity

from lexloop.core.score import Unresolved
from lexloop.evaluation.metrics import hypa, triad
from lexloop.evaluation.metrics.correctness import accuracy, is_correct, share_correct
from lexloop.evaluation.metrics.similarity import cosine
from lexloop.evaluation.metrics.tenths import tenths

NONE = Unresolved("the judge was silent")
FINITE = st.floats(-1e6, 1e6)
VECTORS = st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=5)


def test_claims_by_hand() -> None:
    assert hypa.faithfulness([True, True, False, True]) == 0.75
    assert hypa.context_recall([False, True]) == 0.5
    assert isinstance(hypa.faithfulness([]), Unresolved)
    assert isinstance(hypa.context_recall([]), Unresolved)


def test_context_precision_by_hand() -> None:
    assert hypa.context_precision([True, False, True]) == pytest.approx((1 + 2 / 3) / 2)
    assert hypa.context_precision([False, False]) == 0.0
    assert isinstance(hypa.context_precision([]), Unresolved)


@given(st.lists(st.booleans(), min_size=1, max_size=10))
def test_context_precision_is_the_average_precision_of_the_passages(relevant: list[bool]) -> None:
    ours = hypa.context_precision(relevant)
    if any(relevant):
        theirs = sklearn_average_precision(relevant, [-place for place in range(len(relevant))])
        assert ours == pytest.approx(theirs)
    else:
        assert ours == 0.0


def test_answer_relevancy_by_hand() -> None:
    generated = [[1.0, 0.0], [1.0, 1.0]]
    assert hypa.answer_relevancy([2.0, 0.0], generated) == pytest.approx((1 + math.sqrt(0.5)) / 2)
    assert isinstance(hypa.answer_relevancy([2.0, 0.0], []), Unresolved)
    assert isinstance(hypa.answer_relevancy([0.0, 0.0], generated), Unresolved)


def test_the_triad_is_a_mean_of_its_parts() -> None:
    for metric in (triad.answer_relevance, triad.context_relevance, triad.groundedness):
        assert metric([1.0, 0.5, NONE]) == 0.75
        assert metric([NONE]) == NONE
        assert isinstance(metric([]), Unresolved)
    # LQ-RAG's own figures: 88, 70 and 82 per cent make the 80 of figure 7
    assert triad.relevance_score(0.88, 0.70, 0.82) == pytest.approx(0.80)
    assert triad.relevance_score(0.88, NONE, 0.82) == NONE


@pytest.mark.parametrize(
    ("score", "tenth"), [(0.0, 0.0), (0.04, 0.0), (0.05, 0.1), (0.35, 0.4), (0.96, 1.0), (1.0, 1.0)]
)
def test_tenths(score: float, tenth: float) -> None:
    assert tenths(score) == tenth


@pytest.mark.parametrize("score", [-0.01, 1.01, math.nan, math.inf])
def test_what_is_no_share_has_no_tenth(score: float) -> None:
    assert isinstance(tenths(score), Unresolved)
    assert tenths(NONE) == NONE


@given(st.floats(0, 1))
def test_a_tenth_is_near(score: float) -> None:
    found = tenths(score)
    assert not isinstance(found, Unresolved)
    assert abs(found - score) <= 0.0500005
    assert tenths(found) == found


def test_correctness_by_hand() -> None:
    assert share_correct([5.0, 4.0, 3.9, NONE]) == pytest.approx(2 / 3)
    assert share_correct([5.0, 4.0], threshold=4.5) == 0.5
    assert isinstance(share_correct([NONE]), Unresolved)
    assert isinstance(share_correct([]), Unresolved)
    assert (is_correct(4.0), is_correct(3.99), is_correct(NONE)) == (1.0, 0.0, NONE)


def test_accuracy() -> None:
    assert accuracy(["a", "b", "c"], ["a", "b", "d"]) == pytest.approx(2 / 3)
    assert accuracy([1, 0, 0], [1, 1, 0]) == accuracy_score([1, 0, 0], [1, 1, 0])
    assert isinstance(accuracy([], []), Unresolved)
    assert isinstance(accuracy([1], [1, 2]), Unresolved)


def test_cosine_by_hand() -> None:
    assert cosine([3.0, 4.0], [4.0, 3.0]) == pytest.approx(24 / 25)
    assert cosine([1e-200, 0.0], [1e-200, 0.0]) == 1.0
    assert cosine([1e200, 0.0], [-1e200, 0.0]) == -1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.0, 0.0], [1.0, 0.0]), ([1.0], [1.0, 0.0]), ([], []), ([math.nan, 1.0], [1.0, 1.0])],
)
def test_vectors_without_a_direction(first: list[float], second: list[float]) -> None:
    assert isinstance(cosine(first, second), Unresolved)


@given(VECTORS)
def test_cosine_as_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    ours = cosine(first, second)
    if max(map(abs, first)) > 1e-6 and max(map(abs, second)) > 1e-6:
        theirs = cosine_similarity([first], [second])[0, 0]
        assert ours == pytest.approx(theirs, abs=1e-9)
