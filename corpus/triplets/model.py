"""Triplets by a model, kept only where the chunk holds the words they rest on."""

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.text.sentences import find_quote
from lexloop.corpus.triplets.phrases import noun_phrase, readable
from lexloop.corpus.triplets.predicates import Statement, typed
from lexloop.models.request import Chat, ChatRequest, parsed

MOST = 20
"""How many relations are asked for per chunk."""
_PREDICATE_CHARS = 40


class ExtractedTriplet(BaseModel):
    """One relation as the model gives it."""

    subject: str
    predicate: str
    object: str
    quote: str


class Extraction(BaseModel):
    """What the model is asked for."""

    triplets: list[ExtractedTriplet] = []


def extraction_request(chunk: Chunk) -> ChatRequest:
    """What the model is asked of a chunk."""
    prompt = prompts.load("extract_triplets", {"passage", "limit"})
    system, user = prompt.render(passage=[prompts.Data("passage", chunk["text"])], limit=MOST)
    return ChatRequest("extract_triplets", system, user, Extraction)


async def extract_with_model(chat: Chat, chunk: Chunk) -> list[Triplet]:
    """Ask for the relations of a chunk.

    Returns:
        The relations whose quote stands in the chunk, up to differences in white space, each with
        the exact span of that quote.

    Raises:
        ModelError: The model gave no usable reply.
    """
    reply = parsed(await chat.ask(extraction_request(chunk)), Extraction)
    triplets: list[Triplet] = []
    for item in reply.triplets[:MOST]:
        span = find_quote(item.quote, chunk["text"])
        statement = Statement(
            noun_phrase(item.subject),
            _verb(item.predicate),
            readable(item.object),
        )
        if span and all(statement):
            triplets.append(_located(typed(statement), chunk, *span))
    return triplets


def _located(statement: Statement, chunk: Chunk, start: int, end: int) -> Triplet:
    return {
        "subject": statement.subject,
        "predicate": statement.predicate,
        "object": statement.object,
        "chunk_id": chunk["id"],
        "document": chunk["document"],
        "section": chunk["section"],
        "page": chunk["page"],
        "start": chunk["start"] + start,
        "end": chunk["start"] + end,
        "quote": chunk["text"][start:end],
    }


def _verb(predicate: str) -> str:
    """On one line; a preposition at the end belongs to it."""
    return " ".join(predicate.split()).strip(" .,:;\"'“”")[:_PREDICATE_CHARS].rstrip()
