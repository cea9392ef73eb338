"""Correlations of many resamples at once against scipy, one resample at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from lexloop.evaluation.eval_rag.report import correlations, weighted
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.statistics import Estimate, interval_of, spearman

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}
GRADES = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=12
)


@pytest.mark.parametrize("name", SCIPY)
@given(cases=GRADES)
def test_a_weight_is_so_many_repetitions(name: str, cases: list[tuple[int, int, int]]) -> None:
    x, y, counts = np.array(cases, np.float64).T
    repeated = np.repeat(np.stack([x, y]), counts.astype(int), axis=1)
    (found,) = weighted(name, x, y, counts[None, :])
    if repeated.shape[1] < 2 or any(len(set(series)) < 2 for series in repeated):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(SCIPY[name](*repeated).statistic, abs=1e-9)


def test_by_hand() -> None:
    pairs = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)]
    found = correlations(pairs, range(4))
    # one of six pairs is discordant: (5 - 1) / 6; ranks differ by 1 twice: 1 - 6 * 2 / (4 * 15)
    assert isinstance(found["kendall"], Estimate)
    assert found["kendall"].mean == pytest.approx(4 / 6)
    assert isinstance(found["spearman"], Estimate)
    assert found["spearman"].mean == pytest.approx(0.8)
    assert found["spearman"].low <= 0.8 <= found["spearman"].high
    assert found == correlations(pairs, range(4))


def test_intervals_are_those_of_one_by_one() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=60)
    pairs = [
        (float(a), float(b)) for a, b in zip(x, np.round(x + random.normal(size=60)), strict=True)
    ]
    clusters = [i // 3 for i in range(60)]
    found = correlations(pairs, clusters)["spearman"]
    slow = interval_of(
        lambda rows: spearman([a for a, _ in rows], [b for _, b in rows]), pairs, clusters,
        resamples=400,
    )  # fmt: skip
    assert isinstance(found, Estimate)
    assert isinstance(slow, Estimate)
    assert found.mean == slow.mean
    assert found.low == pytest.approx(slow.low, abs=0.05)
    assert found.high == pytest.approx(slow.high, abs=0.05)


@pytest.mark.parametrize("pairs", [[], [(1.0, 2.0)], [(1.0, 2.0)] * 5, [(1.0, 2.0), (1.0, 3.0)]])
def test_nothing_to_correlate(pairs: list[tuple[float, float]]) -> None:
    found = correlations(pairs, range(len(pairs)))
    assert all(isinstance(value, Unresolved) for value in found.values())
