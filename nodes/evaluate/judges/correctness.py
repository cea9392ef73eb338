"""Absolute correctness from 1 to 5 against a reference, by one of three prompts."""

from typing import Literal, get_args

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import Grade
from lexloop.nodes.markers import without_markers

Rubric = Literal["general", "criteria", "examples"]
"""HyPA-RAG A.7, methods 1 to 3: a general scale; a criterion per grade; with an example per grade,
a checklist and edge cases."""
RUBRICS: tuple[Rubric, ...] = get_args(Rubric)


async def correctness(
    chat: Chat, question: str, answer: str, reference: str, rubric: Rubric
) -> float:
    """How correct an answer is, from 1 to 5.

    Args:
        chat: The model.
        question: What was asked.
        answer: May hold [n] markers, which are left out.
        reference: The right answer.
        rubric: Which of the three prompts.

    Raises:
        ModelError: The model gave no usable reply.
    """
    name = f"correctness_{rubric}"
    prompt = prompts.load(name, {"question", "reference", "answer"})
    system, user = prompt.render(
        question=question, reference=reference, answer=without_markers(answer)
    )
    return parsed(await chat.ask(ChatRequest(name, system, user, Grade)), Grade).score
