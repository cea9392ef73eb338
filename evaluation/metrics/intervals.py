"""How sure a mean, a difference or any other statistic is.

Every interval is the 2.5th to 97.5th percentile over resamples drawn with replacement (Efron and
Tibshirani 1993, chapter 13), seeded, so that the same scores have the same interval.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexloop.core.score import Score, Unresolved, is_resolved, resolved

T = TypeVar("T")
_SEED = 7
_PERCENTILES = (2.5, 97.5)
_MOST_CELLS = 2_000_000
_MOST_KEPT = 500_000


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


def estimate(
    scores: Sequence[Score], seed: int = _SEED, resamples: int = 2000
) -> Estimate | Unresolved:
    """The mean of the resolved scores with its bootstrap interval.

    Args:
        scores: One per question.
        seed: Of the resamples, which all series of one length share.
        resamples: How many are drawn.

    Returns:
        The estimate; unresolved, with the first reason, when no score is resolved.
    """
    return estimates([scores], seed, resamples)[0]


def estimates(
    series: Sequence[Sequence[Score]], seed: int = _SEED, resamples: int = 2000
) -> list[Estimate | Unresolved]:
    """``estimate`` of many series, in less time than one after the other."""
    numbers = [resolved(scores) for scores in series]
    made: list[Estimate | Unresolved] = [_nothing(scores) for scores in series]
    by_length: dict[int, list[int]] = {}
    for place, column in enumerate(numbers):
        if column:
            by_length.setdefault(len(column), []).append(place)
    for n, places in by_length.items():
        columns = np.array([numbers[place] for place in places], np.float64).T
        blocks = _weights(n, seed, resamples)
        lows, highs = _bounds(np.concatenate([weights @ columns for weights in blocks]) / n)
        rows = zip(places, columns.mean(axis=0), lows, highs, strict=True)
        for place, mean, low, high in rows:
            missing = len(series[place]) - n
            made[place] = _around(float(mean), low, high, n, missing)
    return made


def interval_of(
    statistic: Callable[[Sequence[T]], Score],
    rows: Sequence[T],
    clusters: Sequence[Hashable] | None = None,
    seed: int = _SEED,
    resamples: int = 1000,
) -> Estimate | Unresolved:
    """Any statistic of rows with its bootstrap interval.

    Args:
        statistic: What is computed of the rows: a correlation, an AUROC, a difference.
        rows: What is resampled.
        clusters: What each row belongs to (its question, its claim); whole clusters are then
            drawn, as rows of one cluster are not independent. None draws rows.
        seed: Of the resamples.
        resamples: How many are drawn.

    Returns:
        The estimate, ``unresolved`` counting no row; unresolved when the statistic is, or is on
        half of the resamples.
    """
    value = statistic(rows)
    if isinstance(value, Unresolved):
        return value
    groups = _grouped(rows, clusters)
    drawn: list[Score] = []
    for block in _resampled(len(groups), seed, resamples):
        drawn += [statistic([row for i in choice for row in groups[i]]) for choice in block]
    values = resolved(drawn)
    if len(values) * 2 <= resamples:
        return Unresolved("on most resamples the statistic has no value: too few cases")
    [low], [high] = _bounds(np.array(values, np.float64)[:, None])
    return _around(value, low, high, len(rows), 0)


def paired_randomisation(
    first: Sequence[Score], second: Sequence[Score], seed: int = _SEED, resamples: int = 10_000
) -> Score:
    """How often chance alone makes two systems differ by as much: a two-sided p value.

    Under the null hypothesis the sign of each question's difference is arbitrary; signs are drawn
    at random, and p = (1 + draws with |mean| >= |observed mean|) / (1 + draws). Source: Smucker,
    Allan and Carterette 2007, section 3.1 (Fisher's randomisation test); the 1 counts the
    observed signs themselves.

    Args:
        first: Scores of one system.
        second: Scores of the other on the same questions, in the same order.
        seed: Of the draws.
        resamples: How many draws.

    Returns:
        In (0, 1]; unresolved when no question has both scores or the lengths differ.
    """
    if len(first) != len(second):
        return Unresolved(f"{len(first)} scores against {len(second)}")
    pairs = list(zip(first, second, strict=True))
    # a pair that lacks a score is a difference of 0: its sign changes no sum, and all series of
    # one length share the drawn signs
    differences = np.array(
        [x - y if is_resolved(x) and is_resolved(y) else 0.0 for x, y in pairs], np.float64
    )
    if not any(is_resolved(x) and is_resolved(y) for x, y in pairs):
        return Unresolved("no question has both scores")
    total = abs(float(differences.sum()))
    # sums equal but for rounding must count as equal
    least = total - 1e-9 * float(np.abs(differences).sum())
    sums = np.concatenate([signs @ differences for signs in _signs(len(pairs), seed, resamples)])
    return (int((np.abs(sums) >= least).sum()) + 1) / (resamples + 1)


def _nothing(scores: Sequence[Score]) -> Unresolved:
    reasons = (score.reason for score in scores if isinstance(score, Unresolved))
    return Unresolved(next(reasons, "there are no scores"))


def _around(mean: float, low: float, high: float, n: int, unresolved: int) -> Estimate:
    # rounding must not put the mean of equal scores outside its own interval
    return Estimate(mean, min(low, mean), max(high, mean), n, unresolved)


def _bounds(values: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """The percentiles of each column, interpolated between the two nearest values."""
    low, high = np.percentile(values, _PERCENTILES, axis=0)
    return low.tolist(), high.tolist()


def _grouped(rows: Sequence[T], clusters: Sequence[Hashable] | None) -> list[list[T]]:
    if clusters is None:
        return [[row] for row in rows]
    groups: dict[Hashable, list[T]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        groups.setdefault(cluster, []).append(row)
    return list(groups.values())


def _resampled(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.int32]]:
    """Indices of the resamples, one resample of n a row, in blocks that fit into memory."""
    random = np.random.default_rng(seed)
    step = max(1, _MOST_CELLS // n)
    for start in range(0, resamples, step):
        yield random.integers(n, size=(min(step, resamples - start), n), dtype=np.int32)


def _weights(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """How often each of n scores is in each resample, in blocks as above."""
    if n * resamples <= _MOST_KEPT:
        yield _all_weights(n, seed, resamples)
        return
    for block in _resampled(n, seed, resamples):
        yield _counted(block)


@lru_cache(maxsize=64)
def _all_weights(n: int, seed: int, resamples: int) -> NDArray[np.float64]:
    return np.concatenate([_counted(block) for block in _resampled(n, seed, resamples)])


def _counted(block: NDArray[np.int32]) -> NDArray[np.float64]:
    rows, n = block.shape
    places = block + n * np.arange(rows, dtype=np.int32)[:, None]
    counts = np.bincount(places.ravel(), minlength=rows * n)
    return counts.reshape(rows, n).astype(np.float64)


def _signs(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Plus or minus one for each of n differences, one draw a row, in blocks as above."""
    step = max(1, _MOST_CELLS // n)
    if step >= resamples:
        yield _all_signs(n, seed, resamples)
        return
    random = np.random.default_rng(seed)
    for start in range(0, resamples, step):
        yield _drawn_signs(random, min(step, resamples - start), n)


@lru_cache(maxsize=4)
def _all_signs(n: int, seed: int, resamples: int) -> NDArray[np.float64]:
    return _drawn_signs(np.random.default_rng(seed), resamples, n)


def _drawn_signs(random: np.random.Generator, draws: int, n: int) -> NDArray[np.float64]:
    signs = random.integers(0, 2, size=(draws, n), dtype=np.int8).astype(np.float64)
    signs *= 2.0
    signs -= 1.0
    return signs
