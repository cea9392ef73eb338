"""Every answer judged: those to one question beside each other, against the same document."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from typing_extensions import TypedDict

from lexloop.core.score import Unresolved, as_json
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.authorities import Entry
from lexloop.evaluation.eval_rag.index import Match, QuestionIndex
from lexloop.evaluation.eval_rag.judges import AnswerJudge, Document, Scores
from lexloop.evaluation.eval_rag.questions import side_by_side

Progress = Callable[[str, int, int], None]
Ask = Callable[[str, Sequence[Answer], Document], list[Scores]]
_MOST_TOGETHER = 8
"""The most answers to one question that a model compares in one call."""
_NO_INDEX = Unresolved("no corpus and no pairs are given to take a document from")
_NO_DOCUMENT = Unresolved("the index holds nothing of the documents that the line names")


class AnswerRecord(TypedDict):
    """One answer with its scores: a line of ``judged.jsonl``.

    ``document`` says what Eval-RAG's index gave for the question: its label, kind and origin, the
    known question that led to it and how similar that is; None where there is no document. A
    score is a number or ``{"unresolved": reason}``.
    """

    id: str
    system: str
    question: str
    answer: str
    human: float | None
    document: dict[str, Any] | None
    scores: dict[str, float | dict[str, str]]


@dataclass
class _Group:
    """Answers to one question, by their places in the file, and the document for it."""

    question: str
    places: list[int] = field(default_factory=list)
    found: Match | Unresolved = _NO_INDEX

    @property
    def document(self) -> Document:
        return self.found if isinstance(self.found, Unresolved) else self.found[0].authority.text


def judge_answers(
    answers: Sequence[Answer],
    index: QuestionIndex | None,
    judge: AnswerJudge,
    ask: Ask | None,
    *,
    progress: Progress,
    workers: int = 4,
) -> list[AnswerRecord]:
    """Return a record for each answer, judged in every way that there is, in their order.

    Args:
        answers: In the order of their file.
        index: Gives each question its document; None leaves what needs one unresolved.
        judge: Judges each answer.
        ask: Has a model judge the answers to a question beside its document; None where no model
            is configured.
        progress: Called with ``judging`` or ``asking the model``, what is done and how much
            there is.
        workers: Questions that are put to the model at once.

    Raises:
        ModelError: The model's host can answer nothing; what it answered before is kept.
    """
    groups = _grouped(answers)
    if index is not None:
        wanted = [_documents(answers, group) for group in groups]
        nearest = index.nearest([group.question for group in groups], wanted)
        for group, match in zip(groups, nearest, strict=True):
            group.found = match or _NO_DOCUMENT
    of_answer = {place: group for group in groups for place in group.places}
    documents = [of_answer[place].document for place in range(len(answers))]
    scores = judge.scores(answers, documents, progress)
    if ask is not None:

        def work(group: _Group) -> list[Scores]:
            return ask(group.question, [answers[i] for i in group.places], group.document)

        given = side_by_side(work, groups, partial(progress, "asking the model"), workers)
        for group, by_model in zip(groups, given, strict=True):
            for place, named in zip(group.places, by_model, strict=True):
                scores[place] |= named
    return [
        _record(answer, of_answer[place].found, scores[place])
        for place, answer in enumerate(answers)
    ]


def _grouped(answers: Sequence[Answer]) -> list[_Group]:
    """Answers to the same question, apart from case and blanks, in lots that fit into a prompt."""
    open_groups: dict[str, _Group] = {}
    groups: list[_Group] = []
    for place, answer in enumerate(answers):
        key = " ".join(answer.question.casefold().split())
        group = open_groups.get(key)
        if group is None or len(group.places) == _MOST_TOGETHER:
            group = open_groups[key] = _Group(answer.question)
            groups.append(group)
        group.places.append(place)
    return groups


def _documents(answers: Sequence[Answer], group: _Group) -> tuple[str, ...] | None:
    """The documents that the answers name; None where none does."""
    named = [answers[place].documents for place in group.places]
    return tuple(dict.fromkeys(name for names in named if names for name in names)) or None


def _record(answer: Answer, found: Match | Unresolved, scores: Scores) -> AnswerRecord:
    return {
        "id": answer.id,
        "system": answer.system,
        "question": answer.question,
        "answer": answer.answer,
        "human": answer.human,
        "document": None if isinstance(found, Unresolved) else _described(*found),
        "scores": {name: as_json(score) for name, score in scores.items()},
    }


def _described(entry: Entry, similarity: float) -> dict[str, Any]:
    return {
        "label": entry.authority.label,
        "kind": entry.authority.kind,
        "origin": entry.authority.origin,
        "nearest_question": entry.question,
        "similarity": similarity,
    }
