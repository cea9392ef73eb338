"""Every answer judged: those to one question beside each other, against the same document."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from typing_extensions import TypedDict

from lexloop.core.score import Score, Unresolved, as_json
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.embedded_scores import Case, EmbeddedScores
from lexloop.evaluation.eval_rag.index import Found, QuestionIndex
from lexloop.evaluation.eval_rag.model_scores import MOST_TOGETHER, ModelScores
from lexloop.evaluation.eval_rag.side_by_side import side_by_side

Progress = Callable[[str, int, int], None]
_NO_INDEX = Unresolved("no corpus and no pairs are given to take a document from")
_NO_DOCUMENT = Unresolved("the index holds nothing of the documents that the line names")


class Judged(TypedDict):
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
    found: Found | Unresolved = _NO_INDEX


def judge_answers(
    answers: Sequence[Answer],
    index: QuestionIndex | None,
    embedded: EmbeddedScores,
    model: ModelScores | None,
    *,
    progress: Progress,
    workers: int = 4,
) -> list[Judged]:
    """Judge answers in every way that there is.

    Args:
        answers: In the order of their file.
        index: Gives each question its document; None leaves what needs one unresolved.
        embedded: Judges each answer.
        model: Judges the answers to a question; None where no model is configured.
        progress: Called with ``judging`` or ``asking the model``, what is done and how much
            there is.
        workers: How many questions are put to the model at once.

    Returns:
        A row for each answer, in their order.

    Raises:
        ModelError: The model's host can answer nothing; what it answered before is kept.
    """
    groups = _grouped(answers)
    if index is not None:
        wanted = [_documents(answers, group) for group in groups]
        nearest = index.nearest([group.question for group in groups], wanted)
        for group, one in zip(groups, nearest, strict=True):
            group.found = one or _NO_DOCUMENT
    sources: list[Found | Unresolved] = [_NO_INDEX for _ in answers]
    for group in groups:
        for place in group.places:
            sources[place] = group.found
    cases = [Case(answer, found) for answer, found in zip(answers, sources, strict=True)]
    scores = embedded.of(cases, progress)
    if model is not None:
        _ask_model(answers, groups, model, scores=scores, progress=progress, workers=workers)
    rows = zip(answers, sources, scores, strict=True)
    return [_judged(answer, source, named) for answer, source, named in rows]


def _grouped(answers: Sequence[Answer]) -> list[_Group]:
    """Answers to the same question, apart from case and blanks, in lots that fit into a prompt."""
    open_groups: dict[str, _Group] = {}
    groups: list[_Group] = []
    for place, answer in enumerate(answers):
        key = " ".join(answer.question.casefold().split())
        group = open_groups.get(key)
        if group is None or len(group.places) == MOST_TOGETHER:
            group = open_groups[key] = _Group(answer.question)
            groups.append(group)
        group.places.append(place)
    return groups


def _documents(answers: Sequence[Answer], group: _Group) -> tuple[str, ...] | None:
    """The documents that the answers name; None where none does."""
    named = [answers[place].documents for place in group.places]
    return tuple(dict.fromkeys(name for names in named if names for name in names)) or None


def _ask_model(
    answers: Sequence[Answer],
    groups: Sequence[_Group],
    model: ModelScores,
    *,
    scores: list[dict[str, Score]],
    progress: Progress,
    workers: int,
) -> None:
    """Add the model's scores, several questions at once."""

    def judge(group: _Group) -> list[dict[str, Score]]:
        return model.of(group.question, [answers[i] for i in group.places], group.found)

    def take(group: _Group, given: list[dict[str, Score]]) -> None:
        for place, named in zip(group.places, given, strict=True):
            scores[place] |= named

    report = partial(progress, "asking the model")
    side_by_side(judge, groups, take, report, workers)


def _judged(answer: Answer, source: Found | Unresolved, scores: dict[str, Score]) -> Judged:
    return {
        "id": answer.id,
        "system": answer.system,
        "question": answer.question,
        "answer": answer.answer,
        "human": answer.human,
        "document": None if isinstance(source, Unresolved) else _described(source),
        "scores": {name: as_json(score) for name, score in scores.items()},
    }


def _described(found: Found) -> dict[str, Any]:
    authority = found.authority
    return {
        "label": authority.label,
        "kind": authority.kind,
        "origin": authority.origin,
        "nearest_question": found.question,
        "similarity": found.similarity,
    }
