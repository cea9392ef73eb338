"""Fits whether the documents answer a question, and whether an extractive answer does.

    python -m lexloop.finetune.answerable --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        [--probes DIR ...] --negative data/negative.jsonl --out data/judges

``there`` is whether a question can be answered, ``found`` whether one of the first passages, which
are what an answer quotes, holds what answers it. Every in-scope question of a gold file is read
twice: over all documents, and with its evidence taken out, where the nearest passages are plausible
and wrong. So are those of out-of-scope questions and negative queries, and those that the search
ranks before the right one.
``--probes`` names folders with a law, its ``structure.json`` and ``probes.jsonl``.

Printed are the shares of each kind that would be refused and passed, and how reliable the
probability is: its AUROC, its expected calibration error and the curve, each set by weights that
were fitted on the other sets.
"""

import argparse
import json
from dataclasses import astuple, fields
from pathlib import Path
from typing import Literal

import numpy as np

from lexloop.core.files import write_text
from lexloop.core.settings import Settings
from lexloop.finetune.answerable_rows import Row, probe_rows, read_rows
from lexloop.finetune.logistic import Floats, Truth, stored
from lexloop.nodes.generate.answerable import AGAINST, AnswerabilityFeatures
from lexloop.nodes.generate.extractive import MIN_THERE
from lexloop.nodes.weights import Weights

Part = Literal["there", "found"]
PARTS: tuple[Part, ...] = ("there", "found")
_COUNTS = {"answerable": 1.0, "evidence removed": 0.25, "out of scope": 2.0, "negative": 0.5}
_STRENGTH = 0.05
_BINS = 10


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("GOLD", "DIR"))
    parser.add_argument("--probes", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--negative", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if not options.set and not options.probes:
        parser.error("there is nothing to fit on: give --set GOLD DIR or --probes DIR")
    rows = [
        row
        for number, (gold, docs) in enumerate(options.set)
        for row in read_rows(number, Path(gold), Path(docs), options.negative)
    ]
    for number, folder in enumerate(options.probes, len(options.set)):
        rows += probe_rows(number, folder)
    weights: dict[Part, Weights] = {part: fit(rows, part) for part in PARTS}
    options.out.mkdir(parents=True, exist_ok=True)
    kept = {part: stored(found, AnswerabilityFeatures) for part, found in weights.items()}
    write_text(options.out / "answerable.json", json.dumps(kept, indent=2) + "\n")
    print(table(rows, {part: predicted(rows, found) for part, found in weights.items()}))
    if len({row.set for row in rows}) > 1:
        print("\nEach set by weights that were fitted on the others:\n")
        others: dict[Part, Floats] = {part: across(rows, part) for part in PARTS}
        print(table(rows, others))
        for part in PARTS:
            print(f"\n{part}: {reliability(rows, part, others[part])}")


def fit(rows: list[Row], part: Part) -> Weights:
    """The weights of a ridge-penalised logistic regression from the signs to what a part says.

    A sign for an answer has no weight below 0 and one against it none above: what few laws show
    otherwise is chance.
    """
    from scipy.optimize import minimize

    names = [field.name for field in fields(AnswerabilityFeatures)]
    signs = np.array([astuple(row.signs) for row in rows])
    deviation = signs.std(axis=0)
    # a sign that is the same everywhere tells nothing, and must not be blown up
    spread = np.where(deviation > 1e-9, deviation, 1.0)
    scaled = np.column_stack([signs / spread, np.ones(len(rows))])
    sides = np.where(_truth(rows, part), 1.0, -1.0)
    counts = np.array([_COUNTS[row.kind] for row in rows])
    ridge = np.array([1.0 / _STRENGTH] * len(names) + [0.0])

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = sides * (scaled @ weights)
        slopes = scaled.T @ (-counts * sides / (1.0 + np.exp(margins)))
        value = counts @ np.logaddexp(0.0, -margins) + ridge @ weights**2 / 2.0
        return float(value), slopes + ridge * weights

    bounds = [(None, 0.0) if name in AGAINST else (0.0, None) for name in names]
    found = minimize(
        loss, np.zeros(len(names) + 1), jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B"
    )
    *weights, intercept = found.x.tolist()
    return Weights(intercept, tuple((np.array(weights) / spread).tolist()))


def _truth(rows: list[Row], part: Part) -> Truth:
    held = [row.found if part == "found" else row.kind == "answerable" for row in rows]
    return np.array(held, dtype=np.bool_)


def predicted(rows: list[Row], weights: Weights) -> Floats:
    """Each row's probability by some weights."""
    return np.array([weights.probability(astuple(row.signs)) for row in rows])


def across(rows: list[Row], part: Part) -> Floats:
    """Each row's probability by weights that saw no row of its set."""
    found: Floats = np.zeros(len(rows))
    for number in {row.set for row in rows}:
        held = np.array([row.set == number for row in rows])
        weights = fit([row for row in rows if row.set != number], part)
        found[held] = predicted([row for row in rows if row.set == number], weights)
    return found


def table(rows: list[Row], probabilities: dict[Part, Floats]) -> str:
    """The share of each kind that is refused, and that passes, by set."""
    refused = probabilities["there"] < MIN_THERE
    passed = ~refused & (probabilities["found"] >= Settings().loop.min_answers)
    lines = ["| set | kind | rows | found | refused | passed |", "|---|---|---|---|---|---|"]
    for number in sorted({row.set for row in rows}):
        for kind in _COUNTS:
            picked = [i for i, row in enumerate(rows) if (row.set, row.kind) == (number, kind)]
            if picked:
                found = np.mean([rows[i].found for i in picked])
                shares = (float(found), float(refused[picked].mean()), float(passed[picked].mean()))
                cells = " | ".join(f"{share:.2f}" for share in shares)
                lines.append(f"| {number + 1} | {kind} | {len(picked)} | {cells} |")
    return "\n".join(lines)


def reliability(rows: list[Row], part: Part, probabilities: Floats) -> str:
    """AUROC, expected calibration error, and the curve of what was true by what was said.

    Rows count as in the fit.
    """
    from sklearn.metrics import roc_auc_score

    truth, counts = _truth(rows, part), np.array([_COUNTS[row.kind] for row in rows])
    bins = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    error, lines = 0.0, ["| said | rows | true |", "|---|---|---|"]
    for number in np.unique(bins):
        inside = bins == number
        said = float(np.average(probabilities[inside], weights=counts[inside]))
        true = float(np.average(truth[inside], weights=counts[inside]))
        error += float(counts[inside].sum() / counts.sum()) * abs(said - true)
        lines.append(f"| {said:.2f} | {int(inside.sum())} | {true:.2f} |")
    auroc = roc_auc_score(truth, probabilities, sample_weight=counts)
    head = f"AUROC {auroc:.3f}, expected calibration error {error:.3f}"
    return "\n".join([head, "", *lines])


if __name__ == "__main__":
    main()
