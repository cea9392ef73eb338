"""Groundedness and answer similarity from 0 to 1 in tenths (Adobe, appendix B)."""

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import TenthsGrade, number
from lexloop.nodes.markers import without_markers


async def groundedness_tenths(chat: Chat, answer: str, contexts: list[str]) -> float:
    """How far an answer rests on its passages, in tenths.

    Args:
        chat: The model.
        answer: May hold [n] markers, which are left out.
        contexts: The passages' texts.

    Raises:
        ModelError: The model gave no usable reply.
    """
    prompt = prompts.load("groundedness_tenths", {"passages", "answer"})
    system, user = prompt.render(
        passages=number("passage", contexts), answer=without_markers(answer)
    )
    request = ChatRequest("groundedness_tenths", system, user, TenthsGrade)
    return parsed(await chat.ask(request), TenthsGrade).score


async def similarity_tenths(chat: Chat, question: str, answer: str, reference: str) -> float:
    """How much an answer is like the reference, point by point and as a whole, in tenths.

    Args:
        chat: The model.
        question: What was asked.
        answer: May hold [n] markers, which are left out.
        reference: The answer hoped for.

    Raises:
        ModelError: The model gave no usable reply.
    """
    prompt = prompts.load("similarity_tenths", {"question", "reference", "answer"})
    system, user = prompt.render(
        question=question, reference=reference, answer=without_markers(answer)
    )
    request = ChatRequest("similarity_tenths", system, user, TenthsGrade)
    return parsed(await chat.ask(request), TenthsGrade).score
