"""Fits when the extractive generator abstains, and ships the weights as plain JSON.

    python -m lexloop.finetune.answerable --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        --negative data/negative.jsonl --out data/answerable

Every in-scope question is read twice: over all documents, where it can be answered, and with its
evidence taken out, where it cannot. Out-of-scope questions and negative queries cannot either.
Scores are cross-validated by question, and the intercept is moved so that no more than
``--refused`` of the answerable questions would be refused.
"""

import argparse
import json
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.finetune.answerable_rows import Row, read_rows
from lexloop.nodes.generate.answerable import Signs

_WEIGHTS = {"answerable": 1.0, "evidence removed": 0.5, "out of scope": 4.0, "negative": 1.0}
_FOLDS = 10
_STRENGTH = 3.0

Floats = NDArray[np.float64]


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("GOLD", "DIR"))
    parser.add_argument("--negative", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--refused", type=float, default=0.07)
    options = parser.parse_args()
    rows = [
        row
        for number, (gold, docs) in enumerate(options.set)
        for row in read_rows(number, Path(gold), Path(docs), options.negative)
    ]
    weights, scores = fit(rows, options.refused)
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(options.out / "weights.json", json.dumps(weights, indent=2) + "\n")
    print(table(rows, scores))
    if len(options.set) > 1:
        print("\nEach set by weights that were fitted on the others:\n")
        print(table(rows, across(rows, options.refused)))


def across(rows: list[Row], refused: float) -> Floats:
    """Each row's score by weights and a bar that saw no row of its set."""
    scores: Floats = np.zeros(len(rows))
    for number in {row.set for row in rows}:
        weights, _ = fit([row for row in rows if row.set != number], refused)
        slopes = np.array(list(weights["weights"].values()))
        for place, row in enumerate(rows):
            if row.set == number:
                scores[place] = weights["intercept"] + float(slopes @ np.array(astuple(row.signs)))
    return scores


def fit(rows: list[Row], refused: float) -> tuple[dict[str, Any], Floats]:
    """The weights, and each row's cross-validated score, of which the positive ones answer.

    Args:
        rows: Signs with their kind.
        refused: The share of answerable questions that may be refused.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    signs = np.array([astuple(row.signs) for row in rows])
    answerable = np.array([row.kind == "answerable" for row in rows])
    weight = np.array([_WEIGHTS[row.kind] for row in rows])
    questions = np.unique([row.question for row in rows], return_inverse=True)[1]
    scores: Floats = np.zeros(len(rows))
    for train, test in GroupKFold(_FOLDS).split(signs, answerable, questions):
        model = LogisticRegression(C=_STRENGTH, max_iter=5000)
        model.fit(signs[train], answerable[train], sample_weight=weight[train])
        scores[test] = model.decision_function(signs[test])
    model = LogisticRegression(C=_STRENGTH, max_iter=5000)
    model.fit(signs, answerable, sample_weight=weight)
    bar = float(np.quantile(scores[answerable], refused))
    names = [field.name for field in fields(Signs)]
    coefficients = [round(float(value), 4) for value in model.coef_[0]]
    weights = {
        "intercept": round(float(np.ravel(model.intercept_)[0]) - bar, 4),
        "weights": dict(zip(names, coefficients, strict=True)),
    }
    return weights, scores - bar


def table(rows: list[Row], scores: Floats) -> str:
    """The share of each kind that would be refused, by set, cross-validated."""
    lines = ["| set | kind | rows | refused |", "|---|---|---|---|"]
    for number in sorted({row.set for row in rows}):
        for kind in _WEIGHTS:
            picked = [i for i, row in enumerate(rows) if (row.set, row.kind) == (number, kind)]
            if picked:
                share = float(np.mean(scores[picked] < 0))
                lines.append(f"| {number + 1} | {kind} | {len(picked)} | {share:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
