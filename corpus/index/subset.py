"""A collection without some of its chunks, to see what is answered when evidence is gone."""

from collections.abc import Collection as Ids
from collections.abc import Iterator

from lexloop.core.types import Chunk
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Draft
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.load.document import Document

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
    draft = Draft(Tools(recipe, {}, embedder, lambda _: [], lambda _: []), old=collection)
    chunks = [chunk for chunk in every_chunk(collection) if chunk["id"] not in chunk_ids]
    triplets = collection.texts.fetch(range(len(collection.texts)))
    kept = {chunk["id"] for chunk in chunks}
    for name in collection.layout.names:
        document = Document(
            name,
            collection.texts.title_of(collection.layout.ordinals[name]),
            collection.text_of(name) or "",
            collection.metadata([name])[name],
        )
        mine = [chunk for chunk in chunks if chunk["document"] == name]
        stated = [t for t in triplets if t["document"] == name and t["chunk_id"] in kept]
        draft.add_chunks("", document, mine, stated)
    return draft.finish()
