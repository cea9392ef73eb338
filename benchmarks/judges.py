"""How well the embedded judges agree with people's labels and with a model judge.

    python benchmarks/judges.py --wice FILE --recorded FILE --gold FILE [--fit]

Groundedness: claims of WiCE with the sentences they cite, supported against the rest. Correctness:
answers that HyPA-RAG's authors recorded, beside the 1 to 5 of their judge; ``--gold`` has the
questions with their reference answers. Without ``--fit`` the shipped weights are scored; with it
weights are fitted on the given files, cross-validated by claim and by question, and averaged over
shuffles of the folds. Intervals are bootstrap 95 % over claims and over questions.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from _shared import options
from sklearn.metrics import roc_auc_score

from lexloop.core.errors import LexloopError
from lexloop.documents.text.tokens import tokenize
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport
from lexloop_eval.agreement import Judged, agreement
from lexloop_eval.case import read_cases
from lexloop_eval.correctness import CorrectnessJudge, is_correct
from lexloop_eval.metrics.text import rouge_n
from lexloop_eval.score import Score, Unresolved, is_resolved, resolved
from lexloop_eval.statistics import Estimate, correlation, interval_of, mean
from training import correctness as fitting
from training import triad
from training.correctness import ScoredAnswer, altered, read_recorded
from training.triad import LabelledClaim, read_wice

T = TypeVar("T")
Figures = dict[str, int | str | Estimate | Unresolved]
_ALONE = "llm_only"
_SUPPORTED = 0.5
_AGREEMENT = ("precision", "recall", "f1", "agreement", "kappa", "spearman")
"""Those of HyPA-RAG's figures 2 and 8, and kappa."""


class ClaimRow(NamedTuple):
    """A claim: what the judge and token cover give it, and whether people call it supported."""

    claim: str
    supported: bool
    judge: float
    cover: float


class AnswerRow(NamedTuple):
    """An answer of ``run``: our score and theirs, both 1 to 5, and its ROUGE-1 recall."""

    question: str
    run: str
    theirs: float
    judge: Score
    rouge1: Score


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark that the command line describes; the exit code."""
    parser = options(__doc__)
    parser.add_argument("--wice", type=Path, required=True, help="labelled claims")
    parser.add_argument("--recorded", type=Path, required=True, help="judged answers")
    parser.add_argument("--gold", type=Path, required=True, help="their questions and references")
    parser.add_argument("--fit", action="store_true", help="cross-validate on these files")
    given = parser.parse_args(arguments)
    try:
        claims, gold = read_wice(given.wice), read_cases(given.gold)
        answers = read_recorded(given.recorded, gold)
        supported = _fitted_claims(claims) if given.fit else _claims(claims)
        scores = _fitted_answers(answers, altered(gold)) if given.fit else _answers(answers)
    except LexloopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    figures: Figures = {
        "weights": "cross-validated" if given.fit else "shipped",
        **groundedness([*map(_claim_row, claims, supported)]),
        **_correctness([*map(_answer_row, answers, scores)]),
    }
    print("\n".join(_line(name, value) for name, value in figures.items()))
    return 0


def _claims(rows: Sequence[LabelledClaim]) -> list[float]:
    embed = load_minilm().embed
    judge, cited = ClaimSupport(embed), (evidence_of(row.evidence_sentences, embed) for row in rows)
    return [
        judge.of([row.claim], seen)[0].probability for row, seen in zip(rows, cited, strict=True)
    ]


def _fitted_claims(rows: Sequence[LabelledClaim]) -> list[float]:
    read = triad.read_claims(rows, load_minilm())
    means: list[float] = triad.held_out(read).mean(axis=0).tolist()
    return means


def _answers(rows: Sequence[ScoredAnswer]) -> list[Score]:
    return CorrectnessJudge(load_minilm().embed).scores([row.texts for row in rows])


def _fitted_answers(rows: Sequence[ScoredAnswer], anchors: Sequence[ScoredAnswer]) -> list[Score]:
    found = fitting.held_out(fitting.read_rows([*rows, *anchors]))
    return [float(score) for score in found[: len(rows)]]


def _claim_row(row: LabelledClaim, probability: float) -> ClaimRow:
    """Its cover is the share of the claim's search terms that the evidence holds."""
    wanted = frozenset(tokenize(row.claim))
    held = frozenset(term for sentence in row.evidence_sentences for term in tokenize(sentence))
    cover = len(wanted & held) / len(wanted) if wanted else 0.0
    return ClaimRow(row.claim, row.label == "supported", probability, cover)


