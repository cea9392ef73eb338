"""Noise by a model where one is there: vaguer, more verbose, more concise (HyPA-RAG, A.9)."""

from random import Random

from pydantic import BaseModel, Field

from lexloop.core.score import Unresolved
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.testset.noise import NOISES
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.prompts import load

MANNERS = {"vague": 1, "verbose": 2, "shortened": 3}
"""The kinds of noise that a model gives, and their numbers in the prompt."""


class Reworded(BaseModel):
    """What the model is asked for."""

    question: str = Field(min_length=1)


class ModelNoise:
    """Applies noise by name; what takes understanding is asked of the model.

    Args:
        asker: Asks the model; None leaves everything to rules.

    ``failed`` counts the questions that rules reworded because the model did not.
    """

    def __init__(self, asker: Asker | None) -> None:
        self._asker = asker
        self.failed = 0

    def __call__(self, kind: str, text: str, rng: Random) -> str:
        """The question with that noise."""
        if self._asker is None or kind not in MANNERS:
            return NOISES[kind](text, rng)
        reply = self._asker.settle(_rewording(self._asker, text, MANNERS[kind]))
        if isinstance(reply, Unresolved):
            self.failed += 1
            return NOISES[kind](text, rng)
        return " ".join(reply.question.split())


async def _rewording(chat: Chat, text: str, manner: int) -> Reworded:
    prompt = load("augment_question", ("manner", "question"))
    system, user = prompt.render(manner=manner, question=text)
    reply = await chat.ask(ChatRequest("augment_question", system, user, schema=Reworded))
    return parsed(reply, Reworded)
