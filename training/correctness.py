"""Fits the embedded judge of correctness and ships its weights as plain JSON.

    python -m training.correctness --recorded FILE --gold FILE --out data/judges

A fractional logistic regression over the features of ``lexloop_eval.correctness`` (Papke and
Wooldridge 1996): the logit of (score - 1) / 4, so that every value is between 1 and 5. No feature
may count against its direction. Contradictions of a reference word by word, and answers where
there is none, are fitted afterwards and separately: wrong near-copies, and right refusals in other
words, would teach that overlap is worth nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.types import ABSTENTION
from lexloop_eval.case import Case, read_cases
from lexloop_eval.correctness import (
    FOR,
    GOOD,
    HIGHEST,
    LOWEST,
    AgreementFeatures,
    GradeWeights,
    Triple,
    features_of,
    on_scale,
)
from lexloop_eval.report.tables import markdown_table
from training import logistic
from training.logistic import FeatureRow, Floats, Rows

NAMES = [field.name for field in fields(AgreementFeatures)]
_LATE = {"numbers_missing", "other_number", "negated", "declined_rightly", "answered_wrongly"}
_LATE_KINDS = ("no numbers", "other numbers", "negated", "rightly none", "answer to none")
_PENALTY, _LATE_PENALTY = 20.0, 1.0
_FOLDS, _SEEDS = 10, 4
RECORDED = "recorded"
WEIGHTS = {
    RECORDED: 1.0,
    "itself": 0.1,
    "another's": 0.04,
    "unrelated": 0.3,
    "abstention": 0.1,
    "rightly none": 0.3,
    "answer to none": 0.6,
    "turned verdict": 0.1,
    "other numbers": 1.0,
    "no numbers": 0.5,
    "negated": 0.6,
}
"""The weight of a row of each kind; tried on the development half, cross-validated by question."""
_ALTERED = frozenset(WEIGHTS) - {RECORDED}
_APART = (37, 71)  # how far on in the file the questions are whose references are tried
_UNRELATED = (
    "Knead the dough for ten minutes, let it rise for an hour and bake it in a hot oven.",
    "The lake is fed by three rivers and freezes over in most winters.",
    "The second act opens with a duet for flute and harp.",
    "A bicycle chain wants cleaning and oil every few weeks, and more often in the rain.",
)
_SILENCES = (
    "The sources say nothing about this, so the question cannot be answered from them.",
    "This is not mentioned in the material at hand.",
    "No information on that point is given in the texts.",
    "I could not find an answer in what I was given.",
)
_VERB = re.compile(r"\b(must|may|can|is|are)\b(?! not\b)")


def main() -> None:
    """Fit, write the weights and print their cross-validated scores."""
    parser = logistic.options(__doc__)
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    arguments = parser.parse_args()
    gold = read_cases(arguments.gold)
    rows = read_rows([*read_recorded(arguments.recorded, gold), *altered(gold)])
    logistic.ship(arguments.out / "correctness.json", as_json(fit(rows)))
    print(table(rows, held_out(rows)))


def as_json(weights: GradeWeights) -> dict[str, Any]:
    """Return the weights in the form that the judge reads, to four decimals."""
    return {**logistic.stored(weights, AgreementFeatures), "good": round(weights.good, 4)}


class RecordedAnswer(BaseModel):
    """An answer that a system gave, with the 1 to 5 of its authors' judge; null was not judged."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    run: str = Field(min_length=1)
    answer: str
    absolute_correctness: float | None = Field(ge=1, le=5, allow_inf_nan=False)


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer with the score it should get.

    Args:
        run: The system; empty for an altered reference.
        kind: One of ``WEIGHTS``.
        texts: Question, answer and reference answer.
    """

    id: str
    run: str
    kind: str
    texts: Triple
    score: float


def read_recorded(path: Path, gold: Sequence[Case]) -> list[ScoredAnswer]:
    """Return the judged answers, each beside its question and reference.

    Args:
        path: Lines with ``id`` (of the gold question), ``run``, ``answer`` and
            ``absolute_correctness``.
        gold: The questions.

    Raises:
        InputError: A line is malformed, names an unknown question or one without a reference, or
            no answer was judged.
    """
    by_id = {question.id: question for question in gold}
    rows = []
    for recorded in read_jsonl(path, RecordedAnswer):
        question = by_id.get(recorded.id)
        if question is None or question.reference_answer is None:
            raise InputError(
                f"{path}: the answer of run {recorded.run!r} has the id {recorded.id!r}, which "
                "is not a question with a reference answer in the gold file.",
                "Give the gold file that the answers were recorded for.",
            )
        if recorded.absolute_correctness is not None:
            texts = (question.question, recorded.answer, question.reference_answer)
            rows.append(
                ScoredAnswer(
                    recorded.id, recorded.run, RECORDED, texts, recorded.absolute_correctness
                )
            )
    if not rows:
        raise InputError(f"{path}: no answer was judged.", "Give a file with 1 to 5 scores.")
    return rows


def altered(gold: Sequence[Case]) -> list[ScoredAnswer]:
    """Return answers that no system wrote but whose scores are known: the ends of the scale.

    The reference itself is right. Another question's answer, an unrelated text, a reversed yes, and
    an abstention if there is an answer are wrong, and so is an answer if there is none. Other
    numbers, missing numbers, or a negation more or less spoil an answer.
    """
    rows: list[ScoredAnswer] = []
    for number, question in enumerate(gold):
        reference = question.reference_answer
        if not reference:
            continue
        elsewhere_questions = [gold[(number + apart) % len(gold)] for apart in _APART]
        elsewhere = [
            neighbour.reference_answer
            for neighbour in elsewhere_questions
            if neighbour.reference_answer
            and neighbour.id != question.id
            and not neighbour.out_of_scope
        ]
        answers = [
            ("itself", reference, 5.0),
            ("unrelated", _UNRELATED[number % len(_UNRELATED)], 1.0),
            ("abstention", ABSTENTION, 5.0 if question.out_of_scope else 1.0),
            ("other numbers", _other_numbers(reference), 2.0),
            ("no numbers", re.sub(r"\d+", "some", reference), 3.0),
            ("turned verdict", _turned(reference), 1.0),
        ]
        if question.out_of_scope:
            answers += [("answer to none", text, 1.0) for text in elsewhere]
        else:
            answers += [("another's", text, 1.5) for text in elsewhere]
            answers.append(("negated", _negated(reference), 2.0))
            rows += _silences(question, reference, number)
        rows += [
            ScoredAnswer(question.id, "", kind, (question.question, answer, reference), score)
            for kind, answer, score in answers
            if kind == "itself" or answer != reference
        ]
    return rows


def _silences(question: Case, answer: str, number: int) -> list[ScoredAnswer]:
    """The question as if nothing answered it: another silence is right, an answer is wrong."""
    silences = (ABSTENTION, *_SILENCES)
    silence, other_silence = (silences[(number + step) % len(silences)] for step in (0, 1))
    return [
        ScoredAnswer(
            question.id, "", "rightly none", (question.question, other_silence, silence), 5.0
        ),
        ScoredAnswer(question.id, "", "answer to none", (question.question, answer, silence), 1.0),
    ]


def _other_numbers(text: str) -> str:
    return re.sub(r"\d+", lambda digits: str(int(digits[0]) + 3), text)


def _turned(text: str) -> str:
    return re.sub(r"^(?:Yes|No)\b", lambda word: "No" if word[0] == "Yes" else "Yes", text)


def _negated(text: str) -> str:
    if re.search(r"\bnot\b", text):
        return re.sub(r"\bnot ", "", text)
    return _VERB.sub(r"\1 not", text)


def read_rows(answers: Sequence[ScoredAnswer]) -> list[FeatureRow]:
    """Return the features of every answer; a run or a way of altering is a kind."""
    from lexloop.models.minilm import load_minilm

    features = (
        features_of([answer.texts for answer in answers], load_minilm().embed) if answers else []
    )
    return [
        FeatureRow(
            astuple(features_of_answer),
            (answer.score - LOWEST) / (HIGHEST - LOWEST),
            answer.id,
            answer.run or answer.kind,
            WEIGHTS[answer.kind],
        )
        for answer, features_of_answer in zip(answers, features, strict=True)
    ]


def fit(rows: Rows) -> GradeWeights:
    """Fit the weights to recorded answers and altered references."""
    recorded = [row for row in rows if row.kind not in _ALTERED]
    early = [row for row in rows if row.kind not in _LATE_KINDS]
    late = [row for row in rows if row.kind in _LATE_KINDS or row.kind not in _ALTERED]
    features, counts = logistic.feature_matrix(early), logistic.weights_of(early)
    middle = np.average(features, axis=0, weights=counts)
    spread = np.sqrt(np.average((features - middle) ** 2, axis=0, weights=counts)) + 1e-9
    first = logistic.fit(early, _PENALTY, bounds=_bounds(late=False), spread=spread)
    base = logistic.log_odds(first, late)
    late_weights = logistic.fit(late, _LATE_PENALTY, bounds=_bounds(late=True), known=base)
    weights = tuple(map(sum, zip(first.weights, late_weights.weights, strict=True)))
    fitted = GradeWeights(first.intercept, weights, GOOD)
    share = float(np.mean(_on_five(logistic.labels_of(recorded)) >= GOOD))
    good = np.quantile(_on_five(logistic.probabilities(fitted, recorded)), 1.0 - share)
    return replace(fitted, good=float(np.clip(good, LOWEST + 0.01, HIGHEST - 0.01)))


def _bounds(late: bool) -> list[tuple[float | None, float | None]]:
    """Return bounds by direction, with zero for the features of the other fit."""
    return [
        (0.0, 0.0) if (name in _LATE) is not late else (0.0, None) if n < FOR else (None, 0.0)
        for n, name in enumerate(NAMES)
    ]


def _on_five(shares: Floats) -> Floats:
    return LOWEST + (HIGHEST - LOWEST) * shares


def scores(weights: GradeWeights, rows: Rows) -> Floats:
    """Return the judge's scores of rows, from 1 to 5."""
    values = _on_five(logistic.probabilities(weights, rows))
    return np.array([on_scale(float(value), weights.good) for value in values])


def held_out(rows: Rows, seeds: int = _SEEDS) -> Floats:
    """Return each row's score by weights that never saw its question, mean of shuffled folds."""
    from sklearn.model_selection import GroupKFold

    questions = np.unique([row.group for row in rows], return_inverse=True)[1]
    total = np.zeros(len(rows))
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(questions.max() + 1)
        folds = GroupKFold(min(_FOLDS, len(order))).split(questions, groups=order[questions])
        total += logistic.out_of_fold(rows, lambda train: partial(scores, fit(train)), folds)
    return total / seeds


def table(rows: Rows, found: Floats) -> str:
    """Return mean score and share at or above 4 by run and kind, with the right ones."""
    right, lines = _on_five(logistic.labels_of(rows)), list[list[object]]()
    for kind, in_kind in logistic.kinds_of(rows):
        means = (found[in_kind], right[in_kind], found[in_kind] >= GOOD, right[in_kind] >= GOOD)
        lines.append([kind, in_kind.sum(), *(f"{np.mean(values):.2f}" for values in means)])
    head = ("answers", "rows", "mean", "judge's", "share >= 4", "judge's")
    return "\n".join(markdown_table(head, lines))


if __name__ == "__main__":
    main()
