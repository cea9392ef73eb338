"""Fits the embedded judge of correctness and ships its weights as plain JSON.

    python -m lexloop.finetune.correctness --recorded FILE --gold FILE --out data/judges

A fractional logistic regression over the features of evaluation/correctness.py (Papke and
Wooldridge 1996): the logit of (score - 1) / 4, so that every value lies between 1 and 5. No feature
may count against its direction. What contradicts a reference word by word, and what is said where
nothing answers, is fitted after the rest and beside it: wrong near-copies, and refusals that are
right in other words, would teach that overlap is worth nothing.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.core.types import ABSTENTION
from lexloop.evaluation.case import Case, read_cases
from lexloop.evaluation.correctness import (
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
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.finetune.logistic import (
    FeatureRow,
    Floats,
    Rows,
    feature_matrix,
    fit_bounded,
    labels_of,
    out_of_fold,
    probabilities,
    stored,
    weights_of,
)

NAMES = [field.name for field in fields(AgreementFeatures)]
_LATE = np.isin(
    NAMES,
    ["numbers_missing", "other_number", "negated", "declined_rightly", "answered_wrongly"],
)
_LATE_KINDS = ("no numbers", "other numbers", "negated", "rightly none", "answer to none")
_BOUNDS = [(0.0, None) if place < FOR else (None, 0.0) for place in range(len(NAMES))]
_STRENGTH, _LATE_STRENGTH = 20.0, 1.0
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
    """Fit, write the weights and print what they are worth, cross-validated."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    gold = read_cases(options.gold)
    rows = read_rows([*read_recorded(options.recorded, gold), *altered(gold)])
    options.out.mkdir(parents=True, exist_ok=True)
    weights = as_json(fit(rows))
    write_text(options.out / "correctness.json", json.dumps(weights, indent=2) + "\n")
    print(table(rows, held_out(rows)))


def as_json(weights: GradeWeights) -> dict[str, Any]:
    """Return the weights in the form that the judge reads, to four decimals."""
    numbers = stored(weights, AgreementFeatures)
    return {
        "intercept": numbers["intercept"],
        "good": round(weights.good, 4),
        "weights": numbers["weights"],
    }


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
    for found in read_jsonl(path, RecordedAnswer):
        question = by_id.get(found.id)
        if question is None or question.reference_answer is None:
            raise InputError(
                f"{path}: the answer of run {found.run!r} has the id {found.id!r}, which is no "
                "question with a reference answer in the gold file.",
                "Give the gold file that the answers were recorded for.",
            )
        if found.absolute_correctness is not None:
            texts = (question.question, found.answer, question.reference_answer)
            rows.append(
                ScoredAnswer(found.id, found.run, RECORDED, texts, found.absolute_correctness)
            )
    if not rows:
        raise InputError(f"{path}: no answer was judged.", "Give a file with 1 to 5 scores.")
    return rows


