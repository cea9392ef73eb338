"""Logistic regressions of few signs: fitted, cross-validated and kept as plain numbers."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.nodes.weights import Weights

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]
FOLDS, SEEDS = 10, 5


def logistic(signs: Floats, truth: Truth, strength: float, counts: Floats | None = None) -> Weights:
    """Fit a ridge-penalised logistic regression.

    Args:
        signs: Shape (rows, signs).
        truth: What is to be told from the signs, shape (rows,); both values must occur.
        strength: The inverse of the penalty.
        counts: What each row counts, shape (rows,); 1 by default.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=5000).fit(signs, truth, sample_weight=counts)
    intercept = float(np.ravel(model.intercept_)[0])
    return Weights(intercept, tuple(float(value) for value in model.coef_[0]))


def out_of_fold(
    signs: Floats,
    truth: Truth,
    strength: float,
    groups: Sequence[str],
    counts: Floats | None = None,
) -> Floats:
    """Each row's probability by weights that saw no row of its group.

    Returns:
        One row per seed of the shuffle, shape (seeds, rows).
    """
    from sklearn.model_selection import StratifiedGroupKFold

    numbers = np.unique(np.array(groups), return_inverse=True)[1]
    found: Floats = np.zeros((SEEDS, len(truth)))
    for seed in range(SEEDS):
        folds = StratifiedGroupKFold(_folds(truth), shuffle=True, random_state=seed)
        for train, test in folds.split(signs, truth, numbers):
            counted = None if counts is None else counts[train]
            weights = logistic(signs[train], truth[train], strength, counted)
            found[seed, test] = [weights.probability(row) for row in signs[test]]
    return found


def evened(truth: Truth) -> Floats:
    """What rows must count for both sides to weigh the same, shape (rows,); 1 on average.

    How often things belong together is another matter in every use, so that 0.5 should say that
    the signs speak for neither side.
    """
    counts: Floats = np.where(truth, 0.5 / truth.mean(), 0.5 / (~truth).mean())
    return counts


def _folds(truth: Truth) -> int:
    return max(2, min(FOLDS, int(truth.sum()), int((~truth).sum())))


def balanced(scores: Floats, truth: Truth) -> tuple[float, float]:
    """The mark of best balanced accuracy, and that accuracy.

    Args:
        scores: Shape (rows,).
        truth: Which of them should reach the mark, shape (rows,).
    """
    marks = np.unique(scores)
    accuracy = [balanced_at(float(mark), scores, truth) for mark in marks]
    best = int(np.argmax(accuracy))
    return float(marks[best]), accuracy[best]


def balanced_at(mark: float, scores: Floats, truth: Truth) -> float:
    """The balanced accuracy of a mark: the mean of what it gets right on either side."""
    reached = scores >= mark
    return float((reached[truth].mean() + 1.0 - reached[~truth].mean()) / 2.0)


def stored(weights: Weights, signs: type[Any]) -> dict[str, Any]:
    """The weights as JSON, by the name of the sign, to four decimals."""
    names = [field.name for field in fields(signs)]
    rounded = [round(value, 4) for value in weights.weights]
    return {
        "intercept": round(weights.intercept, 4),
        "weights": dict(zip(names, rounded, strict=True)),
    }
