"""The rows that the correctness judge is fitted on: recorded answers and altered references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.types import ABSTENTION
from lexloop.evaluation.case import Case
from lexloop.evaluation.correctness import Triple
from lexloop.evaluation.jsonl import read_jsonl

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
"""What a row of each kind counts; tried on the development half, cross-validated by question."""
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


class Recorded(BaseModel):
    """An answer that a system gave, with the 1 to 5 of its authors' judge; null was not judged."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    run: str = Field(min_length=1)
    answer: str
    absolute_correctness: float | None = Field(ge=1, le=5, allow_inf_nan=False)


@dataclass(frozen=True)
class Row:
    """An answer with the score it should get.

    Args:
        id: Of the gold question: rows of one question never cross a fold.
        run: The system; empty for an altered reference.
        kind: One of ``WEIGHTS``.
        texts: Question, answer and reference answer.
        score: From 1 to 5.
    """

    id: str
    run: str
    kind: str
    texts: Triple
    score: float


def read_recorded(path: Path, gold: Sequence[Case]) -> list[Row]:
    """The judged answers, each beside its question and reference.

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
    for found in read_jsonl(path, Recorded):
        question = by_id.get(found.id)
        if question is None or question.reference_answer is None:
            raise InputError(
                f"{path}: the answer of run {found.run!r} has the id {found.id!r}, which is no "
                "question with a reference answer in the gold file.",
                "Give the gold file that the answers were recorded for.",
            )
        if found.absolute_correctness is not None:
            texts = (question.question, found.answer, question.reference_answer)
            rows.append(Row(found.id, found.run, RECORDED, texts, found.absolute_correctness))
    if not rows:
        raise InputError(f"{path}: no answer was judged.", "Give a file with 1 to 5 scores.")
    return rows


def altered(gold: Sequence[Case]) -> list[Row]:
    """What no system wrote but everybody knows the score of: the ends of the scale.

    The reference itself is right. Another question's, an unrelated text, a turned yes, and an
    abstention where there is an answer are wrong; so is an answer where there is none. Other
    numbers, none where there should be some, or a negation more or less spoil an answer.
    """
    rows: list[Row] = []
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
            Row(question.id, "", kind, (question.question, answer, reference), score)
            for kind, answer, score in answers
            if kind == "itself" or answer != reference
        ]
    return rows


def _silences(question: Case, answer: str, number: int) -> list[Row]:
    """The question as if nothing answered it: another silence is right, an answer is wrong."""
    silences = (ABSTENTION, *_SILENCES)
    silence, other = (silences[(number + step) % len(silences)] for step in (0, 1))
    return [
        Row(question.id, "", "rightly none", (question.question, other, silence), 5.0),
        Row(question.id, "", "answer to none", (question.question, answer, silence), 1.0),
    ]


def _other_numbers(text: str) -> str:
    return re.sub(r"\d+", lambda digits: str(int(digits[0]) + 3), text)


def _turned(text: str) -> str:
    return re.sub(r"^(?:Yes|No)\b", lambda word: "No" if word[0] == "Yes" else "Yes", text)


def _negated(text: str) -> str:
    if re.search(r"\bnot\b", text):
        return re.sub(r"\bnot ", "", text)
    return _VERB.sub(r"\1 not", text)
