"""Fits answer and context relevance as probabilities, and finds the pass marks of the triad.

    python -m lexloop.finetune.relevance --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        --out data/judges

Right pairs of questions with answers and with passages are told from wrong ones, the hardest
wrong ones from the same documents, by a logistic regression each. Prints, cross-validated by
question, what they are worth, and for each score of the triad the mark that ``--failed`` of the
right pairs miss beside the one of best balanced accuracy.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.core.settings import Settings
from lexloop.finetune.logistic import (
    Floats,
    balanced,
    balanced_at,
    evened,
    logistic,
    out_of_fold,
    stored,
)
from lexloop.finetune.relevance_rows import Part, Row, read_rows
from lexloop.nodes.evaluate.embedded import AnswerFeatures, ContextFeatures

_SIGNS: dict[Part, type[Any]] = {"answer": AnswerFeatures, "context": ContextFeatures}
_STRENGTH = 1.0


def main() -> None:
    """Fit, write the weights and print what they are worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("GOLD", "DIR"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--failed", type=float, default=0.05)
    options = parser.parse_args()
    rows = [row for gold, docs in options.set for row in read_rows(Path(gold), Path(docs))]
    weights = {part: fit(rows, part) for part in _SIGNS}
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(options.out / "relevance.json", json.dumps(weights, indent=2) + "\n")
    print(table(rows, options.failed))


def fit(rows: Sequence[Row], part: Part) -> dict[str, Any]:
    """The weights of one part as JSON.

    Raises:
        InputError: There are no right or no wrong pairs.
    """
    picked = [row for row in rows if row.part == part]
    signs, truth = _signs(picked), _truth(picked)
    if len(set(truth.tolist())) < 2:
        raise InputError(
            f"Of {len(picked)} pairs for {part} relevance all are right or all are wrong.",
            "Give a gold file with several questions and the documents that answer them.",
        )
    return stored(logistic(signs, truth, _STRENGTH, evened(truth)), _SIGNS[part])


def scored(rows: Sequence[Row], part: Part) -> tuple[list[Row], Floats]:
    """The rows of a part, and each one's score by weights that never saw its question."""
    picked = [row for row in rows if row.part == part]
    signs, truth = _signs(picked), _truth(picked)
    if part == "groundedness":
        return picked, signs[:, 0]
    groups = [row.question for row in picked]
    return picked, out_of_fold(signs, truth, _STRENGTH, groups, evened(truth)).mean(axis=0)


def table(rows: Sequence[Row], failed: float) -> str:
    """By part: AUROC and marks; by kind of pair: how many there are and their mean score."""
    from sklearn.metrics import roc_auc_score

    lines = ["| score | pairs | n | mean |", "|---|---|---|---|"]
    marks = []
    for part, mark in _marks_in_use().items():
        picked, scores = scored(rows, part)
        truth = _truth(picked)
        for kind, right in dict.fromkeys((row.kind, row.right) for row in picked):
            of = np.array([(row.kind, row.right) == (kind, right) for row in picked])
            name = f"{'right' if right else 'wrong'}: {kind}"
            lines.append(f"| {part} | {name} | {of.sum()} | {scores[of].mean():.2f} |")
        best, accuracy = balanced(scores, truth)
        marks.append(
            f"{part}: AUROC {roc_auc_score(truth, scores):.3f}; {failed:.0%} of the right pairs "
            f"are below {np.quantile(scores[truth], failed):.2f}; best balanced accuracy "
            f"{accuracy:.3f} at {best:.2f}, and {balanced_at(mark, scores, truth):.3f} at the pass "
            f"mark of {mark:g}"
        )
    return "\n".join([*lines, "", *marks])


def _marks_in_use() -> dict[Part, float]:
    settings = Settings()
    return {
        "answer": settings.loop.min_answer_relevance,
        "context": settings.loop.min_context_relevance,
        "groundedness": settings.loop.min_groundedness,
    }


def _signs(rows: Sequence[Row]) -> Floats:
    return np.array([row.signs for row in rows], dtype=np.float64)


def _truth(rows: Sequence[Row]) -> Any:
    return np.array([row.right for row in rows], dtype=np.bool_)


if __name__ == "__main__":
    main()
