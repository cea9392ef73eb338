"""How well two series of scores agree: pairs of which both are resolved, in the same order.

Each is unresolved with fewer than two pairs, when a series is constant, or when the lengths
differ. Eval-RAG, section 3 (table 3), gives all three correlations against human scores.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.score import Score, Unresolved, is_resolved

Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]


def pearson(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """cov(X, Y) / (sd(X) * sd(Y)): how nearly the two lie on a line.

    Source: Eval-RAG, section 3, table 3.

    Returns:
        In [-1, 1].
    """
    pairs = _pairs(first, second)
    return pairs if isinstance(pairs, Unresolved) else _linear(*pairs)


def spearman(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """Pearson's correlation of the ranks; ties share the mean of their ranks.

    Source: Eval-RAG, section 3, table 3; HyPA-RAG, section 5.3, figure 2.

    Returns:
        In [-1, 1].
    """
    from scipy.stats import rankdata

    pairs = _pairs(first, second)
    if isinstance(pairs, Unresolved):
        return pairs
    return _linear(rankdata(pairs[0]), rankdata(pairs[1]))


def kendall(first: Sequence[Score], second: Sequence[Score]) -> Score:
    """Tau-b: (concordant - discordant pairs) / sqrt(pairs untied in X * pairs untied in Y).

    Source: Eval-RAG, section 3, table 3.

    Returns:
        In [-1, 1].
    """
    from scipy import stats

    pairs = _pairs(first, second)
    if isinstance(pairs, Unresolved):
        return pairs
    found: Any = stats.kendalltau(*pairs)
    return _bounded(float(found.statistic))


def auroc(labels: Sequence[bool], scores: Sequence[Score]) -> Score:
    """The chance that a true case scores above a false one, ties counting half.

    (R - n1 (n1 + 1) / 2) / (n1 * n0), R the sum of the true cases' ranks (Mann-Whitney's U);
    equal to the area under the ROC curve (Hanley and McNeil 1982).

    Args:
        labels: Which cases are true.
        scores: The score of each; cases without one are left out.

    Returns:
        In [0, 1]; unresolved unless both kinds occur.
    """
    from scipy.stats import rankdata

    if len(labels) != len(scores):
        return Unresolved(f"{len(labels)} labels for {len(scores)} scores")
    kept = [(bool(x), y) for x, y in zip(labels, scores, strict=True) if is_resolved(y)]
    truth = np.array([label for label, _ in kept], bool)
    values = np.array([score for _, score in kept], np.float64)
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not (positive and negative):
        return Unresolved("only one kind of case was scored")
    if not np.isfinite(values).all():
        return Unresolved("a score is not finite")
    ranks = float(rankdata(values)[truth].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)


def _pairs(first: Sequence[Score], second: Sequence[Score]) -> Pairs | Unresolved:
    if len(first) != len(second):
        return Unresolved(f"{len(first)} scores against {len(second)}")
    x, y = _numbers(first), _numbers(second)
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if len(x) < 2:
        return Unresolved(f"{len(x)} pairs of scores are too few")
    if x.min() == x.max() or y.min() == y.max():
        return Unresolved("all scores of a series are the same")
    return x, y


def _numbers(scores: Sequence[Score]) -> NDArray[np.float64]:
    """The scores, NaN for those without one; it never leaves this file."""
    return np.array([math.nan if isinstance(s, Unresolved) else s for s in scores], np.float64)


def _linear(x: NDArray[np.float64], y: NDArray[np.float64]) -> Score:
    # by the largest deviation first: squares of tiny or huge ones leave the range of a float
    x, y = x / np.abs(x).max() if x.any() else x, y / np.abs(y).max() if y.any() else y
    x, y = x - x.mean(), y - y.mean()
    spread = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return _bounded(float(x @ y) / spread if spread else math.nan)


def _bounded(value: float) -> Score:
    if not math.isfinite(value):
        return Unresolved("the scores of a series hardly differ")
    return min(1.0, max(-1.0, value))
