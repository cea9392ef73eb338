"""Intervals and tests where the truth is known; correlations by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lexloop_eval.score import Score, Unresolved, as_json, from_json
from lexloop_eval.statistics import (
    CORRELATIONS,
    Estimate,
    beyond_noise,
    clustered_estimate,
    correlation,
    correlations,
    estimate,
    interval_of,
    mean,
    paired_randomisation,
)

NONE = Unresolved("the judge was silent")
SCORES = st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=30)


def estimate_of(estimated: Estimate | Unresolved) -> Estimate:
    assert isinstance(estimated, Estimate)
    return estimated


def test_unresolved_scores_are_counted_and_left_out() -> None:
    assert estimate_of(estimate([1.0, NONE, 1.0])) == Estimate(1.0, 1.0, 1.0, 2, 1)
    assert estimate([NONE]) == NONE
    assert isinstance(estimate([]), Unresolved)


@given(SCORES)
def test_the_mean_lies_in_its_interval_and_is_the_same_again(scores: list[float]) -> None:
    first = estimate_of(estimate(scores))
    assert min(scores) - 1e-9 <= first.low <= first.mean <= first.high <= max(scores) + 1e-9
    assert estimate(scores) == first


def test_clusters_are_drawn_whole() -> None:
    rows = [0.0] * 10 + [1.0] * 10
    clusters = ["a"] * 10 + ["b"] * 10
    whole = estimate_of(interval_of(mean, rows, clusters))
    single = estimate_of(interval_of(mean, rows))
    assert (whole.low, whole.high) == (0.0, 1.0)
    assert single.high - single.low < 0.5


def test_a_statistic_without_a_value() -> None:
    assert interval_of(lambda _: NONE, [1.0, 2.0]) == NONE
    rare = [1.0] + [0.0] * 30

    def when_rare(rows: object) -> Score:
        assert isinstance(rows, list)
        return float(sum(rows)) if rows.count(1.0) == 1 else NONE

    assert isinstance(interval_of(when_rare, rare), Unresolved)


@pytest.mark.parametrize(
    "differences", [[1.0] * 8, [0.3, -0.1, 0.4, 0.2, 0.1, -0.2, 0.6], [0.5, -0.5, 0.0, 0.1]]
)
def test_the_p_value_is_the_exact_one_nearly(differences: list[float]) -> None:
    p = paired_randomisation(differences, [0.0] * len(differences))
    theirs = stats.permutation_test(
        (differences, [0.0] * len(differences)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert p == pytest.approx(theirs.pvalue, abs=0.015)


def test_pairs_need_both_scores() -> None:
    assert paired_randomisation([1.0, NONE, 0.0], [1.0, 0.0, NONE]) == 1.0
    assert isinstance(paired_randomisation([1.0], [NONE]), Unresolved)
    assert isinstance(paired_randomisation([1.0], []), Unresolved)
    assert isinstance(paired_randomisation([], []), Unresolved)


def test_a_mean_over_clusters_counts_what_is_unresolved() -> None:
    of_two = estimate_of(clustered_estimate([1.0, NONE, 0.0], [0, 1, 2]))
    assert (of_two.mean, of_two.n, of_two.unresolved) == (0.5, 2, 1)
    assert clustered_estimate([NONE], [0]) == NONE
    assert isinstance(clustered_estimate([], []), Unresolved)


def test_only_more_than_noise_counts() -> None:
    groups = list(range(100))
    few = [1.0] * 3 + [0.0] * 97  # 0.03 with a standard error of 0.017
    more = [1.0] * 10 + [0.0] * 90  # 0.1 with 0.03
    assert not beyond_noise(few, groups)
    assert beyond_noise(more, groups)
    assert not beyond_noise(more, [0] * 10 + groups[10:])  # all of it one group's
    assert not beyond_noise([-x for x in more], groups)
    assert not beyond_noise([0.0] * 100, groups)
    assert not beyond_noise([], [])


def test_a_whole_group_changes_its_sign() -> None:
    ones, zeros = [1.0] * 10, [0.0] * 10
    p = paired_randomisation(ones, zeros, range(10))
    assert p == pytest.approx(2 / 1024, abs=2e-3)
    assert paired_randomisation(ones, zeros, [0] * 10) == 1.0
    assert isinstance(paired_randomisation([], [], []), Unresolved)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(1.0, 1.0)],
        [(3.0, 1.0), (3.0, 2.0), (3.0, 3.0)],
        [(NONE, 2.0), (1.0, 3.0)],
        [(math.nan, 2.0), (1.0, 3.0)],
    ],
)
def test_too_little_to_correlate(name: str, pairs: list[tuple[Score, Score]]) -> None:
    assert isinstance(correlation(name, pairs), Unresolved)
    assert isinstance(correlations(pairs, range(len(pairs)))[name], Unresolved)


def test_correlations_by_hand() -> None:
    pairs = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)]
    # one of six pairs is discordant: (5 - 1) / 6; ranks differ by 1 twice: 1 - 6 * 2 / (4 * 15)
    for name, value in (("kendall", 4 / 6), ("spearman", 0.8), ("pearson", 0.8)):
        made = estimate_of(correlations(pairs, range(4))[name])
        assert made.mean == pytest.approx(value)
        assert made.low <= made.mean <= made.high


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    samples = [estimate_of(estimate(list(random.normal(size=60)))) for _ in range(300)]
    covered = sum(sample.low <= 0.0 <= sample.high for sample in samples)
    assert 0.90 <= covered / 300 <= 0.98


@given(st.floats(0, 10))
def test_a_number_is_the_same_after_json(value: float) -> None:
    assert from_json(as_json(value)) == value


@pytest.mark.parametrize("value", [None, True, "0.5", {}, {"unresolved": 3}, [0.5]])
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a score"):
        from_json(value)
