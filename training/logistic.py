"""The common parts of the embedded judges: rows of features, a logistic fit, and its evaluation.

A judge's own module says how its rows are read and what is printed. All share the fit, the scores
of rows by weights that did not see their group, and the file that ships.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.nodes.weights import Weights

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]
Bounds = Sequence[tuple[float | None, float | None]]
Folds = Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]
FOLDS, SEEDS = 10, 5
_BINS = 10


@dataclass(frozen=True)
class FeatureRow:
    """A row to fit a regression on.

    Args:
        label: 1 for positives and 0 for the rest, or a share between.
        group: Rows of one group are never on both sides of a fold.
        kind: How the row was made, for the report.
        text: The question, claim or other text that it was read from.
    """

    features: tuple[float, ...]
    label: float
    group: str
    kind: str
    weight: float = 1.0
    text: str = ""


Rows = Sequence[FeatureRow]


def options(about: str | None) -> argparse.ArgumentParser:
    """Return the parser of a judge's command; ``about`` is the text of its module."""
    parser = argparse.ArgumentParser(description=(about or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    return parser


def ship(file: Path, weights: dict[str, Any], indent: int | None = 2) -> None:
    """Write weights in the place of a file of plain JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(weights, indent=indent) + "\n")


def feature_matrix(rows: Rows) -> Floats:
    """Return the features in the precision that they have, shape (rows, features)."""
    return np.array([row.features for row in rows])


def labels_of(rows: Rows) -> Floats:
    """Return the labels, shape (rows,)."""
    return np.array([row.label for row in rows], dtype=np.float64)


def weights_of(rows: Rows) -> Floats:
    """Return how much each row counts, shape (rows,)."""
    return np.array([row.weight for row in rows], dtype=np.float64)


def kinds_of(rows: Rows) -> Iterator[tuple[str, Truth]]:
    """Yield each kind of row in order of first appearance, with a mask of its rows."""
    for kind in dict.fromkeys(row.kind for row in rows):
        yield kind, np.array([row.kind == kind for row in rows])


def evened(rows: Rows) -> list[FeatureRow]:
    """Return the rows with weights, 1 on average, that balance both sides.

    How often things belong together differs between uses, so 0.5 should mean that the features
    favour neither side.
    """
    share = labels_of(rows).mean()
    return [replace(row, weight=0.5 / (share if row.label else 1 - share)) for row in rows]


def fit(
    rows: Rows,
    penalty: float,
    *,
    bounds: Bounds | None = None,
    spread: Floats | float = 1.0,
    known: Floats | None = None,
) -> Weights:
    """Return the weights of least cross entropy with a ridge penalty.

    Args:
        rows: The rows. Labels may be shares, and weights count.
        penalty: Penalty on half the square of each weight, except the intercept.
        bounds: The lowest and the highest value of each weight, (0, 0) for an excluded feature.
            None for no bounds.
        spread: Divisors of the features before penalising, shape (features,).
        known: Log odds to start from, including the intercept, shape (rows,).
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    features = np.column_stack([feature_matrix(rows) / spread, np.ones(len(rows))])
    labels, counts, last = labels_of(rows), weights_of(rows), features.shape[1] - 1
    ridge = np.array([penalty] * last + [0.0])
    before = 0.0 if known is None else known

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = before + features @ weights
        value = counts @ (np.logaddexp(0.0, logits) - labels * logits)
        slope = features.T @ (counts * (expit(logits) - labels))
        return float(value + 0.5 * ridge @ weights**2), slope + ridge * weights

    free = (None, None)
    limits = [*(bounds or [free] * last), free if known is None else (0.0, 0.0)]
    solution = minimize(loss, np.zeros(last + 1), jac=True, bounds=limits, method="L-BFGS-B").x
    return Weights(float(solution[last]), tuple((solution[:last] / spread).tolist()))


def log_odds(weights: Weights, rows: Rows) -> Floats:
    """Return the log odds of each row, shape (rows,)."""
    odds: Floats = weights.intercept + feature_matrix(rows) @ np.array(weights.weights)
    return odds


def probabilities(weights: Weights, rows: Rows) -> Floats:
    """Return the probability of each row, shape (rows,)."""
    from scipy.special import expit

    values: Floats = expit(log_odds(weights, rows))
    return values


def out_of_fold(
    rows: Rows, learn: Callable[[Rows], Callable[[Rows], Floats]], folds: Folds
) -> Floats:
    """Return the score of each row by a model that saw no row of its fold, shape (rows,)."""
    predicted: Floats = np.zeros(len(rows))
    for train, test in folds:
        predicted[test] = learn([rows[i] for i in train])([rows[i] for i in test])
    return predicted


def stratified_folds(rows: Rows, seed: int) -> Folds:
    """Yield up to ten folds with as many rows of either label, no group on both sides."""
    from sklearn.model_selection import StratifiedGroupKFold

    truth = labels_of(rows) > 0
    count = max(2, min(FOLDS, int(truth.sum()), int((~truth).sum())))
    groups = np.unique([row.group for row in rows], return_inverse=True)[1]
    folds = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    yield from folds.split(truth, truth, groups)


def cross_validated(rows: Rows, penalty: float) -> Floats:
    """Return each row's probability by ``fit`` on other groups, shape (seeds, rows)."""

    def learn(train: Rows) -> Callable[[Rows], Floats]:
        return partial(probabilities, fit(train, penalty))

    return np.array(
        [out_of_fold(rows, learn, stratified_folds(rows, seed)) for seed in range(SEEDS)]
    )


def balanced(scores: Floats, truth: Truth) -> tuple[float, float]:
    """Return the mark of best balanced accuracy, and that accuracy."""
    from sklearn.metrics import roc_curve

    wrong, right, marks = (part[::-1] for part in roc_curve(truth, scores, drop_intermediate=False))
    accuracy = (right + 1.0 - wrong) / 2.0
    best = int(np.argmax(accuracy))
    return float(marks[best]), float(accuracy[best])


def calibration(
    said: Floats, truth: Floats, counts: Floats | float = 1.0
) -> tuple[float, list[tuple[float, int, float]]]:
    """Return how far probabilities are from the truth.

    Args:
        said: Probabilities, shape (rows,).
        truth: 1 for true rows, else 0; shape (rows,).
        counts: The weight of each row, shape (rows,).

    Returns:
        The expected calibration error in [0, 1], the gap of each of ten equally wide bins weighted
        by its rows; and for each bin with rows the mean probability, the number of rows, and the
        share of true ones.
    """
    counts = np.broadcast_to(counts, said.shape)
    place = np.minimum((said * _BINS).astype(int), _BINS - 1)
    error, curve = 0.0, []
    for number in np.unique(place):
        inside = place == number
        mean = float(np.average(said[inside], weights=counts[inside]))
        true = float(np.average(truth[inside], weights=counts[inside]))
        error += float(counts[inside].sum() / counts.sum()) * abs(mean - true)
        curve.append((mean, int(inside.sum()), true))
    return error, curve


def stored(weights: Weights, features: type[Any]) -> dict[str, Any]:
    """Return the weights as JSON, by the name of the feature, to four decimals."""
    names = [field.name for field in fields(features)]
    rounded = [round(value, 4) + 0.0 for value in weights.weights]
    return {
        "intercept": round(weights.intercept, 4) + 0.0,
        "weights": dict(zip(names, rounded, strict=True)),
    }
