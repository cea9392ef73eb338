"""Fit the probability that a cell's quote answers its question, on contracts marked by lawyers.

    python -m training.cell --contracts CONTRACTS --out data/judges

CONTRACTS has ``documents`` and ``probes.jsonl``. A random half of the documents may be fitted on;
`benchmarks/table.py` measures on the others. There are two regressions: ``asked`` for questions
alone, and ``worded`` for those with model clauses, from the checklist for commercial contracts if
it asks for a category of the probes, and the probes' own if a checklist asks the same in other
words. A row is the first statement of a cell. It is right if lawyers marked it, so similar clauses
that do not answer are among the wrong ones, from contracts that answer and from those that do not.
It prints each row by weights that saw no row of its contract.
"""

import json
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from lexloop.core.settings import Settings
from lexloop.core.types import Citation
from lexloop.graph.resources import Resources
from lexloop_eval.report.tables import markdown_table
from lexloop_workbench.table.cell import CellFeatures, TableAsker
from lexloop_workbench.table.checklist import Question, clauses_for, shipped_checklist
from training import logistic
from training.logistic import FeatureRow

SEED, DOCUMENTS, PENALTY = 7, 60, 0.3
CATEGORIES = {
    "governing-law": "Governing Law",
    "term": "Expiration Date",
    "renewal": "Renewal Term",
    "convenience": "Termination for Convenience",
    "after-termination": "Post-Termination Services",
    "assignment": "Anti-Assignment",
    "change-of-control": "Change of Control",
    "exclusivity": "Exclusivity",
    "non-compete": "Non-Compete",
    "minimum": "Minimum Commitment",
    "revenue": "Revenue/Profit Sharing",
    "licence": "License Grant",
    "ownership": "IP Ownership Assignment",
    "liability-cap": "Cap on Liability",
    "audit": "Audit Rights",
    "insurance": "Insurance",
    "warranty": "Warranty Duration",
}
"""The category of the probes that each question of the checklist asks for."""
Row = dict[str, Any]


def main() -> None:
    """Fit and print."""
    parser = logistic.options(__doc__)
    parser.add_argument("--contracts", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    arguments = parser.parse_args()
    names, probes = (
        halves(arguments.contracts)[0][: arguments.documents],
        read_probes(arguments.contracts),
    )
    rows = read_rows(arguments.contracts / "documents", names, probes)
    weights, lines = {}, []
    for part, part_rows in rows.items():
        truth = logistic.labels_of(part_rows) > 0
        scores = logistic.cross_validated(part_rows, PENALTY).mean(axis=0)
        weights[part] = logistic.stored(logistic.fit(part_rows, PENALTY), CellFeatures)
        lines += [[part, len(part_rows), int(truth.sum()), *_figures(scores, truth)]]
    logistic.ship(arguments.out / "cell.json", weights)
    head = ("weights", "cells", "right", "AUROC", "calibration error", "best mark", "balanced")
    print("\n".join(markdown_table(head, lines)))


def _figures(scores: logistic.Floats, truth: logistic.Truth) -> list[str]:
    from sklearn.metrics import roc_auc_score

    error, _ = logistic.calibration(scores, truth.astype(float))
    figures = (float(roc_auc_score(truth, scores)), error, *logistic.balanced(scores, truth))
    return [f"{value:.3f}" for value in figures]


def halves(contracts: Path) -> tuple[list[str], list[str]]:
    """Return the documents that may be fitted on, and those that may be measured on."""
    names = sorted(path.name for path in (contracts / "documents").iterdir())
    random.Random(SEED).shuffle(names)  # noqa: S311 - a sample, no secret
    middle = len(names) // 2
    return names[:middle], names[middle:]


def read_probes(contracts: Path) -> dict[tuple[str, str], Row]:
    """Return the probes known to be answered or not, by document and category."""
    lines = (contracts / "probes.jsonl").read_text(encoding="utf-8").splitlines()
    records = map(json.loads, lines)
    return {
        (record["document"], record["category"]): record
        for record in records
        if record["answerable"] is not None
    }


def cites(citations: Sequence[Citation], probe: Row) -> bool:
    """Return whether a quote holds words of the clause that lawyers marked."""
    spans: Sequence[tuple[int, int]] = probe["spans"]
    quoted = [
        citation.get("in_file") or [citation["start"], citation["end"]] for citation in citations
    ]
    return any(first < end and start < last for first, last in quoted for start, end in spans)


def asked_of(probe: Mapping[str, Any]) -> Question:
    """Return the question of a probe, as it is asked of its document."""
    return Question(id="probe", title=probe["category"], question=probe["bare_question"])


def read_rows(
    documents: Path, names: Sequence[str], probes: Mapping[tuple[str, str], Row]
) -> dict[str, list[FeatureRow]]:
    """Ask each document what its probes ask; return the rows of either regression."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            shutil.copy(documents / name, folder)
        settings = Settings(corpus=folder)
        asker = TableAsker(Resources(defaults=settings), settings)
        return {
            part: [*_rows(asker, names, probes, part == "worded")] for part in ("asked", "worded")
        }


def _rows(
    asker: TableAsker, names: Sequence[str], probes: Mapping[tuple[str, str], Row], worded: bool
) -> Iterator[FeatureRow]:
    listed = {
        CATEGORIES[question.id]: question for question in shipped_checklist("commercial").questions
    }
    bare = {category: asked_of(probe) for (_, category), probe in probes.items()}
    clauses = zip(bare, clauses_for([question.question for question in bare.values()]), strict=True)
    like = {category: clauses_of for category, clauses_of in clauses if clauses_of}
    for name in names:
        document = asker.of(name)
        for (document_name, category), probe in probes.items():
            if document_name != name or category not in listed:
                continue
            questions = [listed[category] if worded else bare[category]]
            if worded and category in like:
                questions.append(bare[category].model_copy(update={"like": like[category]}))
            for question in questions:
                result = document.found(question)
                right = float(cites(result.quoted[:1], probe))
                yield FeatureRow(astuple(result.features), right, name, category)


if __name__ == "__main__":
    main()
