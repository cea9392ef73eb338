"""Means with intervals, differences with their tests, and correlations of scores.

Every interval is the 2.5th to 97.5th percentile over resamples drawn with replacement (Efron and
Tibshirani 1993, chapter 13), seeded, so that the same scores have the same interval.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexloop.evaluation.score import Score, Unresolved, is_resolved, resolved

T = TypeVar("T")
NO_PAIR = Unresolved("no question has both scores")
Draw = Callable[[np.random.Generator, int, int], NDArray[Any]]
_SEED = 7
_PERCENTILES = (2.5, 97.5)
_RESAMPLES = 2000
_MOST_CELLS = 2_000_000
"""Numbers drawn at a time, so that what is held in memory stays bounded."""


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
    made: list[Estimate | Unresolved] = [_nothing(scores) for scores in series]
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, column in enumerate(numbers):
        by_length[len(column)].append(place)
    by_length.pop(0, None)
    for n, places in by_length.items():
        columns = np.array([numbers[place] for place in places], np.float64).T
        drawn = _drawn(_counts, n, _RESAMPLES)
        means = np.concatenate([counts.astype(np.float64) @ columns for counts in drawn]) / n
        rows = zip(places, columns.mean(axis=0), *_bounds(means), strict=True)
        for place, mean, low, high in rows:
            made[place] = _around(float(mean), low, high, n, len(series[place]) - n)
    return made


def clustered_estimate(
    scores: Sequence[Score], clusters: Sequence[Hashable]
) -> Estimate | Unresolved:
    """Return the mean of the resolved scores, whole clusters resampled as in ``interval_of``."""
    rows = zip(scores, clusters, strict=True)
    kept = [cluster for score, cluster in rows if is_resolved(score)]
    found = interval_of(mean, resolved(scores), kept) if kept else _nothing(scores)
    if isinstance(found, Unresolved):
        return found
    return replace(found, unresolved=len(scores) - len(kept))


def interval_of(
    statistic: Callable[[Sequence[T]], Score],
    rows: Sequence[T],
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 1000,
) -> Estimate | Unresolved:
    """Return any statistic of rows with its interval.

    Args:
        statistic: Computed of the rows: a correlation, an AUROC, a difference.
        rows: These are resampled.
        clusters: What each row belongs to (its question, its claim); whole clusters are then
            drawn, as rows of one cluster are not independent. None draws rows.
        resamples: How many are drawn.

    Returns:
        The estimate, ``unresolved`` counting no row; unresolved when the statistic is, or is on
        half of the resamples.
    """
    value = statistic(rows)
    if isinstance(value, Unresolved):
        return value
    by_cluster: dict[Hashable, list[T]] = defaultdict(list)
    for cluster, row in zip(range(len(rows)) if clusters is None else clusters, rows, strict=True):
        by_cluster[cluster].append(row)
    groups = list(by_cluster.values())
    blocks = _blocks(_choices, len(groups), resamples)
    drawn = (statistic([row for i in choice for row in groups[i]]) for b in blocks for choice in b)
    values = resolved(drawn)
    if len(values) * 2 <= resamples:
        return Unresolved("on most resamples the statistic has no value: too few cases")
    [low], [high] = _bounds(np.array(values, np.float64)[:, None])
    return _around(value, low, high, len(rows), 0)


def paired(
    before: Sequence[Score], after: Sequence[Score], clusters: Sequence[T]
) -> tuple[list[float], list[T]]:
    """Return the differences ``after - before`` where both are resolved, and their clusters."""
    rows = zip(before, after, clusters, strict=True)
    found = [(y - x, cluster) for x, y, cluster in rows if is_resolved(x) and is_resolved(y)]
    return [difference for difference, _ in found], [cluster for _, cluster in found]


def standard_error(differences: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the standard error of a mean, robust to clusters; infinite for fewer than two.

    sqrt(G / (G - 1) x sum over clusters of (sum of residuals)^2) / n. Source: Liang and Zeger 1986.
    """
    middle = mean(differences) if differences else 0.0
    sums = _sums([difference - middle for difference in differences], clusters)
    count = len(sums)
    if count < 2:
        return math.inf
    return math.sqrt(count / (count - 1) * sum(s * s for s in sums)) / len(differences)


def beyond_noise(differences: Sequence[float], clusters: Sequence[Hashable]) -> bool:
    """Return whether the mean is above zero, and its 95 % interval (1.96 errors) with it."""
    error = standard_error(differences, clusters)
    return bool(differences) and mean(differences) > max(1.96 * error, 1e-12)


