"""How well the embedded judges agree with people's labels and with a model judge.

    python benchmarks/judges.py --wice FILE --recorded FILE --gold FILE [--fit]

Groundedness: claims of WiCE with the sentences they cite, supported against the rest. Correctness:
answers that HyPA-RAG's authors recorded, beside the 1 to 5 of their judge; ``--gold`` has the
questions with their reference answers. Without ``--fit`` the shipped weights are scored; with it
weights are fitted on the given files, cross-validated by claim and by question, and averaged over
shuffles of the folds. Intervals are bootstrap 95 % over claims and over questions.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _judges import AnswerRow, ClaimRow, correctness, groundedness, table

from lexloop.core.errors import LexloopError
from lexloop.documents.text.tokens import tokenize
from lexloop.evaluation.case import read_cases
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.metrics.text import rouge_n
from lexloop.evaluation.score import Score
from lexloop.finetune import correctness as fitting
from lexloop.finetune import triad
from lexloop.finetune.correctness import ScoredAnswer, altered, read_recorded
from lexloop.finetune.triad import LabelledClaim, read_wice
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark that the command line describes; the exit code."""
    options = _options(arguments)
    try:
        claims = read_wice(options.wice)
        gold = read_cases(options.gold)
        answers = read_recorded(options.recorded, gold)
        probabilities = _fitted_claims(claims) if options.fit else _claims(claims)
        anchors = altered(gold) if options.fit else []
        scores = _fitted_answers(answers, anchors) if options.fit else _answers(answers)
    except LexloopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    figures = {
        "weights": "cross-validated" if options.fit else "shipped",
        **groundedness(_claim_rows(claims, probabilities)),
        **correctness(_answer_rows(answers, scores)),
    }
    print(table(figures))
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--wice", type=Path, required=True, help="labelled claims")
    parser.add_argument("--recorded", type=Path, required=True, help="judged answers")
    parser.add_argument("--gold", type=Path, required=True, help="their questions and references")
    parser.add_argument("--fit", action="store_true", help="cross-validate on these files")
    return parser.parse_args(arguments)


class _Remembering:
    """Embeds no text twice: many claims cite the same page."""

    def __init__(self) -> None:
        self._vector_of: dict[str, Vectors] = {}

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        model = load_minilm()
        unknown = [text for text in dict.fromkeys(texts) if text not in self._vector_of]
        self._vector_of |= zip(unknown, model.embed(unknown), strict=True)
        empty = np.zeros((0, model.dimension), np.float32)
        return np.stack([self._vector_of[text] for text in texts]) if texts else empty


def _claims(rows: Sequence[LabelledClaim]) -> list[float]:
    embed = _Remembering().embed
    judge = ClaimSupport(embed)
    return [
        judge.of([row.claim], evidence_of(row.evidence_sentences, embed))[0].probability
        for row in rows
    ]


def _fitted_claims(rows: Sequence[LabelledClaim]) -> list[float]:
    read = triad.read_claims(rows, _Remembering())
    means: list[float] = triad.held_out(read).mean(axis=0).tolist()
    return means


def _answers(rows: Sequence[ScoredAnswer]) -> list[Score]:
    return CorrectnessJudge(load_minilm().embed).scores([row.texts for row in rows])


def _fitted_answers(rows: Sequence[ScoredAnswer], anchors: Sequence[ScoredAnswer]) -> list[Score]:
    every = [*rows, *anchors]
    found = fitting.held_out(fitting.read_rows(every))
    return [float(score) for score in found[: len(rows)]]


def _claim_rows(rows: Sequence[LabelledClaim], probabilities: Sequence[float]) -> list[ClaimRow]:
    return [
        ClaimRow(
            row.claim,
            row.label == "supported",
            probability,
            _cover(row.claim, row.evidence_sentences),
        )
        for row, probability in zip(rows, probabilities, strict=True)
    ]


def _cover(claim: str, sentences: Sequence[str]) -> float:
    """The share of the claim's search terms that the evidence holds."""
    wanted = frozenset(tokenize(claim))
    held = frozenset(term for sentence in sentences for term in tokenize(sentence))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _answer_rows(rows: Sequence[ScoredAnswer], scores: Sequence[Score]) -> list[AnswerRow]:
    found = []
    for row, score in zip(rows, scores, strict=True):
        _, answer, reference = row.texts
        rouge1 = rouge_n(answer, reference, 1, "recall")
        found.append(AnswerRow(row.id, row.run, row.score, score, rouge1))
    return found


if __name__ == "__main__":
    sys.exit(main())
