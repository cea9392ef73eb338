"""Metrics on what judges said: HyPA-RAG's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score as sklearn_average_precision

from lexloop.evaluation.metrics import hypa
from lexloop.evaluation.score import Unresolved


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
