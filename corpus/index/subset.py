"""Documents without some of their chunks, to see what is answered when evidence is gone."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Draft
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.window_vectors import KnownVectors
from lexloop.models.embedding import CODED


def rebuilt(
    everything: Everything,
    documents: Sequence[int],
    metadata: Mapping[str, Metadata],
    chunks: Iterable[Chunk],
) -> Collection:
    """Index some chunks of some documents again, in memory.

    Args:
        everything: Where they are, with their triplets and vectors.
        documents: The places of the documents.
        metadata: What is known of them, by name.
        chunks: Of these documents.
    """
    embedder = everything.embedder
    recipe = Recipe(
        embedder.name,
        embedder.dimension,
        chunker="",
        extractor="",
        windows=everything.windows,
        dense_index="flat",
        tokens=CODED if everything.tokens else 0,
    )
    tools = Tools(recipe, {}, embedder, lambda *_: [], lambda *_: [])
    draft = Draft(tools, known=KnownVectors.of(everything))
    kept, stated = defaultdict[str, list[Chunk]](list), defaultdict[str, list[Triplet]](list)
    for chunk in chunks:
        kept[chunk["document"]].append(chunk)
    for triplet in everything.texts.fetch(range(len(everything.texts))):
        stated[triplet["document"]].append(triplet)
    for ordinal in documents:
        document = everything.texts.document(ordinal)
        document = replace(document, metadata=metadata[document.name])
        chunks = kept[document.name]
        found = [
            everything.texts.statements_of(everything.layout.position_of(chunk["id"]))
            for chunk in chunks
        ]
        draft.add_chunks("", document, chunks, found, stated[document.name])
    return Collection(draft.finish())
