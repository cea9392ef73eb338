"""Fits the embedded judge of correctness and ships its weights as plain JSON.

    python -m lexloop.finetune.correctness --recorded FILE --gold FILE --out data/judges

A fractional logistic regression over the signs of evaluation/agreement_features.py (Papke and
Wooldridge 1996): the logit of (score - 1) / 4, so that every value lies between 1 and 5. No sign
may count against its direction. What contradicts a reference word by word, and what is said where
nothing answers, is fitted after the rest and beside it: wrong near-copies, and refusals that are
right in other words, would teach that overlap is worth nothing.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.evaluation.agreement_features import FOR, AgreementFeatures
from lexloop.evaluation.case import read_cases
from lexloop.evaluation.correctness import (
    GOOD,
    HIGHEST,
    LOWEST,
    GradeWeights,
    features_of,
    on_scale,
)
from lexloop.finetune.correctness_rows import RECORDED, WEIGHTS, Row, altered, read_recorded

Floats = NDArray[np.float64]
NAMES = [field.name for field in fields(AgreementFeatures)]
_LATE = np.isin(
    NAMES,
    ["numbers_missing", "other_number", "negated", "declined_rightly", "answered_wrongly"],
)
_LATE_KINDS = ("no numbers", "other numbers", "negated", "rightly none", "answer to none")
_DIRECTION = np.where(np.arange(len(NAMES)) < FOR, 1.0, -1.0)
_STRENGTH, _LATE_STRENGTH = 20.0, 1.0
_FOLDS, _SEEDS = 10, 4


def main() -> None:
    """Fit, write the weights and print what they are worth, cross-validated."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    gold = read_cases(options.gold)
    rows = [*read_recorded(options.recorded, gold), *altered(gold)]
    signs = read_all(rows)
    options.out.mkdir(parents=True, exist_ok=True)
    stored = as_json(fit(rows, signs))
    write_text(options.out / "correctness.json", json.dumps(stored, indent=2) + "\n")
    print(table(rows, cross_validated(rows, signs)))


def read_all(rows: Sequence[Row]) -> Floats:
    """The signs of every row, shape (rows, signs)."""
    from lexloop.models.minilm import load_minilm

    model = load_minilm()
    texts = list(dict.fromkeys(text for row in rows for text in row.texts))
    signs = features_of([row.texts for row in rows], model.embed) if texts else []
    return np.array([astuple(sign) for sign in signs], dtype=np.float64)


def fit(rows: Sequence[Row], signs: Floats) -> GradeWeights:
    """The weights.

    Args:
        rows: Recorded answers and altered references.
        signs: Theirs, shape (rows, signs).
    """
    targets = np.array([(row.score - LOWEST) / (HIGHEST - LOWEST) for row in rows])
    counts = np.array([WEIGHTS[row.kind] for row in rows])
    apart = np.array([row.kind in _LATE_KINDS for row in rows])
    recorded = np.array([row.kind == RECORDED for row in rows])
    early, late = ~apart, apart | recorded
    weights = np.zeros(len(NAMES))
    intercept, weights[~_LATE] = _regress(
        signs[early][:, ~_LATE], targets[early], counts[early], _DIRECTION[~_LATE]
    )
    weights[_LATE] = _refine(
        signs[late][:, _LATE], targets[late], counts[late], intercept + signs[late] @ weights
    )
    values = _values(intercept, weights, signs[recorded])
    share = float(np.average(targets[recorded] >= (GOOD - LOWEST) / (HIGHEST - LOWEST)))
    good = float(np.clip(np.quantile(values, 1.0 - share), LOWEST + 0.01, HIGHEST - 0.01))
    return GradeWeights(intercept, tuple(weights.tolist()), good)


