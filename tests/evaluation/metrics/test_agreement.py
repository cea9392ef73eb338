"""Correlations and AUROC, by hand and against scikit-learn and scipy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from lexloop.core.score import Score, Unresolved
from lexloop.evaluation.metrics.agreement import auroc, kendall, pearson, spearman

NONE = Unresolved("the judge was silent")
SERIES = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 10)), min_size=2, max_size=20)


def test_by_hand() -> None:
    human, judge = [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]
    assert pearson(human, judge) == pytest.approx(3 / 5)
    assert spearman(human, judge) == pytest.approx(1 - 6 * 4 / (4 * 15))
    assert kendall(human, judge) == pytest.approx((4 - 2) / 6)


def test_only_whole_pairs_count() -> None:
    human: list[Score] = [1.0, NONE, 2.0, 3.0, 9.0]
    judge: list[Score] = [1.0, 7.0, 2.0, 3.0, NONE]
    for metric in (pearson, spearman, kendall):
        assert metric(human, judge) == pytest.approx(1.0)


@pytest.mark.parametrize("metric", [pearson, spearman, kendall])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], []),
        ([1.0], [1.0]),
        ([1.0, 2.0], [1.0]),
        ([3.0, 3.0, 3.0], [1.0, 2.0, 3.0]),
        ([NONE, 1.0], [2.0, 3.0]),
        ([math.nan, 1.0], [2.0, 3.0]),
    ],
)
def test_too_little_to_correlate(metric: object, first: list[Score], second: list[Score]) -> None:
    assert callable(metric)
    assert isinstance(metric(first, second), Unresolved)


@given(SERIES)
def test_as_scipy_and_never_nan(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(x) for x in series] for series in zip(*pairs, strict=True))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert isinstance(pearson(first, second), Unresolved)
        return
    assert pearson(first, second) == pytest.approx(stats.pearsonr(first, second).statistic)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
    assert kendall(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
    assert kendall(first, second) == pytest.approx(kendall(second, first))


def test_auroc_by_hand() -> None:
    # of the four pairs, three in order and one tied
    assert auroc([True, True, False, False], [0.9, 0.5, 0.5, 0.1]) == pytest.approx(3.5 / 4)
    assert auroc([True, False, True], [0.9, 0.1, NONE]) == 1.0


@pytest.mark.parametrize(
    ("labels", "scores"),
    [([], []), ([True], [1.0]), ([True], []), ([True, False], [NONE, 1.0])],
)
def test_auroc_of_one_kind(labels: list[bool], scores: list[Score]) -> None:
    assert isinstance(auroc(labels, scores), Unresolved)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30))
def test_auroc_as_scikit_learn(cases: list[tuple[bool, int]]) -> None:
    labels, scores = [label for label, _ in cases], [float(score) for _, score in cases]
    if len(set(labels)) == 2:
        assert auroc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))
