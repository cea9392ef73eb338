"""The extraction of triplets by a model while a corpus is indexed, its cache and its budget."""

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.text_cache import TextCache, extractions_path
from lexloop.core.types import Chunk, Triplet, Usage
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import find_quote, tokenize
from lexloop.graph.budget import MILLION, Budget, expected_tokens
from lexloop.knowledge.relations import BareTriplet, extract_document, located, readable, typed
from lexloop.models.chat import ChatModel, chat_for
from lexloop.models.request import Chat, ChatReply, ChatRequest, parsed
from lexloop.store.opening import RULES
from lexloop.store.preparing import Extractor
from lexloop.store.writer import CostEstimate

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


def _extraction_request(chunk: Chunk) -> ChatRequest:
    """Return the request for the relations of a chunk."""
    prompt = prompts.load("extract_triplets", {"passage", "limit"})
    system, user = prompt.render(passage=[prompts.Data("passage", chunk["text"])], limit=MOST)
    return ChatRequest("extract_triplets", system, user, Extraction)


async def extract_with_model(chat: Chat, chunk: Chunk) -> list[Triplet]:
    """Ask the model for the relations of a chunk.

    Returns:
        The relations whose quote stands in the chunk, up to differences in white space, and has the
        words of both ends, each with the exact span of that quote. The chunk's own provision may be
        an end without being quoted.

    Raises:
        ModelError: The model gave no usable reply.
    """
    reply = parsed(await chat.ask(_extraction_request(chunk)), Extraction)
    triplets: list[Triplet] = []
    for item in reply.triplets[:MOST]:
        span = find_quote(item.quote, chunk["text"])
        # on one line; a preposition at the end belongs to it
        verb = " ".join(item.predicate.split()).strip(" .,:;\"'“”")[:_PREDICATE_CHARS].rstrip()
        triplet = BareTriplet(readable(item.subject), typed(verb), readable(item.object))
        if span and all(triplet) and _states(chunk["section"], item.quote, triplet):
            triplets.append(_of_chunk(triplet, chunk, *span))
    return triplets


def _states(section: str, quote: str, triplet: BareTriplet) -> bool:
    """Return whether a quote has every content word of both ends, except its own provision's."""
    held, place = set(tokenize(quote)), set(tokenize(section))
    ends = (set(tokenize(end)) for end in (triplet.subject, triplet.object))
    return all(end <= held or end <= place for end in ends)


def _of_chunk(triplet: BareTriplet, chunk: Chunk, start: int, end: int) -> Triplet:
    """Return a triplet of a chunk; the offsets are into its text."""
    return located(
        triplet, chunk, chunk["section"], chunk["start"] + start, chunk["text"][start:end]
    )


class ExtractionCache:
    """A cache of extractions by content, so that making an index again costs nothing.

    It is a small database beside the indexes. Several processes may use it at once.

    Raises:
        DataError: It cannot be opened, or is not such a database.
    """

    def __init__(self, path: Path) -> None:
        self._texts = TextCache(path, "extractions")
        self.close = self._texts.close

    def find(self, key: str, chunk: Chunk) -> list[Triplet] | None:
        """Return the triplets under a key, placed in a chunk of the same text, or None.

        An entry that is not an extraction of this text is ignored.

        Raises:
            DataError: The file is damaged.
        """
        held = self._texts.find(key)
        if held is None:
            return None
        triplets: list[Triplet] = []
        try:
            for item in json.loads(held):
                parts = [str(item[name]) for name in ("subject", "predicate", "object")]
                triplets.append(_of_chunk(BareTriplet(*parts), chunk, *map(int, item["at"])))
                if triplets[-1]["quote"] != item["quote"]:
                    return None
        except (ValueError, TypeError, KeyError):
            return None
        return triplets

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


def extractor_for(
    settings: Settings, chat: ChatModel | None, budget: Budget | None = None
) -> tuple[str, Extractor]:
    """Return an extractor and its identifier for the index.

    Raises:
        SettingsError: The model is asked for and none is configured.
    """
    model = chat_for("index.triplets", settings.index.triplets, chat)
    if model is None:
        return RULES, extract_document
    extractor = ModelExtractor(model, settings.deadline_s, budget or Budget())
    return f"model-{model.name}", extractor


class ModelExtractor:
    """An extractor by a model, asked chunk by chunk; every reply is cached.

    Args:
        chat: The model.
        deadline_s: Seconds each chunk may take.
        budget: What it may cost.
    """

    def __init__(self, chat: ChatModel, deadline_s: float, budget: Budget) -> None:
        self._chat, self._deadline_s, self._budget = chat, deadline_s, budget
        self.spent: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}

    def __call__(self, document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
        """Return the triplets of one document's chunks, each with the label and page of its quote.

        Raises:
            ModelError: The model gave no usable reply.
            BudgetError: The next call would cost more than is allowed.
        """
        with closing(ExtractionCache(extractions_path())) as cache:
            triplets = [triplet for chunk in chunks for triplet in self._of(chunk, cache)]
        return [_placed(triplet, document) for triplet in triplets]

    def _of(self, chunk: Chunk, cache: ExtractionCache) -> list[Triplet]:
        key = _extraction_key(self._chat.name, chunk)
        if (cached := cache.find(key, chunk)) is not None:
            return cached
        triplets = waited(extract_with_model(self, chunk))
        cache.put(key, chunk, triplets)
        return triplets

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Answer a request, within the budget and the deadline."""
        self._budget.check(self.spent, request)
        deadline = time.monotonic() + self._deadline_s
        return await self._chat.acomplete(request, deadline=deadline, meter=self.spent)


def _placed(triplet: Triplet, document: Document) -> Triplet:
    place = document.tree.around(triplet["start"], triplet["end"])
    label = document.tree.units[place].label if place >= 0 else ""
    return {**triplet, "section": label, "page": document.page_at(triplet["start"])}


def _extraction_key(model: str, chunk: Chunk) -> str:
    """Return the cache key of a chunk, made of the model, its instructions and the text."""
    from lexloop import prompts

    prompt = prompts.load("extract_triplets", {"passage", "limit"})
    content = "\0".join((model, prompt.system, prompt.user, chunk["text"]))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def expected_cost(
    estimate: CostEstimate, settings: Settings, budget: Budget, price_embedding: float | None
) -> dict[str, float | None]:
    """Estimate the calls, tokens and US dollars that indexing would take.

    Chunks whose extraction is cached cost nothing. The dollars are None if a price is missing.
    """
    asked = estimate.chunks if settings.index.triplets == "model" else ()
    new = _uncached(asked, str(settings.model.name))
    tokens = [expected_tokens(_extraction_request(chunk)) for chunk in new]
    tokens_in, tokens_out = sum(t for t, _ in tokens), sum(t for _, t in tokens)
    remote = estimate.embedded_tokens if settings.index.embedder.startswith("openai:") else 0
    model = budget.cost(tokens_in, tokens_out) if new else 0.0
    embedding = remote * (price_embedding or 0.0) / MILLION
    unpriced = model is None or (remote > 0 and price_embedding is None)
    return {
        "model_calls": len(new),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost_usd": None if unpriced or model is None else round(model + embedding, 6),
    }


def _uncached(chunks: Sequence[Chunk], model: str) -> list[Chunk]:
    if not chunks or not extractions_path().exists():
        return list(chunks)
    with closing(ExtractionCache(extractions_path())) as cache:
        return [c for c in chunks if cache.find(_extraction_key(model, c), c) is None]
