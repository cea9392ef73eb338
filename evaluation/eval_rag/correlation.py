"""Correlations of judges with people, with intervals, for all resamples at once.

``statistics`` has each correlation by scipy; asking it for every resample of every judge takes
minutes. A resample counts each case so many times, and with counts as weights each
correlation is a few products of matrices.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.statistics import Estimate, kendall, pearson, spearman

Array = NDArray[np.float64]
Pair = tuple[float, float]
_SEED, _RESAMPLES = 7, 1000
_PERCENTILES = (2.5, 97.5)
_MOST_CASES = 3000
"""Kendall's tau looks at every two cases; of more than this many it has no interval."""
_SPREAD = 1e-12
_COEFFICIENTS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlations(
    pairs: Sequence[Pair], clusters: Sequence[Hashable]
) -> dict[str, Estimate | Unresolved]:
    """Return Pearson, Spearman and Kendall of two scores (Eval-RAG, table 3) with 95 % intervals.

    Args:
        pairs: A judge's score and a person's, for each answer.
        clusters: The question of each answer. Whole clusters are resampled.

    Returns:
        Under ``pearson``, ``spearman`` and ``kendall``; unresolved where a series is constant, or
        is on half of the resamples.
    """
    values = np.array(pairs, np.float64).reshape(-1, 2)
    x, y = values[:, 0], values[:, 1]
    found: dict[str, Estimate | Unresolved] = {}
    weights = _counts(clusters)
    for name, coefficient in _COEFFICIENTS.items():
        value = coefficient(x.tolist(), y.tolist())
        if isinstance(value, Unresolved):
            found[name] = value
        elif name == "kendall" and len(pairs) > _MOST_CASES:
            found[name] = Unresolved(f"{value:.3f}, of too many answers for an interval")
        else:
            found[name] = _estimate(value, weighted(name, x, y, weights), len(pairs))
    return found


def weighted(name: str, x: Array, y: Array, weights: Array) -> Array:
    """Return one correlation under many sets of weights, NaN where a series has no spread.

    Args:
        name: ``pearson``, ``spearman`` or ``kendall``.
        x: Scores of one judge, shape (cases,).
        y: Those of the other.
        weights: The times that each case counts, shape (resamples, cases).

    Returns:
        Shape (resamples,).
    """
    if name == "pearson":
        shape = weights.shape
        return _pearson(np.broadcast_to(x, shape), np.broadcast_to(y, shape), weights)
    if name == "spearman":
        return _pearson(_ranks(x, weights), _ranks(y, weights), weights)
    return _kendall(x, y, weights)


def _counts(clusters: Sequence[Hashable]) -> Array:
    """The times that each case is drawn in each resample, shape (resamples, cases)."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    if not places:
        return np.zeros((_RESAMPLES, 0))
    random = np.random.default_rng(_SEED)
    even = np.full(len(places), 1 / len(places))
    drawn = random.multinomial(len(places), even, size=_RESAMPLES).astype(np.float64)
    counted: Array = drawn[:, [places[cluster] for cluster in clusters]]
    return counted


def _pearson(x: Array, y: Array, weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = (weights * dx * dx).sum(axis=1) * (weights * dy * dy).sum(axis=1)
    return _quotient((weights * dx * dy).sum(axis=1), np.sqrt(spread))


def _ranks(values: Array, weights: Array) -> Array:
    """The rank of each case in each resample; ties share the mean of their ranks."""
    distinct, places = np.unique(values, return_inverse=True)
    counted = np.zeros((len(weights), len(distinct)))
    np.add.at(counted.T, places, weights.T)
    below = np.cumsum(counted, axis=1) - counted
    ranks: Array = (below + (counted + 1) / 2)[:, places]
    return ranks


def _kendall(x: Array, y: Array, weights: Array) -> Array:
    sx, sy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)

    def over_pairs(matrix: Array) -> Array:
        summed: Array = ((weights @ matrix) * weights).sum(axis=1)
        return summed

    untied = over_pairs(np.abs(sx)) * over_pairs(np.abs(sy))
    return _quotient(over_pairs(sx * sy), np.sqrt(untied))


def _quotient(above: Array, below: Array) -> Array:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > _SPREAD)
    clipped: Array = np.clip(found, -1.0, 1.0)
    return clipped


def _estimate(value: float, resampled: Array, n: int) -> Estimate | Unresolved:
    known = resampled[~np.isnan(resampled)]
    if len(known) * 2 <= len(resampled):
        return Unresolved("on most resamples the correlation has no value: too few cases")
    low, high = np.percentile(known, _PERCENTILES)
    return Estimate(value, min(float(low), value), max(float(high), value), n, 0)
