"""Fits how likely an extractive answer is to answer the question, and ships the weights.

    python -m lexloop.finetune.answerable --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        [--probes DIR ...] --negative data/negative.jsonl --out data/answerable

What is predicted is whether one of the first passages, which are what an answer quotes, holds what
answers the question. Every in-scope question of a gold file is read twice: over all documents, and
with its evidence taken out, where the nearest passages are plausible and wrong. So are those of
out-of-scope questions and negative queries, and those that the search ranks before the right one.
``--probes`` names folders with a law, its ``structure.json`` and ``probes.jsonl``.

Printed are the shares of each kind that would be refused and passed, and how reliable the
probability is: its AUROC, its expected calibration error and the curve, each set by weights that
were fitted on the other sets.
"""

import argparse
import json
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.core.settings import Settings
from lexloop.finetune.answerable_rows import Row, probe_rows, read_rows
from lexloop.nodes.generate.answerable import Signs
from lexloop.nodes.generate.extractive import MIN_ANSWERABLE

_WEIGHTS = {"answerable": 1.0, "evidence removed": 0.25, "out of scope": 2.0, "negative": 0.5}
_STRENGTH = 1.0
_BINS = 10

Floats = NDArray[np.float64]


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("GOLD", "DIR"))
    parser.add_argument("--probes", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--negative", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = [
        row
        for number, (gold, docs) in enumerate(options.set)
        for row in read_rows(number, Path(gold), Path(docs), options.negative)
    ]
    for number, folder in enumerate(options.probes, len(options.set)):
        rows += probe_rows(number, folder)
    weights = fit(rows)
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(options.out / "weights.json", json.dumps(weights, indent=2) + "\n")
    print(table(rows, predicted(rows, weights)))
    if len({row.set for row in rows}) > 1:
        print("\nEach set by weights that were fitted on the others:\n")
        others = across(rows)
        print(table(rows, others))
        print(f"\n{reliability(np.array([row.found for row in rows]), others)}")


def fit(rows: list[Row]) -> dict[str, Any]:
    """The weights of a logistic regression from signs to whether the answer was found."""
    from sklearn.linear_model import LogisticRegression

    signs = np.array([astuple(row.signs) for row in rows])
    spread = np.maximum(signs.std(axis=0), 1e-9)
    model = LogisticRegression(C=_STRENGTH, max_iter=5000)
    model.fit(
        signs / spread,
        [row.found for row in rows],
        sample_weight=[_WEIGHTS[row.kind] for row in rows],
    )
    names = [field.name for field in fields(Signs)]
    slopes = [round(float(value), 4) for value in model.coef_[0] / spread]
    intercept = round(float(np.ravel(model.intercept_)[0]), 4)
    return {"intercept": intercept, "weights": dict(zip(names, slopes, strict=True))}


def predicted(rows: list[Row], weights: dict[str, Any]) -> Floats:
    """Each row's probability by some weights."""
    slopes = np.array(list(weights["weights"].values()))
    logits = np.array([astuple(row.signs) for row in rows]) @ slopes + weights["intercept"]
    probabilities: Floats = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def across(rows: list[Row]) -> Floats:
    """Each row's probability by weights that saw no row of its set."""
    found: Floats = np.zeros(len(rows))
    for number in {row.set for row in rows}:
        held = np.array([row.set == number for row in rows])
        weights = fit([row for row in rows if row.set != number])
        found[held] = predicted([row for row in rows if row.set == number], weights)
    return found


def table(rows: list[Row], probabilities: Floats) -> str:
    """The share of each kind that is refused, and that passes, by set."""
    passed = Settings().min_answers
    lines = ["| set | kind | rows | found | refused | passed |", "|---|---|---|---|---|---|"]
    for number in sorted({row.set for row in rows}):
        for kind in _WEIGHTS:
            picked = [i for i, row in enumerate(rows) if (row.set, row.kind) == (number, kind)]
            if picked:
                found = float(np.mean([rows[i].found for i in picked]))
                refused = float(np.mean(probabilities[picked] < MIN_ANSWERABLE))
                good = float(np.mean(probabilities[picked] >= passed))
                lines.append(
                    f"| {number + 1} | {kind} | {len(picked)} | {found:.2f} | {refused:.2f} "
                    f"| {good:.2f} |"
                )
    return "\n".join(lines)


def reliability(found: NDArray[np.bool_], probabilities: Floats) -> str:
    """AUROC, expected calibration error, and the curve of what was found by what was said."""
    from sklearn.metrics import roc_auc_score

    bins = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    error, lines = 0.0, ["| said | rows | found |", "|---|---|---|"]
    for number in range(_BINS):
        inside = bins == number
        if inside.any():
            said, true = float(probabilities[inside].mean()), float(found[inside].mean())
            error += float(inside.mean()) * abs(said - true)
            lines.append(f"| {said:.2f} | {int(inside.sum())} | {true:.2f} |")
    head = (
        f"AUROC {roc_auc_score(found, probabilities):.3f}, expected calibration error {error:.3f}"
    )
    return "\n".join([head, "", *lines])


if __name__ == "__main__":
    main()
