"""Characters of the evidence, by hand and counted one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.score import Unresolved
from lexloop.evaluation.metrics.spans import Span, overlap, span_precision, span_recall

SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 30)), max_size=6
)


def test_by_hand() -> None:
    evidence: list[Span] = [("law", 10, 20), ("law", 15, 30), ("rule", 0, 10)]
    retrieved: list[Span] = [("law", 25, 65), ("other", 0, 10)]
    assert span_recall(retrieved, evidence) == pytest.approx(5 / 30)
    assert span_precision(retrieved, evidence) == pytest.approx(5 / 50)
    assert overlap(("law", 0, 5), ("law", 5, 9)) == 0
    assert overlap(("law", 0, 5), ("rule", 0, 5)) == 0


def test_nothing_retrieved_or_no_evidence() -> None:
    assert span_recall([], [("law", 0, 4)]) == 0.0
    assert isinstance(span_precision([], [("law", 0, 4)]), Unresolved)
    assert isinstance(span_recall([("law", 0, 4)], []), Unresolved)
    assert isinstance(span_precision([("law", 0, 4)], [("law", 4, 4)]), Unresolved)


def characters(spans: list[Span]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in spans for at in range(start, end)}


@given(retrieved=SPANS, evidence=SPANS)
def test_as_sets_of_characters(retrieved: list[Span], evidence: list[Span]) -> None:
    found, wanted = characters(retrieved), characters(evidence)
    if wanted:
        assert span_recall(retrieved, evidence) == pytest.approx(len(found & wanted) / len(wanted))
    if found and wanted:
        score = span_precision(retrieved, evidence)
        assert score == pytest.approx(len(found & wanted) / len(found))
