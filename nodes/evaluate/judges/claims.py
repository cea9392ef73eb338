"""Faithfulness and context recall: a text's claims, and whether the passages bear each one out.

Two calls, not one: what is claimed is settled before any passage is seen, so the denominator does
not move with what was retrieved, and the claims of a reference are taken out once for all runs.
"""

from typing import Annotated

from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.types import ABSTENTION
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.evaluate.judges.replies import Words, number, verdicts_on
from lexloop.nodes.markers import without_markers

MOST_CLAIMS = 40


class Claims(BaseModel):
    """What the model is asked for first."""

    claims: Annotated[list[Words], Field(max_length=MOST_CLAIMS)]


async def faithfulness(chat: Chat, question: str, answer: str, contexts: list[str]) -> list[bool]:
    """For each claim of an answer, whether the passages bear it out (HyPA-RAG, section 5.2).

    Args:
        chat: The model.
        question: Only to understand the answer by.
        answer: May hold [n] markers, which are left out.
        contexts: The passages' texts.

    Returns:
        One truth value per claim; none for an abstention, or an answer that claims nothing.

    Raises:
        ModelError: The model gave no usable reply.
    """
    claims = await claims_of(chat, question, without_markers(answer))
    return await attributed(chat, claims, contexts)


async def context_recall(
    chat: Chat, question: str, reference: str, contexts: list[str]
) -> list[bool]:
    """For each claim of the reference, whether the passages bear it out (HyPA-RAG, section 5.2).

    As ``faithfulness`` in everything else.
    """
    claims = await claims_of(chat, question, reference)
    return await attributed(chat, claims, contexts)


async def claims_of(chat: Chat, question: str, text: str) -> list[str]:
    """The claims of a text, each understood by itself; an abstention has none.

    Raises:
        ModelError: The model gave no usable reply.
    """
    if not text.strip() or text.strip() == ABSTENTION:
        return []
    prompt = prompts.load("split_claims", {"question", "text", "limit"})
    system, user = prompt.render(question=question, text=text, limit=MOST_CLAIMS)
    reply = parsed(await chat.ask(ChatRequest("split_claims", system, user, Claims)), Claims)
    return [claim.strip() for claim in reply.claims]


async def attributed(chat: Chat, claims: list[str], contexts: list[str]) -> list[bool]:
    """Whether the passages bear out each claim; without passages none is, and nobody is asked.

    Raises:
        ModelError: The model gave no usable reply.
    """
    if not claims or not contexts:
        return [False] * len(claims)
    prompt = prompts.load("attribute_claims", {"passages", "claims", "count"})
    system, user = prompt.render(
        passages=number("passage", contexts),
        claims=number("claim", claims),
        count=len(claims),
    )
    schema = verdicts_on(len(claims))
    reply = parsed(await chat.ask(ChatRequest("attribute_claims", system, user, schema)), schema)
    return [verdict.verdict for verdict in reply.verdicts]