def paired_randomisation(
    first: Sequence[Score],
    second: Sequence[Score],
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
) -> Score:
    """Return how often chance alone makes two systems differ by as much: a two-sided p value.

    Under the null hypothesis the sign of each question's difference is arbitrary; signs are drawn
    at random, and p = (1 + draws with |mean| >= |observed mean|) / (1 + draws). Source: Smucker,
    Allan and Carterette 2007, section 3.1 (Fisher's randomisation test); the 1 counts the
    observed signs themselves.

    Args:
        first: Scores of one system.
        second: Scores of the other on the same questions, in the same order.
        clusters: What each question belongs to; whole clusters then change their sign.
        resamples: How many draws.

    Returns:
        In (0, 1]; unresolved when no question has both scores or the lengths differ.
    """
    if len(first) != len(second):
        return Unresolved(f"{len(first)} scores against {len(second)}")
    if clusters is None:
        # a pair that lacks a score is a difference of 0: its sign changes no sum, and all series
        # of one length share the drawn signs
        known, places = paired(second, first, range(len(first)))
        differences = np.zeros(len(first))
        differences[places] = known
    else:
        known, owners = paired(second, first, clusters)
        differences = np.array(_sums(known, owners))
    if not known:
        return NO_PAIR
    # sums equal but for rounding must count as equal
    least = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    drawn = _drawn(_signs, len(differences), resamples)
    sums = np.concatenate([signs.astype(np.float64) @ differences for signs in drawn])
    return (int((np.abs(sums) >= least).sum()) + 1) / (resamples + 1)


def pearson(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """Return cov(X, Y) / (sd(X) * sd(Y)), in [-1, 1]: how nearly the two lie on a line.

    As all three correlations it takes pairs in the same order and leaves out those without both
    scores; it is unresolved with fewer than two pairs, when a series is constant, or when the
    lengths differ. Source: Eval-RAG, section 3, table 3.
    """
    return _correlation("pearsonr", first, second)


def spearman(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """Return Pearson's correlation of the ranks; ties share the mean of their ranks.

    Source: Eval-RAG, section 3, table 3; HyPA-RAG, section 5.3, figure 2.
    """
    return _correlation("spearmanr", first, second)


def kendall(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """Return tau-b: (concordant - discordant) / sqrt(pairs untied in X * pairs untied in Y).

    Source: Eval-RAG, section 3, table 3.
    """
    return _correlation("kendalltau", first, second)


def mean(numbers: Sequence[float]) -> float:
    """Return the mean of at least one number."""
    return sum(numbers) / len(numbers)


def _correlation(name: str, first: Sequence[Score], second: Sequence[Score]) -> Score:
    from scipy import stats

    if len(first) != len(second):
        return Unresolved(f"{len(first)} scores against {len(second)}")
    pairs = [
        (x, y) for x, y in zip(first, second, strict=True) if is_resolved(x) and is_resolved(y)
    ]
    both = np.array(pairs, np.float64).reshape(-1, 2)
    x, y = both[np.isfinite(both).all(axis=1)].T
    if len(x) < 2:
        return Unresolved(f"{len(x)} pairs of scores are too few")
    if x.min() == x.max() or y.min() == y.max():
        return Unresolved("all scores of a series are the same")
    value = float(getattr(stats, name)(x, y).statistic)
    return value if math.isfinite(value) else Unresolved("the scores of a series hardly differ")


def _nothing(scores: Sequence[Score]) -> Unresolved:
    reasons = (score for score in scores if isinstance(score, Unresolved))
    return next(reasons, Unresolved("there are no scores"))


def _around(value: float, low: float, high: float, n: int, unresolved: int) -> Estimate:
    # rounding must not put the mean of equal scores outside its own interval
    return Estimate(value, min(low, value), max(high, value), n, unresolved)


def _bounds(values: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """The percentiles of each column, interpolated between the two nearest values."""
    low, high = np.percentile(values, _PERCENTILES, axis=0)
    return low.tolist(), high.tolist()


def _sums(numbers: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    sums: dict[Hashable, float] = defaultdict(float)
    for number, cluster in zip(numbers, clusters, strict=True):
        sums[cluster] += number
    return list(sums.values())


def _drawn(draw: Draw, n: int, resamples: int) -> Iterable[NDArray[Any]]:
    """The resamples of n scores; small ones are cached, as many series have one length."""
    if n * resamples <= _MOST_CELLS:
        return _cached(draw, n, resamples)
    return _blocks(draw, n, resamples)


@lru_cache(maxsize=64)
def _cached(draw: Draw, n: int, resamples: int) -> list[NDArray[Any]]:
    return list(_blocks(draw, n, resamples))


def _blocks(draw: Draw, n: int, resamples: int) -> Iterator[NDArray[Any]]:
    random = np.random.default_rng(_SEED)
    step = max(1, _MOST_CELLS // n)
    for start in range(0, resamples, step):
        yield draw(random, min(step, resamples - start), n)


def _choices(random: np.random.Generator, resamples: int, n: int) -> NDArray[np.int32]:
    """Indices, one resample of n a row."""
    return random.integers(n, size=(resamples, n), dtype=np.int32)


def _counts(random: np.random.Generator, resamples: int, n: int) -> NDArray[np.uint16]:
    """Return the times that each of n scores is in each resample."""
    places = _choices(random, resamples, n) + n * np.arange(resamples, dtype=np.int32)[:, None]
    counts = np.bincount(places.ravel(), minlength=resamples * n)
    return counts.reshape(resamples, n).astype(np.uint16)


def _signs(random: np.random.Generator, draws: int, n: int) -> NDArray[np.int8]:
    """Plus or minus one for each of n differences, one draw a row."""
    return random.integers(0, 2, size=(draws, n), dtype=np.int8) * 2 - 1
