"""Rankings, by hand and against trec_eval; characters of the evidence, counted one by one."""

import math
from collections.abc import Callable

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.evaluation.metrics.retrieval import (
    Span,
    average_precision,
    hit_rate,
    ndcg,
    overlap,
    precision,
    recall,
    reciprocal_rank,
    span_precision,
    span_recall,
)
from lexloop.evaluation.score import Score, Unresolved

RANKED = ["a", "b", "c", "d"]
GRADES = {"b": 2, "d": 1, "z": 1}
Metric = Callable[[list[str], dict[str, int], int], Score]
METRICS: list[Metric] = [ndcg, recall, precision, hit_rate, reciprocal_rank, average_precision]
IDS = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)
JUDGED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 4), max_size=8)
SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 30)), max_size=6
)


def test_by_hand() -> None:
    # gains 0, 3, 0, 1; ideal 3, 1, 1
    dcg = 3 / math.log2(3) + 1 / math.log2(5)
    ideal = 3 + 1 / math.log2(3) + 1 / 2
    assert ndcg(RANKED, GRADES, 4) == pytest.approx(dcg / ideal)
    assert ndcg(RANKED, GRADES, 1) == 0.0
    assert recall(RANKED, GRADES, 3) == pytest.approx(1 / 3)
    assert precision(RANKED, GRADES, 4) == 0.5
    assert precision(RANKED, GRADES, 10) == 0.2
    assert (hit_rate(RANKED, GRADES, 1), hit_rate(RANKED, GRADES, 2)) == (0.0, 1.0)
    assert reciprocal_rank(RANKED, GRADES, 4) == 0.5
    assert reciprocal_rank(RANKED, GRADES, 1) == 0.0
    assert average_precision(RANKED, GRADES, 4) == pytest.approx((1 / 2 + 2 / 4) / 3)
    # an id counts at its first place only
    assert precision(["b", "b", "b"], {"b": 1}, 2) == 0.5
    assert ndcg(["a", "a", "b"], {"b": 1}, 3) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("grades", "k"), [({}, 5), ({"a": 0}, 5), ({"a": -1}, 5), ({"a": 1}, 0)])
def test_what_cannot_be_said_is_unresolved(metric: Metric, grades: dict[str, int], k: int) -> None:
    assert isinstance(metric(RANKED, grades, k), Unresolved)


@given(ranked=IDS, grades=JUDGED, k=st.integers(1, 9))
def test_as_trec_eval(ranked: list[str], grades: dict[str, int], k: int) -> None:
    if not any(grades.values()) or not ranked:
        return
    run = {"q": {name: float(-place) for place, name in enumerate(ranked)}}
    # trec_eval takes grades as gains: it is given 2^rel - 1
    gains = {"q": {name: 2**grade - 1 for name, grade in grades.items()}}
    theirs = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ k, ir_measures.R @ k, ir_measures.P @ k, ir_measures.AP @ k], gains, run
    )
    assert ndcg(ranked, grades, k) == pytest.approx(theirs[ir_measures.nDCG @ k])
    assert recall(ranked, grades, k) == pytest.approx(theirs[ir_measures.R @ k])
    assert precision(ranked, grades, k) == pytest.approx(theirs[ir_measures.P @ k])
    assert average_precision(ranked, grades, k) == pytest.approx(theirs[ir_measures.AP @ k])
    both = ir_measures.calc_aggregate([ir_measures.RR @ k, ir_measures.Success @ k], gains, run)
    assert reciprocal_rank(ranked, grades, k) == pytest.approx(both[ir_measures.RR @ k])
    assert hit_rate(ranked, grades, k) == pytest.approx(both[ir_measures.Success @ k])


def test_spans_by_hand() -> None:
    evidence: list[Span] = [("law", 10, 20), ("law", 15, 30), ("rule", 0, 10)]
    retrieved: list[Span] = [("law", 25, 65), ("other", 0, 10)]
    assert span_recall(retrieved, evidence) == pytest.approx(5 / 30)
    assert span_precision(retrieved, evidence) == pytest.approx(5 / 50)
    assert overlap(("law", 0, 5), ("law", 5, 9)) == 0
    assert overlap(("law", 0, 5), ("rule", 0, 5)) == 0


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
