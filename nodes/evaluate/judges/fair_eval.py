"""FairEval: answers scored in every order, each time from several pieces of evidence.

The pieces come in one structured reply, each reasoned afresh before its scores. Calls of their own
would have to be sampled to differ, while judges run at temperature 0 and are kept by content; and
one reply reads question, answers and document once.
"""

import functools
from collections.abc import Sequence
from statistics import fmean
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, create_model

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import TenPoint, number

PIECES = 3
"""Pieces of evidence per order, as FairEval's k."""


class Piece(BaseModel):
    """One piece of evidence: reasoning, then a score for each answer."""

    reasoning: str = ""
    scores: list[TenPoint]


class Evidence(BaseModel):
    """What the model is asked for."""

    evidence: list[Piece]


async def fair_eval(
    chat: Chat, question: str, answers: Sequence[str], document: str | None = None
) -> list[float]:
    """Scores from 1 to 10, one per answer, with or without a document (Eval-RAG, section 2).

    Every answer stands once in every place: two answers are judged in both orders, which evens
    out what a model gives for the place alone. A score is the mean over orders and pieces.

    Args:
        chat: The model.
        question: What was asked.
        answers: One or more, by different systems.
        document: The law to go by; None leaves the model to its own knowledge.

    Raises:
        ModelError: The model gave no usable reply.
    """
    given: list[list[float]] = [[] for _ in answers]
    for first in range(len(answers)):
        order = [*range(first, len(answers)), *range(first)]
        evidence = await _evidence(chat, question, [answers[i] for i in order], document)
        for place, answer in enumerate(order):
            given[answer] += [piece.scores[place] for piece in evidence]
    return [fmean(scores) for scores in given]


async def _evidence(
    chat: Chat, question: str, answers: list[str], document: str | None
) -> list[Piece]:
    name, shown = prompt_for("fair_eval", document)
    prompt = prompts.load(name, {"question", "answers", "pieces", *shown})
    system, user = prompt.render(
        question=question, answers=number("answer", answers), pieces=PIECES, **shown
    )
    schema = evidence_on(len(answers))
    return parsed(await chat.ask(ChatRequest(name, system, user, schema)), schema).evidence


def prompt_for(name: str, document: str | None) -> tuple[str, dict[str, str]]:
    """The prompt's name with or without a document, and what to render it with besides."""
    return (name, {}) if document is None else (f"{name}_document", {"document": document})


@functools.cache
def evidence_on(answers: int) -> type[Evidence]:
    """Just so many pieces of evidence, each with just one score per answer."""

    def complete(pieces: list[Piece]) -> list[Piece]:
        if any(len(piece.scores) != answers for piece in pieces):
            raise ValueError(f"give exactly {answers} scores in each, one per answer")
        return pieces

    pieces = Annotated[
        list[Piece],
        Field(min_length=PIECES, max_length=PIECES),
        AfterValidator(complete),
    ]
    return create_model(f"EvidenceOn{answers}", __base__=Evidence, evidence=(pieces, ...))
