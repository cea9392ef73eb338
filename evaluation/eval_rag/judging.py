"""Every answer judged: those to one question beside each other, against the same document."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from typing_extensions import TypedDict

from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.judges import AnswerJudge, Document, Scores
from lexloop.evaluation.eval_rag.questions import Match, QuestionIndex, side_by_side
from lexloop.evaluation.score import Unresolved, as_json

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
    questions = [answers[places[0]].question for places in groups]
    found: list[Match | Unresolved] = [_NO_INDEX for _ in groups]
    if index is not None:
        nearest = index.nearest(questions, [_documents(answers, places) for places in groups])
        found = [match or _NO_DOCUMENT for match in nearest]
    of_answer = {i: match for places, match in zip(groups, found, strict=True) for i in places}
    documents = [_text(of_answer[i]) for i in range(len(answers))]
    scores = judge.scores(answers, documents, progress)
    if ask is not None:

        def work(group: int) -> list[Scores]:
            own = [answers[i] for i in groups[group]]
            return ask(questions[group], own, _text(found[group]))

        asking = partial(progress, "asking the model")
        given = side_by_side(work, range(len(groups)), asking, workers)
        for places, by_model in zip(groups, given, strict=True):
            for i, named in zip(places, by_model, strict=True):
                scores[i] |= named
    return [_record(answer, of_answer[i], scores[i]) for i, answer in enumerate(answers)]


def _grouped(answers: Sequence[Answer]) -> list[list[int]]:
    """The places of answers to one question, whatever its case and blanks, in lots for a prompt."""
    last: dict[str, list[int]] = {}
    groups: list[list[int]] = []
    for place, answer in enumerate(answers):
        key = " ".join(answer.question.casefold().split())
        if key not in last or len(last[key]) == _MOST_TOGETHER:
            last[key] = []
            groups.append(last[key])
        last[key].append(place)
    return groups


def _documents(answers: Sequence[Answer], places: Sequence[int]) -> tuple[str, ...] | None:
    """The documents that the answers name; None where none does."""
    named = [answers[place].documents for place in places]
    return tuple(dict.fromkeys(name for names in named if names for name in names)) or None


def _text(found: Match | Unresolved) -> Document:
    return found if isinstance(found, Unresolved) else found[0].authority.text


def _record(answer: Answer, found: Match | Unresolved, scores: Scores) -> AnswerRecord:
    document: dict[str, Any] | None = None
    if not isinstance(found, Unresolved):
        entry, similarity = found
        one = entry.authority
        document = {"label": one.label, "kind": one.kind, "origin": one.origin}
        document |= {"nearest_question": entry.question, "similarity": similarity}
    return {
        "id": answer.id,
        "system": answer.system,
        "question": answer.question,
        "answer": answer.answer,
        "human": answer.human,
        "document": document,
        "scores": {name: as_json(score) for name, score in scores.items()},
    }