def altered(gold: Sequence[Case]) -> list[ScoredAnswer]:
    """Return what no system wrote but everybody knows the score of: the ends of the scale.

    The reference itself is right. Another question's, an unrelated text, a turned yes, and an
    abstention where there is an answer are wrong; so is an answer where there is none. Other
    numbers, none where there should be some, or a negation more or less spoil an answer.
    """
    rows: list[ScoredAnswer] = []
    for number, question in enumerate(gold):
        reference = question.reference_answer
        if not reference:
            continue
        others = [gold[(number + apart) % len(gold)] for apart in _APART]
        elsewhere = [
            other.reference_answer
            for other in others
            if other.reference_answer and other.id != question.id and not other.out_of_scope
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
    silence, other = (silences[(number + step) % len(silences)] for step in (0, 1))
    return [
        ScoredAnswer(question.id, "", "rightly none", (question.question, other, silence), 5.0),
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

    features = features_of([one.texts for one in answers], load_minilm().embed) if answers else []
    return [
        FeatureRow(
            astuple(found),
            (one.score - LOWEST) / (HIGHEST - LOWEST),
            one.id,
            one.run or one.kind,
            WEIGHTS[one.kind],
        )
        for one, found in zip(answers, features, strict=True)
    ]


def fit(rows: Rows) -> GradeWeights:
    """Fit the weights to recorded answers and altered references."""
    recorded = [row for row in rows if row.kind not in _ALTERED]
    early = [row for row in rows if row.kind not in _LATE_KINDS]
    late = [row for row in rows if row.kind in _LATE_KINDS or row.kind not in _ALTERED]
    weights = np.zeros(len(NAMES))
    intercept, weights[~_LATE] = _regress(early)
    known = intercept + feature_matrix(late) @ weights
    penalty = np.full(int(_LATE.sum()), _LATE_STRENGTH)
    weights[_LATE] = fit_bounded(
        late, feature_matrix(late)[:, _LATE], penalty, _bounds(_LATE), known
    )
    found = GradeWeights(intercept, tuple(weights.tolist()), GOOD)
    share = float(np.mean(labels_of(recorded) >= (GOOD - LOWEST) / (HIGHEST - LOWEST)))
    good = np.quantile(_values(found, recorded), 1.0 - share)
    return replace(found, good=float(np.clip(good, LOWEST + 0.01, HIGHEST - 0.01)))


def _regress(rows: Rows) -> tuple[float, Floats]:
    """Intercept and weights of the early features, with a ridge penalty on what is standardised."""
    features, counts = feature_matrix(rows)[:, ~_LATE], weights_of(rows)
    centroid = np.average(features, axis=0, weights=counts)
    spread = np.sqrt(np.average((features - centroid) ** 2, axis=0, weights=counts)) + 1e-9
    scaled = np.column_stack([np.ones(len(features)), (features - centroid) / spread])
    penalty = np.full(scaled.shape[1], _STRENGTH)
    penalty[0] = 0.0
    bounds = [(None, None), *_bounds(~_LATE)]
    found = fit_bounded(rows, scaled, penalty, bounds)
    weights = found[1:] / spread
    return float(found[0] - weights @ centroid), weights


def _bounds(of: NDArray[np.bool_]) -> list[tuple[float | None, float | None]]:
    return [bounds for bounds, taken in zip(_BOUNDS, of, strict=True) if taken]


def _values(weights: GradeWeights, rows: Rows) -> Floats:
    return LOWEST + (HIGHEST - LOWEST) * probabilities(weights, rows)


def scores(weights: GradeWeights, rows: Rows) -> Floats:
    """Return the judge's scores of rows, from 1 to 5."""
    return np.array([on_scale(float(value), weights.good) for value in _values(weights, rows)])


def held_out(rows: Rows, seeds: int = _SEEDS) -> Floats:
    """Return each row's score by weights that never saw its question, mean of shuffled folds."""
    from sklearn.model_selection import GroupKFold

    questions = np.unique([row.group for row in rows], return_inverse=True)[1]
    total = np.zeros(len(rows))
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(questions.max() + 1)
        folds = GroupKFold(min(_FOLDS, len(order))).split(questions, groups=order[questions])
        total += out_of_fold(rows, lambda train: partial(scores, fit(train)), folds)
    return total / seeds


def table(rows: Rows, found: Floats) -> str:
    """Return mean score and share at or above 4 by run and kind, beside what they should be."""
    lines = [
        "| answers | rows | mean | judge's | share >= 4 | judge's |",
        "|---|---|---|---|---|---|",
    ]
    judged = LOWEST + (HIGHEST - LOWEST) * labels_of(rows)
    for name in dict.fromkeys(row.kind for row in rows):
        of = np.array([row.kind == name for row in rows])
        wanted, got = judged[of], found[of]
        lines.append(
            f"| {name} | {of.sum()} | {got.mean():.2f} | {wanted.mean():.2f} "
            f"| {np.mean(got >= GOOD):.2f} | {np.mean(wanted >= GOOD):.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