@dataclass(frozen=True)
class _Problem:
    """Signs of shape (rows, signs), targets in [0, 1], what each row counts, and a known logit."""

    signs: Floats
    targets: Floats
    counts: Floats
    known: Floats

    def solve(self, penalty: Floats, bounds: Any) -> Floats:
        """The weights of least penalised cross entropy within their bounds."""
        from scipy.optimize import minimize

        start = np.zeros(self.signs.shape[1])
        found = minimize(self._loss, start, (penalty,), jac=True, bounds=bounds, method="L-BFGS-B")
        best: Floats = found.x
        return best

    def _loss(self, weights: Floats, penalty: Floats) -> tuple[float, Floats]:
        logits = self.known + self.signs @ weights
        value = self.counts @ (np.logaddexp(0.0, logits) - self.targets * logits)
        slope = self.signs.T @ (self.counts * (_logistic(logits) - self.targets))
        return float(value + 0.5 * penalty @ weights**2), slope + penalty * weights


def _regress(signs: Floats, targets: Floats, counts: Floats, way: Floats) -> tuple[float, Floats]:
    """Intercept and weights, each of the sign that ``way`` allows, with a ridge penalty."""
    centre = np.average(signs, axis=0, weights=counts)
    spread = np.sqrt(np.average((signs - centre) ** 2, axis=0, weights=counts)) + 1e-9
    scaled = np.column_stack([np.ones(len(signs)), (signs - centre) / spread])
    penalty = np.full(scaled.shape[1], _STRENGTH)
    penalty[0] = 0.0
    bounds = [(None, None), *_bounds(way)]
    found = _Problem(scaled, targets, counts, np.zeros(len(signs))).solve(penalty, bounds)
    weights = found[1:] / spread
    return float(found[0] - weights @ centre), weights


def _refine(signs: Floats, targets: Floats, counts: Floats, known: Floats) -> Floats:
    """The weights of the late signs beside what the others give, ``known``."""
    penalty = np.full(signs.shape[1], _LATE_STRENGTH)
    return _Problem(signs, targets, counts, known).solve(penalty, _bounds(_DIRECTION[_LATE]))


def _bounds(way: Floats) -> list[tuple[float | None, float | None]]:
    return [(0.0, None) if direction > 0 else (None, 0.0) for direction in way]


def _logistic(logits: Floats) -> Floats:
    squashed: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))
    return squashed


def _values(intercept: float, weights: Floats, signs: Floats) -> Floats:
    values: Floats = LOWEST + (HIGHEST - LOWEST) * _logistic(intercept + signs @ weights)
    return values


def scores(weights: GradeWeights, signs: Floats) -> Floats:
    """What the judge gives rows with these signs."""
    values = _values(weights.intercept, np.array(weights.weights), signs)
    return np.array([on_scale(float(value), weights.good) for value in values])


def cross_validated(rows: Sequence[Row], signs: Floats, seeds: int = _SEEDS) -> Floats:
    """Each row's score by weights that never saw its question, averaged over shuffled folds."""
    from sklearn.model_selection import GroupKFold

    questions = np.unique([row.id for row in rows], return_inverse=True)[1]
    total = np.zeros(len(rows))
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(questions.max() + 1)
        folds = GroupKFold(min(_FOLDS, len(order))).split(signs, groups=order[questions])
        for train, test in folds:
            weights = fit([rows[i] for i in train], signs[train])
            total[test] += scores(weights, signs[test])
    return total / seeds


def as_json(weights: GradeWeights) -> dict[str, Any]:
    """The weights in the form that the judge reads, to four decimals."""
    numbers = [round(float(value), 4) + 0.0 for value in weights.weights]
    return {
        "intercept": round(weights.intercept, 4),
        "good": round(weights.good, 4),
        "weights": dict(zip(NAMES, numbers, strict=True)),
    }


def table(rows: Sequence[Row], found: Floats) -> str:
    """Mean score and share at or above 4 by run and kind, beside what they should be."""
    lines = [
        "| answers | rows | mean | judge's | share >= 4 | judge's |",
        "|---|---|---|---|---|---|",
    ]
    names = list(dict.fromkeys(row.run or row.kind for row in rows))
    for name in names:
        picked = [i for i, row in enumerate(rows) if (row.run or row.kind) == name]
        wanted, got = np.array([rows[i].score for i in picked]), found[picked]
        lines.append(
            f"| {name} | {len(picked)} | {got.mean():.2f} | {wanted.mean():.2f} "
            f"| {np.mean(got >= GOOD):.2f} | {np.mean(wanted >= GOOD):.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
