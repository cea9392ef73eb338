"""Answer relevancy: the questions that an answer would fit."""

from typing import Annotated

from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import Words
from lexloop.nodes.markers import without_markers

QUESTIONS = 3
"""N of HyPA-RAG's formula; the paper leaves it open, and Ragas, which it uses, takes three."""


class Questions(BaseModel):
    """What the model is asked for."""

    questions: Annotated[list[Words], Field(min_length=QUESTIONS, max_length=QUESTIONS)]


async def questions_of(chat: Chat, answer: str) -> list[str]:
    """Questions made from an answer alone, to be compared with the one that was asked.

    The model never sees the original question, which it could only repeat (HyPA-RAG, section 5.2).

    Args:
        chat: The model.
        answer: May hold [n] markers, which are left out.

    Raises:
        ModelError: The model gave no usable reply.
    """
    prompt = prompts.load("questions_of_answer", {"answer", "count"})
    system, user = prompt.render(answer=without_markers(answer), count=QUESTIONS)
    request = ChatRequest("questions_of_answer", system, user, Questions)
    reply = parsed(await chat.ask(request), Questions)
    return [question.strip() for question in reply.questions]
