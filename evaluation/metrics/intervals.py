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
_BOUNDS = np.array([0.025, 0.975])
_MOST_CELLS = 4_000_000


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
    numbers = np.array(resolved(scores), np.float64)
    if not len(numbers):
        reasons = (score.reason for score in scores if isinstance(score, Unresolved))
        return Unresolved(next(reasons, "there are no scores"))
    blocks = _resampled(len(numbers), seed, resamples)
    means = np.concatenate([numbers[rows].mean(axis=1) for rows in blocks])
    low, high = _bounds(means)
    missing = len(scores) - len(numbers)
    # rounding must not put the mean of equal scores outside its own interval
    mean = float(numbers.mean())
    return Estimate(mean, min(low, mean), max(high, mean), len(numbers), missing)


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
    low, high = _bounds(np.array(values, np.float64))
    return Estimate(value, min(low, value), max(high, value), len(rows), 0)


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


def _bounds(values: NDArray[np.float64]) -> tuple[float, float]:
    """The percentiles, interpolated; ``np.percentile`` spends longer than this on its checks."""
    values.sort()
    low, high = np.interp(_BOUNDS * (len(values) - 1), np.arange(len(values)), values)
    return float(low), float(high)


def _grouped(rows: Sequence[T], clusters: Sequence[Hashable] | None) -> list[list[T]]:
    if clusters is None:
        return [[row] for row in rows]
    groups: dict[Hashable, list[T]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        groups.setdefault(cluster, []).append(row)
    return list(groups.values())


def _resampled(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.int32]]:
    """Indices of the resamples, in blocks that fit into memory, each row one resample of n."""
    step = max(1, _MOST_CELLS // n)
    if step >= resamples:
        yield _indices(n, seed, resamples)
        return
    random = np.random.default_rng(seed)
    for start in range(0, resamples, step):
        shape = (min(step, resamples - start), n)
        yield random.integers(n, size=shape, dtype=np.int32)


@lru_cache(maxsize=32)
def _indices(n: int, seed: int, resamples: int) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(n, size=(resamples, n), dtype=np.int32)


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