def _answer_row(row: ScoredAnswer, score: Score) -> AnswerRow:
    _, answer, reference = row.texts
    return AnswerRow(row.id, row.run, row.score, score, rouge_n(answer, reference, 1, "recall"))


def groundedness(rows: Sequence[ClaimRow]) -> Figures:
    """AUROC of supported claims against the rest, and agreement with people; whole claims resample.

    The judge calls a claim supported from a probability of 0.5 on.
    """
    clusters = [row.claim for row in rows]
    said = (
        Judged(row.claim, "", row.judge, int(row.judge >= _SUPPORTED), (int(row.supported),))
        for row in rows
    )
    agreed = agreement([*said]).figures
    judge, cover = partial(_auroc, "judge"), partial(_auroc, "cover")
    return {
        "claims": len(rows),
        "claims_supported": sum(row.supported for row in rows),
        "groundedness_auroc": interval_of(judge, rows, clusters),
        "groundedness_auroc_token_cover": interval_of(cover, rows, clusters),
        "groundedness_auroc_gain": interval_of(_gain(judge, cover), rows, clusters),
        **{f"groundedness_{name}": agreed[name] for name in _AGREEMENT},
    }


def _correctness(rows: Sequence[AnswerRow]) -> Figures:
    """Spearman with their judge, over all runs and over those that had documents."""
    retrieved = [row for row in rows if not row.run.startswith(_ALONE)]
    figures: Figures = {
        "questions": len({row.question for row in rows}),
        "answers": len(rows),
        "answers_retrieval": len(retrieved),
    }
    judge, rouge1 = partial(_spearman, "judge"), partial(_spearman, "rouge1")
    for suffix, picked in (("", rows), ("_retrieval", retrieved)):
        clusters = [row.question for row in picked]
        for name, statistic in (
            (f"correctness_spearman{suffix}", judge),
            (f"correctness_spearman{suffix}_rouge1", rouge1),
            (f"correctness_spearman{suffix}_gain", _gain(judge, rouge1)),
            (f"correctness_share{suffix}", partial(_share, "judge")),
            (f"correctness_share{suffix}_theirs", partial(_share, "theirs")),
        ):
            figures[name] = interval_of(statistic, picked, clusters)
    return figures


def _auroc(by: str, rows: Sequence[ClaimRow]) -> Score:
    labels = [row.supported for row in rows]
    if len(set(labels)) < 2:
        return Unresolved("only one kind of case was scored")
    return float(roc_auc_score(labels, [getattr(row, by) for row in rows]))


def _spearman(by: str, rows: Sequence[AnswerRow]) -> Score:
    return correlation("spearman", [(getattr(row, by), row.theirs) for row in rows])


def _share(by: str, rows: Sequence[AnswerRow]) -> Score:
    right = resolved(is_correct(getattr(row, by)) for row in rows)
    return mean(right) if right else Unresolved("no answer has a correctness")


def _gain(
    better: Callable[[Sequence[T]], Score], plain: Callable[[Sequence[T]], Score]
) -> Callable[[Sequence[T]], Score]:
    def difference(rows: Sequence[T]) -> Score:
        one, other = better(rows), plain(rows)
        if is_resolved(one) and is_resolved(other):
            return one - other
        return one if isinstance(one, Unresolved) else other

    return difference


def _line(name: str, value: int | str | Estimate | Unresolved) -> str:
    """A figure with its interval behind it; why there is none, where there is none."""
    if isinstance(value, Unresolved):
        return f"{name}_unresolved {value.reason}"
    if isinstance(value, Estimate):
        return f"{name:50}{value.mean:9.3f}   [{value.low:.3f}, {value.high:.3f}]"
    return f"{name:50}{value:>9}"


if __name__ == "__main__":
    sys.exit(main())
