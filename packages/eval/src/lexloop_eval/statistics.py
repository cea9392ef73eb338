"""Means with intervals, differences with their tests, and correlations of scores.

Every interval is the 2.5th to 97.5th percentile over resamples drawn with replacement (Efron and
Tibshirani 1993, chapter 13), seeded, so that the same scores have the same interval.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from lexloop_eval.score import Score, Unresolved, is_resolved, resolved

T = TypeVar("T")
Pair = tuple[Score, Score]
NO_PAIR = Unresolved("no question has both scores")
CORRELATIONS = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}
"""Those of Eval-RAG, section 3, table 3, and scipy's names of them; Kendall's is tau-b."""
_SEED = 7
_PERCENTILES = (2.5, 97.5)
_RESAMPLES = 2000
_MOST_CELLS = 2_000_000
"""Numbers drawn at a time, to bound the memory."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval.

    Args:
        mean: The statistic on the scores themselves.
        low: Where the interval starts.
        high: Where it ends; with one score it is as wide as nothing, which proves nothing.
        n: Resolved scores.
        unresolved: Those without one.
    """

    mean: float
    low: float
    high: float
    n: int
    unresolved: int


def estimate(scores: Sequence[Score]) -> Estimate | Unresolved:
    """Return the mean of the resolved scores with its interval over 2,000 resamples.

    Returns:
        The estimate; unresolved, with the first reason, when no score is resolved.
    """
    return estimates([scores])[0]


def estimates(series: Sequence[Sequence[Score]]) -> list[Estimate | Unresolved]:
    """Return the ``estimate`` of each series, in less time than one after the other."""
    numbers = [resolved(scores) for scores in series]
    results: list[Estimate | Unresolved] = [_nothing(scores) for scores in series]
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, column in enumerate(numbers):
        by_length[len(column)].append(place)
    by_length.pop(0, None)
    for n, places in by_length.items():
        rows = np.array([numbers[place] for place in places], np.float64)
        random, step = np.random.default_rng(_SEED), max(1, _MOST_CELLS // n)
        # how often each score is drawn: a product in place of scipy's copies of all of them
        drawn = (
            random.multinomial(n, np.full(n, 1 / n), size=min(step, _RESAMPLES - start)) @ rows.T
            for start in range(0, _RESAMPLES, step)
        )
        low, high = np.percentile(np.concatenate([*drawn]) / n, _PERCENTILES, axis=0)
        for place, *values in zip(places, rows.mean(axis=-1), low, high, strict=True):
            value, least, most = map(float, values)
            results[place] = _around(value, least, most, n, len(series[place]) - n)
    return results


def clustered_estimate(
    scores: Sequence[Score], clusters: Sequence[Hashable]
) -> Estimate | Unresolved:
    """Return the mean of the resolved scores, whole clusters resampled as in ``interval_of``."""
    rows = zip(scores, clusters, strict=True)
    clusters_resolved = [cluster for score, cluster in rows if is_resolved(score)]
    estimate = (
        interval_of(mean, resolved(scores), clusters_resolved)
        if clusters_resolved
        else _nothing(scores)
    )
    if isinstance(estimate, Unresolved):
        return estimate
    return replace(estimate, unresolved=len(scores) - len(clusters_resolved))


def interval_of(
    statistic: Callable[[Sequence[T]], Score],
    rows: Sequence[T],
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 1000,
) -> Estimate | Unresolved:
    """Return any statistic of rows with its interval.

    Args:
        statistic: A function of rows: a correlation, an AUROC, a difference.
        rows: The rows to resample.
        clusters: The cluster of each row (its question, its claim). Whole clusters are then drawn,
            because rows of a cluster are not independent. None draws rows.
        resamples: The number of resamples.

    Returns:
        The estimate, with ``unresolved`` 0. It is unresolved if the statistic is, on all rows or on
        half of the resamples.
    """
    value = statistic(rows)
    if isinstance(value, Unresolved):
        return value
    by_cluster: dict[Hashable, list[T]] = defaultdict(list)
    for cluster, row in zip(range(len(rows)) if clusters is None else clusters, rows, strict=True):
        by_cluster[cluster].append(row)
    groups, random = list(by_cluster.values()), np.random.default_rng(_SEED)
    choices = (random.integers(len(groups), size=len(groups)) for _ in range(resamples))
    values = resolved(statistic([row for i in choice for row in groups[i]]) for choice in choices)
    if len(values) * 2 <= resamples:
        return Unresolved("on most resamples the statistic has no value: too few cases")
    low, high = np.percentile(values, _PERCENTILES)
    return _around(value, float(low), float(high), len(rows), 0)


def paired(
    before: Sequence[Score], after: Sequence[Score], clusters: Sequence[T]
) -> tuple[list[float], list[T]]:
    """Return the differences ``after - before`` of resolved pairs, and their clusters."""
    rows = zip(before, after, clusters, strict=True)
    resolved_rows = [
        (y - x, cluster) for x, y, cluster in rows if is_resolved(x) and is_resolved(y)
    ]
    return [difference for difference, _ in resolved_rows], [
        cluster for _, cluster in resolved_rows
    ]


def beyond_noise(differences: Sequence[float], clusters: Sequence[Hashable]) -> bool:
    """Return whether the mean is above zero with its interval, over two clusters at least."""
    estimate = clustered_estimate(differences, clusters)
    return isinstance(estimate, Estimate) and estimate.low > 1e-12 and len(set(clusters)) > 1


def paired_randomisation(
    first: Sequence[Score],
    second: Sequence[Score],
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
) -> Score:
    """Return the two-sided p value of the difference of two systems.

    Under the null hypothesis the sign of each question's difference is arbitrary. Signs are drawn
    at random, and p = (1 + draws with |mean| >= |observed mean|) / (1 + draws). Source: Smucker,
    Allan and Carterette 2007, section 3.1 (Fisher's randomisation test). The 1 counts the observed
    signs themselves.

    Args:
        first: Scores of one system.
        second: Scores of the other on the same questions, in the same order.
        clusters: The cluster of each question. Whole clusters then change their sign.
        resamples: The number of draws.

    Returns:
        In (0, 1], or unresolved if no question has both scores or the lengths differ.
    """
    if len(first) != len(second):
        return Unresolved(f"{len(first)} scores against {len(second)}")
    gains, owners = paired(second, first, range(len(first)) if clusters is None else clusters)
    if not gains:
        return NO_PAIR
    sums: dict[Hashable, float] = defaultdict(float)
    for difference, owner in zip(gains, owners, strict=True):
        sums[owner] += difference
    differences = np.array([*sums.values()])
    # sums that differ only by rounding must count as equal
    least = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    random, step = np.random.default_rng(_SEED), max(1, _MOST_CELLS // len(differences))
    beyond = 0
    for start in range(0, resamples, step):
        shape = min(step, resamples - start), len(differences)
        signs = random.integers(0, 2, size=shape, dtype=np.int8) * 2.0 - 1.0
        beyond += int((np.abs(signs @ differences) >= least).sum())
    return (beyond + 1) / (resamples + 1)


def correlation(name: str, pairs: Sequence[Pair]) -> Score:
    """Return one of ``CORRELATIONS`` of the pairs that have both scores, in [-1, 1].

    It is unresolved with fewer than two pairs, and if a series is constant.
    """
    return _correlated(name, pairs, "statistic")


def correlation_p(name: str, pairs: Sequence[Pair]) -> Score:
    """Return scipy's two-sided p value of a correlation, or unresolved if there is none."""
    return _correlated(name, pairs, "pvalue")


def _correlated(name: str, pairs: Sequence[Pair], attribute: str) -> Score:
    from scipy import stats

    complete = [pair for pair in pairs if is_resolved(pair[0]) and is_resolved(pair[1])]
    both = np.array(complete, np.float64).reshape(-1, 2)
    x, y = both[np.isfinite(both).all(axis=1)].T
    if len(x) < 2:
        return Unresolved(f"{len(x)} pairs of scores are too few")
    if x.min() == x.max() or y.min() == y.max():
        return Unresolved("all scores of a series are the same")
    value = float(getattr(getattr(stats, CORRELATIONS[name])(x, y), attribute))
    return value if math.isfinite(value) else Unresolved("the scores of a series hardly differ")


def correlations(
    pairs: Sequence[Pair], clusters: Sequence[Hashable]
) -> dict[str, Estimate | Unresolved]:
    """Return each correlation, with its interval over 200 resamples of whole clusters."""
    return {
        name: interval_of(partial(correlation, name), pairs, clusters, resamples=200)
        for name in CORRELATIONS
    }


def mean(numbers: Sequence[float]) -> float:
    """Return the mean of at least one number."""
    return sum(numbers) / len(numbers)


def _nothing(scores: Sequence[Score]) -> Unresolved:
    reasons = (score for score in scores if isinstance(score, Unresolved))
    return next(reasons, Unresolved("there are no scores"))


def _around(value: float, low: float, high: float, n: int, unresolved: int) -> Estimate:
    # rounding must not put the mean of equal scores outside its own interval
    return Estimate(value, min(low, value), max(high, value), n, unresolved)
