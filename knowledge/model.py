"""Triplets extracted by a model, if the chunk holds the words they rest on."""

import json
from pathlib import Path

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.text_cache import TextCache
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.text.sentences import find_quote
from lexloop.knowledge.names import readable
from lexloop.knowledge.relations import BareTriplet, located, typed
from lexloop.models.request import Chat, ChatRequest, parsed

MOST = 20
"""The most relations asked for of a chunk."""
_PREDICATE_CHARS = 40


class ExtractedTriplet(BaseModel):
    """One relation as the model gives it."""

    subject: str
    predicate: str
    object: str
    quote: str


class Extraction(BaseModel):
    """The reply that the model is asked for."""

    triplets: list[ExtractedTriplet] = []


def extraction_request(chunk: Chunk) -> ChatRequest:
    """Return the request for the relations of a chunk."""
    prompt = prompts.load("extract_triplets", {"passage", "limit"})
    system, user = prompt.render(passage=[prompts.Data("passage", chunk["text"])], limit=MOST)
    return ChatRequest("extract_triplets", system, user, Extraction)


async def extract_with_model(chat: Chat, chunk: Chunk) -> list[Triplet]:
    """Ask the model for the relations of a chunk.

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
        # on one line; a preposition at the end belongs to it
        verb = " ".join(item.predicate.split()).strip(" .,:;\"'“”")[:_PREDICATE_CHARS].rstrip()
        said = BareTriplet(readable(item.subject), typed(verb), readable(item.object))
        if span and all(said):
            triplets.append(_placed(said, chunk, *span))
    return triplets


def _placed(said: BareTriplet, chunk: Chunk, start: int, end: int) -> Triplet:
    """Return a triplet of a chunk; the offsets are into its text."""
    return located(said, chunk, chunk["section"], chunk["start"] + start, chunk["text"][start:end])


class ExtractionCache:
    """A cache of extractions by content, so that an index made again costs nothing.

    It is a small database beside the indexes; several processes may use it at once.

    Raises:
        DataError: It cannot be opened, or is no such database.
    """

    def __init__(self, path: Path) -> None:
        self._texts = TextCache(path, "extractions")
        self.close = self._texts.close

    def find(self, key: str, chunk: Chunk) -> list[Triplet] | None:
        """Return the triplets under a key, placed in a chunk of the same text; or None.

        What is no extraction of this text counts as nothing.

        Raises:
            DataError: The file is damaged.
        """
        held = self._texts.find(key)
        if held is None:
            return None
        found: list[Triplet] = []
        try:
            for item in json.loads(held):
                said = [str(item[name]) for name in ("subject", "predicate", "object")]
                found.append(_placed(BareTriplet(*said), chunk, *map(int, item["at"])))
                if found[-1]["quote"] != item["quote"]:
                    return None
        except (ValueError, TypeError, KeyError):
            return None
        return found

    def put(self, key: str, chunk: Chunk, triplets: list[Triplet]) -> None:
        """Store the triplets of a chunk.

        Raises:
            DataError: The disk is full or gone.
        """
        loose = [
            {
                "subject": triplet["subject"],
                "predicate": triplet["predicate"],
                "object": triplet["object"],
                "quote": triplet["quote"],
                "at": [triplet["start"] - chunk["start"], triplet["end"] - chunk["start"]],
            }
            for triplet in triplets
        ]
        self._texts.put(key, json.dumps(loose))
