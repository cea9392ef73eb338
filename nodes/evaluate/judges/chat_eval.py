"""ChatEval: a panel of agents with roles discusses the answers in turns and then scores them."""

import functools
from collections.abc import Sequence
from statistics import fmean
from typing import Annotated

from pydantic import BaseModel, Field, create_model

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.fair_eval import prompt_for
from lexloop.nodes.evaluate.judges.replies import TenPoint, Words, number
from lexloop.prompts import Data

SPEAKERS = 4
"""A member of the public, a critic, a lawyer and an ethicist: the panel in the prompts."""
ROUNDS = 2


class Turn(BaseModel):
    """What one agent says, and its score for each answer."""

    remark: Words
    scores: list[TenPoint]


async def chat_eval(
    chat: Chat, question: str, answers: Sequence[str], document: str | None = None
) -> list[float]:
    """Scores from 1 to 10, one per answer, with or without a document (Eval-RAG, section 2).

    Each agent speaks once a round and hears every remark made before, but no scores, which would
    pull its own towards them. A score is the mean of the agents' scores in the last round.

    Args:
        chat: The model.
        question: What was asked.
        answers: One or more, by different systems.
        document: The law to go by; None leaves the agents to their own knowledge.

    Raises:
        ModelError: The model gave no usable reply.
    """
    if not answers:
        return []
    said: list[Data] = []
    turns: list[Turn] = []
    for speaker in [*range(1, SPEAKERS + 1)] * ROUNDS:
        name, shown = prompt_for("chat_eval", document)
        prompt = prompts.load(name, {"speaker", "question", "answers", "remarks", *shown})
        system, user = prompt.render(
            speaker=speaker,
            question=question,
            answers=number("answer", answers),
            remarks=said,
            **shown,
        )
        schema = turn_on(len(answers))
        turn = parsed(await chat.ask(ChatRequest(name, system, user, schema)), schema)
        said = [*said, Data("remark", turn.remark, speaker)]
        turns.append(turn)
    scores = [turn.scores for turn in turns[-SPEAKERS:]]
    return [fmean(of_one) for of_one in zip(*scores, strict=True)]


@functools.cache
def turn_on(answers: int) -> type[Turn]:
    """A turn with just one score per answer."""
    scores = Annotated[list[TenPoint], Field(min_length=answers, max_length=answers)]
    return create_model(f"TurnOn{answers}", __base__=Turn, scores=(scores, ...))
