"""A thorough look at an index: beyond the hashes, whether its parts agree with each other."""

from pathlib import Path

import numpy as np

from lexloop.core.errors import DataError
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.manifest import REBUILD
from lexloop.corpus.index.reader import counts_of, open_index
from lexloop.models.embedding import Embedder

_NORM_TOLERANCE = 0.01
_VECTORS_AT_ONCE = 50_000


def verify_index(index: Path, embedder: Embedder) -> dict[str, int]:
    """Check every file's hash and that texts, chunks, triplets and vectors fit together.

    Returns:
        How many documents, chunks, windows and triplets were looked at.

    Raises:
        DataError: Something does not agree.
    """
    collection = open_index(index, embedder)
    try:
        for problem in (_database(collection), _spans(collection), _vectors(collection)):
            if problem:
                raise DataError(f"The index {index} is inconsistent: {problem}.", REBUILD)
        return counts_of(collection)
    finally:
        collection.close()


def _database(collection: Collection) -> str:
    ((found,),) = collection.texts.rows("PRAGMA integrity_check(1)")
    return "" if found == "ok" else f"SQLite reports {found}"


def _spans(collection: Collection) -> str:
    """The first chunk or triplet that is not the span of its document that it claims to be."""
    layout = collection.layout
    for ordinal, name in enumerate(layout.names):
        text, (first, end) = collection.texts.text_of(ordinal), layout.span_of(ordinal)
        chunks = collection.texts.chunks(range(first, end))
        for position, chunk in enumerate(chunks, first):
            placed = chunk["id"] == layout.id_of(position)
            if not placed or text[chunk["start"] : chunk["end"]] != chunk["text"]:
                return f"chunk {chunk['id']} is not what {name} holds there"
        numbers = collection.texts.triplets_of(range(first, end)).values()
        for triplet in collection.texts.fetch([n for found in numbers for n in found]):
            if text[triplet["start"] : triplet["end"]] != triplet["quote"]:
                return f"a triplet of {triplet['chunk_id']} quotes what {name} does not hold"
    return ""


def _vectors(collection: Collection) -> str:
    dense = collection.dense
    for begin in range(0, len(dense.owners), _VECTORS_AT_ONCE):
        rows = np.asarray(dense.vectors[begin : begin + _VECTORS_AT_ONCE], dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1)
        if not np.all(np.abs(norms - 1) < _NORM_TOLERANCE):
            return f"a vector between {begin} and {begin + len(rows)} has not length 1"
    return ""
