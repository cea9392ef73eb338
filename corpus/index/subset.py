"""A collection without some of its chunks, to see what is answered when evidence is gone."""

from collections import defaultdict
from collections.abc import Collection as Ids
from collections.abc import Iterator

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Draft
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.window_vectors import KnownVectors

_AT_ONCE = 1000


def every_chunk(collection: Collection) -> Iterator[Chunk]:
    """All chunks in order, a few at a time."""
    for first in range(0, len(collection), _AT_ONCE):
        yield from collection.texts.chunks(range(first, min(first + _AT_ONCE, len(collection))))


def without(collection: Collection, chunk_ids: Ids[str]) -> Collection:
    """The same collection with some chunks taken out of every index, in memory."""
    embedder = collection.embedder
    recipe = Recipe(
        embedder.name,
        embedder.dimension,
        chunker="",
        extractor="",
        windows=collection.windows,
        dense_index="flat",
    )
    tools = Tools(recipe, {}, embedder, lambda _: [], lambda _: [])
    draft = Draft(tools, known=KnownVectors.of(collection))
    chunks, stated = defaultdict[str, list[Chunk]](list), defaultdict[str, list[Triplet]](list)
    for chunk in every_chunk(collection):
        if chunk["id"] not in chunk_ids:
            chunks[chunk["document"]].append(chunk)
    for triplet in collection.texts.fetch(range(len(collection.texts))):
        stated[triplet["document"]].append(triplet)
    for ordinal, name in enumerate(collection.layout.names):
        document = collection.texts.document(ordinal)
        draft.add_chunks("", document, chunks[name], stated[name])
    return draft.finish()
