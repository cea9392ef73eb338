"""Questions of every type asked for from a model, their evidence found again in the documents."""

import math
from collections.abc import Sequence
from functools import partial
from random import Random

from pydantic import BaseModel, Field

from lexloop.core.types import Chunk
from lexloop.documents.text.tokens import find_quote
from lexloop.evaluation.asking import Asker, prompted, questions_of
from lexloop.evaluation.case import OUT_OF_SCOPE, Case, Span
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.testset.make import QUESTION_TYPES, made_case
from lexloop.models.request import Chat
from lexloop.prompts import Data
from lexloop.store.view import View

_OF_TWO = ("double", "compare", "complex_situational")
_EXTRA, _SPARE = 1.4, 2
_FEWEST_CHARS = 120


class WrittenQuestion(BaseModel):
    """A question with its answer and its evidence, as the model writes it."""

    question: str = Field(min_length=8)
    answer: str = Field(min_length=1)
    quotes: list[str] = []
    history_user: str = ""
    history_assistant: str = ""


class ModelMaker:
    """Asks a model for questions about passages drawn at random.

    Args:
        view: The documents.
        asker: Asks the model and keeps its replies.
        seed: Of the passages drawn.
    """

    def __init__(self, view: View, asker: Asker, seed: int) -> None:
        self._view, self._asker, self._seed = view, asker, seed
        self._chunks = list(view.every_chunk())
        self.failed = 0

    def __call__(self, question_type: str, wanted: int) -> Sequence[Case]:
        """Return rather more questions of a type than are wanted, all with evidence that was found.

        Raises:
            ModelUnavailable: The first replies all came to nothing.
        """
        drawn = self._drawn(question_type, math.ceil(wanted * _EXTRA) + _SPARE)
        ask = partial(_writing, self._asker, question_type)
        replies = list(questions_of(self._asker, ask, drawn))
        self.failed += sum(isinstance(reply, Unresolved) for reply in replies)
        made = [
            case_of(reply, question_type, chunks, self._view)
            for reply, chunks in zip(replies, drawn, strict=True)
            if not isinstance(reply, Unresolved)
        ]
        return [case for case in made if case is not None]

    def _drawn(self, question_type: str, count: int) -> list[list[Chunk]]:
        rng = Random(f"{self._seed}:{question_type}")  # noqa: S311 - a choice, no secret
        own = [chunk for chunk in self._chunks if len(chunk["text"]) >= _FEWEST_CHARS]
        own = own or self._chunks
        each = 2 if question_type in _OF_TWO and len(own) > 1 else 1
        sets: list[list[Chunk]] = []
        deck: list[Chunk] = []
        while len(sets) < count and len(sets) < 3 * len(own):
            if len(deck) < each:
                deck = rng.sample(own, len(own))
            sets.append([deck.pop() for _ in range(each)])
        return sets


async def _writing(chat: Chat, question_type: str, chunks: Sequence[Chunk]) -> WrittenQuestion:
    number = list(QUESTION_TYPES).index(question_type) + 1
    passages = [Data("passage", chunk["text"], n) for n, chunk in enumerate(chunks, start=1)]
    return await prompted(chat, "make_question", WrittenQuestion, number=number, passages=passages)


def case_of(
    reply: WrittenQuestion, question_type: str, chunks: Sequence[Chunk], view: View
) -> Case | None:
    """Return the reply as a case; None where a quote is not in the passages, or there is none."""
    found = [span for quote in reply.quotes if (span := _located(quote, chunks))]
    nowhere = question_type == OUT_OF_SCOPE
    if not nowhere and (not found or len(found) < len(reply.quotes)):
        return None
    turns: tuple[str, ...] = ()
    if question_type == "conversational":
        if not reply.history_user.strip():
            return None
        answered = reply.history_assistant.strip() or "What would you like to know about it?"
        turns = reply.history_user.strip(), answered
    spans = () if nowhere else tuple(dict.fromkeys(found))
    question, answer = reply.question.strip(), reply.answer.strip()
    return made_case(view, question_type, question, answer, spans, turns=turns)


def _located(quote: str, chunks: Sequence[Chunk]) -> Span | None:
    """Return the place of a quote; blanks and line breaks may differ."""
    for chunk in chunks:
        if found := find_quote(quote, chunk["text"]):
            start, end = found
            return Span(
                document=chunk["document"],
                start=chunk["start"] + start,
                end=chunk["start"] + end,
                section=chunk["section"],
            )
    return None
