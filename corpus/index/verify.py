"""A thorough look at an index: beyond the hashes, whether its parts agree with each other."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.corpus.index.collection import Collection, searched_text
from lexloop.corpus.index.counts import TermCounts
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.index.manifest import REBUILD
from lexloop.corpus.index.reader import counts_of, open_index
from lexloop.corpus.index.stored_triplets import StoredTriplets
from lexloop.corpus.index.subset import every_chunk
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Embedder

_NORM_TOLERANCE = 0.01
_VECTORS_AT_ONCE = 50_000


def verify_index(index: Path, embedder: Embedder) -> dict[str, int]:
    """Check every file's hash and that texts, terms, triplets and vectors fit together.

    The vectors are not made again: that they are those of their texts rests on the hashes.

    Returns:
        How many documents, chunks, windows and triplets were looked at.

    Raises:
        DataError: Something does not agree.
    """
    with closing(open_index(index, embedder)) as collection:
        try:
            for check in (_database, _spans, _terms, _vectors, _graph):
                if problem := check(collection):
                    raise DataError(f"The index {index} is inconsistent: {problem}.", REBUILD)
            collection.metadata(collection.layout.names)
            return counts_of(collection)
        except (CorpusError, KeyError, IndexError, ValueError, TypeError, sqlite3.Error) as error:
            raise DataError(f"The index {index} is inconsistent: {error!r}.", REBUILD) from error


def _database(collection: Collection) -> str:
    ((found,),) = collection.texts.rows("PRAGMA integrity_check(1)")
    return "" if found == "ok" else f"SQLite reports {found}"


def _spans(collection: Collection) -> str:
    """The first chunk or triplet that is not the span of its document that it claims to be."""
    layout, seen = collection.layout, 0
    for ordinal, name in enumerate(layout.names):
        text, (first, end) = collection.texts.text_of(ordinal), layout.span_of(ordinal)
        chunks = collection.texts.chunks(range(first, end))
        for position, chunk in enumerate(chunks, first):
            placed = chunk["id"] == layout.id_of(position)
            if not placed or text[chunk["start"] : chunk["end"]] != chunk["text"]:
                return f"chunk {chunk['id']} is not what {name} holds there"
        of_chunk = collection.texts.triplets_of(range(first, end))
        numbers = [number for found in of_chunk.values() for number in found]
        for triplet in collection.texts.fetch(numbers):
            if text[triplet["start"] : triplet["end"]] != triplet["quote"]:
                return f"a triplet of {triplet['chunk_id']} quotes what {name} does not hold"
        seen += len(numbers)
    lost = len(collection.texts) - seen
    return f"{lost} triplets belong to no chunk" if lost else ""


def _terms(collection: Collection) -> str:
    """Whether lexical search holds the terms of the chunks, with the weights that these make."""
    counted, lexical = TermCounts(), collection.lexical
    for chunk in every_chunk(collection):
        counted.add(searched_text(chunk))
    again = LexicalIndex.from_counts(counted)
    same = lexical.terms == again.terms and all(
        np.array_equal(*pair)
        for pair in (
            (lexical.counts, again.counts),
            (lexical.weights.indices, again.weights.indices),
            (lexical.weights.indptr, again.weights.indptr),
        )
    )
    # another processor may round a logarithm otherwise
    if same and np.allclose(lexical.weights.data, again.weights.data, rtol=1e-5):
        return ""
    return "lexical search does not hold the terms of the chunks"


def _vectors(collection: Collection) -> str:
    dense = collection.dense
    bare = np.setdiff1d(np.arange(dense.size), dense.owners)
    if len(bare):
        return f"chunk {collection.layout.id_of(int(bare[0]))} has no vector"
    marked = dict(collection.texts.rows("SELECT chunk, length(marks) / 16 FROM windows"))
    counts = np.bincount(dense.owners, minlength=dense.size).tolist()
    for position, count in enumerate(counts):
        if (marks := marked.get(position, 0)) != count:
            name = collection.layout.id_of(position)
            return f"chunk {name} has {count} vectors and the marks of {marks} texts"
    for begin in range(0, len(dense.owners), _VECTORS_AT_ONCE):
        rows = np.asarray(dense.vectors[begin : begin + _VECTORS_AT_ONCE], dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1)
        if not np.all(np.abs(norms - 1) < _NORM_TOLERANCE):
            return f"a vector between {begin} and {begin + len(rows)} has not length 1"
    return ""


def _graph(collection: Collection) -> str:
    """Whether the graph is the one that the triplets make."""
    held = collection.load_graph()
    again = KnowledgeGraph.build(StoredTriplets(collection.texts, collection.layout))
    same = len(held) == len(again) and held.entities == again.entities
    return "" if same else "the knowledge graph is not that of the triplets"
