"""Context precision: which of the ranked passages helped."""

from lexloop import prompts
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import number, verdicts_on


async def context_precision(
    chat: Chat, question: str, reference: str, contexts: list[str]
) -> list[bool]:
    """The relevance indicators v_k of HyPA-RAG, section 5.2, one per passage in rank order.

    Args:
        chat: The model.
        question: What was asked.
        reference: The right answer; a passage is relevant when that answer rests on it.
        contexts: The passages' texts, the first ranked first.

    Raises:
        ModelError: The model gave no usable reply.
    """
    if not contexts:
        return []
    prompt = prompts.load("context_precision", {"question", "reference", "passages", "count"})
    system, user = prompt.render(
        question=question,
        reference=reference,
        passages=number("passage", contexts),
        count=len(contexts),
    )
    schema = verdicts_on(len(contexts))
    reply = parsed(await chat.ask(ChatRequest("context_precision", system, user, schema)), schema)
    return [verdict.verdict for verdict in reply.verdicts]
