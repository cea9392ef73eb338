"""The fit that the embedded judges share: its bounds, its folds, and what a fit is worth."""

import json
import math
from dataclasses import make_dataclass, replace

import numpy as np
import pytest

from lexloop.nodes.weights import Weights
from training.logistic import (
    FeatureRow,
    balanced,
    calibration,
    cross_validated,
    evened,
    fit,
    labels_of,
    log_odds,
    probabilities,
    stored,
    weights_of,
)

Two = make_dataclass("Two", ["first", "second"])


def rows_of(features: np.ndarray, truth: list[float]) -> list[FeatureRow]:
    """Rows in groups of two."""
    return [
        FeatureRow(tuple(row.tolist()), right, str(n // 2), "")
        for n, (row, right) in enumerate(zip(features, truth, strict=True))
    ]


def told() -> list[FeatureRow]:
    """The first feature speaks for the label, the second against it."""
    chance = np.random.default_rng(1)
    features = chance.normal(size=(80, 2))
    return rows_of(features, [float(a - b > 0) for a, b in features])


def test_a_fit_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rows = [replace(row, weight=1.0 + n % 3) for n, row in enumerate(told())]
    theirs = LogisticRegression(C=0.5, tol=1e-8)
    matrix = np.array([row.features for row in rows])
    theirs.fit(matrix, labels_of(rows), sample_weight=weights_of(rows))
    ours = fit(rows, 2.0)
    assert ours.weights == pytest.approx(theirs.coef_[0], abs=1e-3)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], abs=1e-3)
    assert json.loads(json.dumps(stored(ours, Two)))["weights"]["first"] > 0


def test_no_weight_leaves_its_bounds_and_what_is_known_is_built_on() -> None:
    rows = told()
    one_sided = fit(rows, 1.0, bounds=[(0.0, None), (0.0, None)])
    assert one_sided.weights[0] > 0.0 == one_sided.weights[1]
    first = fit(rows, 1.0, bounds=[(None, None), (0.0, 0.0)])
    then = fit(rows, 1.0, bounds=[(0.0, 0.0), (None, None)], known=log_odds(first, rows))
    assert first.weights[1] == then.weights[0] == then.intercept == 0.0
    assert first.weights[0] > 0 > then.weights[1]


def test_a_feature_counts_alike_in_whatever_unit_it_is_measured() -> None:
    rows, spread = told(), np.array([1.0, 1000.0])
    wide = [replace(row, features=(row.features[0], row.features[1] * 1000)) for row in rows]
    assert probabilities(fit(wide, 1.0, spread=spread), wide) == pytest.approx(
        probabilities(fit(rows, 1.0), rows), abs=1e-3
    )


def test_a_feature_that_is_always_the_same_tells_nothing() -> None:
    rows = told()
    same = [replace(row, features=(*row.features, 0.25)) for row in rows]
    plain = probabilities(fit(rows, 1.0), rows)
    assert probabilities(fit(same, 1.0), same) == pytest.approx(plain, abs=0.02)


def test_a_probability_by_hand_and_shares_as_labels() -> None:
    given = rows_of(np.array([[0.5], [1.0]]), [1, 1])
    assert probabilities(Weights(-1.0, (2.0,)), given) == pytest.approx(
        [0.5, 1 / (1 + math.exp(-1.0))]
    )
    shares = rows_of(np.zeros((4, 1)), [0.25, 0.5, 0.25, 0.0])
    assert probabilities(fit(shares, 1.0), shares) == pytest.approx([0.25] * 4, abs=1e-4)


def test_the_lowest_mark_of_best_balanced_accuracy_by_hand() -> None:
    # at 0.35 both right ones and one wrong one reach the mark: (1 + 1/2) / 2
    truth = np.array([False, False, True, True])
    assert balanced(np.array([0.1, 0.4, 0.35, 0.8]), truth) == (0.35, 0.75)
    # at 0.4 both right ones and a wrong one, at 0.8 one right one and no wrong one: 0.75 each
    truth = np.array([False, True, False, True])
    assert balanced(np.array([0.2, 0.4, 0.6, 0.8]), truth) == (0.4, 0.75)


def test_calibration_by_hand() -> None:
    # 0.95 against one of two right; 0.6 against two of two
    error, curve = calibration(np.array([0.95, 0.95, 0.6, 0.6]), np.array([1.0, 0.0, 1.0, 1.0]))
    assert error == pytest.approx(0.5 * 0.45 + 0.5 * 0.4)
    assert curve == [(pytest.approx(0.6), 2, 1.0), (pytest.approx(0.95), 2, 0.5)]


def test_both_sides_count_the_same() -> None:
    counts = weights_of(evened(rows_of(np.zeros((4, 1)), [1, 0, 0, 0])))
    assert counts.tolist() == pytest.approx([2.0, 2 / 3, 2 / 3, 2 / 3])


def test_no_row_is_scored_by_weights_that_saw_its_group() -> None:
    # each group holds its feature's only right row: seen, it would score high
    rows = rows_of(np.eye(6).repeat(2, axis=0), [1, 1, 0, 0] * 3)
    right = labels_of(rows) > 0
    held = cross_validated(rows, 0.01)
    assert held.shape == (5, 12)
    assert probabilities(fit(rows, 0.01), rows)[right].min() > 0.8
    assert held[:, right].max() < 0.8
