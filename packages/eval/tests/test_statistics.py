"""Intervals, p values and agreement, by hand and as others compute them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from lexloop_eval.agreement import FIGURES, Judged, Labels, agreement, by_type
from lexloop_eval.score import Score, Unresolved, as_json, from_json, is_resolved
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


kappa, weighted_kappa = FIGURES["kappa"], FIGURES["weighted_kappa"]
GRADES = st.integers(1, 5)
PAIRS = st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=30)
SCALE = [1, 2, 3, 4, 5]


def test_figures_by_hand() -> None:
    # of 25 the judge calls supported people do 20, of 25 others 10: 0.7 agree, 0.5 by chance
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert {name: figure(pairs) for name, figure in FIGURES.items()} == pytest.approx(
        {
            "precision": (20 / 25 + 15 / 25) / 2,
            "recall": (20 / 30 + 15 / 20) / 2,
            "f1": (40 / 55 + 30 / 45) / 2,
            "agreement": 0.7,
            "kappa": 0.4,
            "weighted_kappa": 0.4,
        }
    )


def test_a_grade_further_off_weighs_by_its_square() -> None:
    # squares of 0, 2, 0 and 2: 8 in all; of every grade with every other 54, by four 13.5
    assert weighted_kappa([(1, 1), (5, 3), (3, 3), (2, 4)]) == pytest.approx(1 - 8 / 13.5)


@given(PAIRS)
def test_figures_are_those_of_scikit_learn(pairs: list[Labels]) -> None:
    judge, people = zip(*pairs, strict=True)
    macro = precision_recall_fscore_support(people, judge, average="macro", zero_division=0)
    result = [FIGURES[name](pairs) for name in ("precision", "recall", "f1")]
    assert result == pytest.approx(list(macro[:3]))
    if is_resolved(kappa(pairs)):
        assert kappa(pairs) == pytest.approx(cohen_kappa_score(judge, people))
        theirs = cohen_kappa_score(judge, people, labels=SCALE, weights="quadratic")
        assert weighted_kappa(pairs) == pytest.approx(theirs)


@given(st.lists(GRADES, min_size=2, max_size=30).filter(lambda labels: len(set(labels)) > 1))
def test_kappa_of_equal_labels_is_one(labels: list[int]) -> None:
    pairs = [(label, label) for label in labels]
    assert kappa(pairs) == weighted_kappa(pairs) == 1.0


@given(PAIRS)
def test_kappa_does_not_ask_who_is_first(pairs: list[Labels]) -> None:
    turned = [(other, first) for first, other in pairs]
    for figure in (kappa, weighted_kappa):
        first, other = figure(pairs), figure(turned)
        assert first == other or first == pytest.approx(other, abs=1e-12)


def test_what_cannot_be_known_is_unresolved() -> None:
    assert kappa([(3, 3), (3, 3)]) == Unresolved("only one label occurs")
    assert {figure([]) for figure in FIGURES.values()} == {Unresolved("no answer has both labels")}
    nothing = agreement([])
    assert nothing.answers == 0
    assert all(isinstance(estimated, Unresolved) for estimated in nothing.figures.values())
    assert isinstance(nothing.p, Unresolved)
    assert isinstance(nothing.p_difference, Unresolved)


def test_every_persons_label_counts_and_their_mean_is_correlated() -> None:
    rows = [
        Judged("a", "simple", 4.6, 5, (5, 4)),
        Judged("b", "simple", 2.0, 2, (2, 2)),
        Judged("c", "vague", 3.2, 3, (1, 2)),
        Judged("d", "vague", 4.4, 4, (4, 5)),
    ]
    result = agreement(rows)
    means = {
        name: estimated.mean
        for name, estimated in result.figures.items()
        if isinstance(estimated, Estimate)
    }
    assert result.answers == 4
    assert means["agreement"] == 4 / 8
    # ranks 4, 1, 2, 3 and 3.5, 2, 1, 3.5: covariance 3.5, variances 5 and 4.5
    assert means["spearman"] == pytest.approx(3.5 / math.sqrt(5 * 4.5))
    assert means["difference"] == pytest.approx((0.5 + 0 + 1.5 - 0.5) / 4)
    assert result.p == pytest.approx(0.2621352)
    # of the eight signs of 0.5, 1.5 and 0.5 six bring a sum of 1.5 or more
    assert result.p_difference == pytest.approx(0.75, abs=0.02)
    assert {name: estimated.answers for name, estimated in by_type(rows).items()} == {
        "simple": 2,
        "vague": 2,
    }


def test_whole_questions_are_resampled() -> None:
    rows = [Judged(q, "", float(q), q, (q if right else 1 - q,))
            for q, right in ((0, True), (1, False)) for _ in range(10)]  # fmt: skip
    result = agreement(rows).figures["agreement"]
    assert isinstance(result, Estimate)
    assert (result.low, result.mean, result.high) == (0.0, 0.5, 1.0)
