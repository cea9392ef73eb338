"""Verification of an index: beyond the hashes, that its parts agree with each other.

It reads everything, whoever asks for it, so it names a fault's place by numbers: no name, no
title and no word of a document is in its messages.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Embedder
from lexloop.store.folder.lexical import LexicalIndex, searched_text
from lexloop.store.folder.store import FolderStore, StoredTriplets, open_folder
from lexloop.store.manifest import REBUILD

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
    with closing(open_folder(index, embedder)) as contents:
        try:
            contents.catalogue  # noqa: B018 - whether it can be read
            for check in (_database, _spans, _terms, _vectors, _graph):
                if problem := check(contents):
                    raise DataError(f"The index {index} is inconsistent: {problem}.", REBUILD)
            return contents.counts()
        except (CorpusError, KeyError, IndexError, ValueError, TypeError, sqlite3.Error) as error:
            found = f"{type(error).__name__} while it was looked at"
            raise DataError(f"The index {index} is inconsistent: {found}.", REBUILD) from error


def _database(contents: FolderStore) -> str:
    ((found,),) = contents.texts.rows("PRAGMA integrity_check(1)")
    return "" if found == "ok" else f"SQLite reports {found}"


def _spans(contents: FolderStore) -> str:
    """Return the first chunk or triplet that differs from its document's text; "" if none does."""
    layout, seen = contents.layout, 0
    for ordinal in range(len(layout.names)):
        text, (first, end) = contents.texts.text_of(ordinal), layout.span_of(ordinal)
        chunks = contents.texts.chunks(range(first, end))
        for position, chunk in enumerate(chunks, first):
            placed = chunk["id"] == layout.id_of(position)
            if not placed or text[chunk["start"] : chunk["end"]] != chunk["text"]:
                return f"chunk {position} is not what document {ordinal} holds there"
        of_chunk = contents.texts.triplets_of(range(first, end))
        numbers = [number for found in of_chunk.values() for number in found]
        for triplet in contents.texts.fetch(numbers):
            if text[triplet["start"] : triplet["end"]] != triplet["quote"]:
                return f"a triplet quotes what its document, number {ordinal}, does not hold"
        seen += len(numbers)
    lost = len(contents.texts) - seen
    return f"{lost} triplets belong to no chunk" if lost else ""


def _terms(contents: FolderStore) -> str:
    """Return a problem unless lexical search has the chunks' terms and their weights."""
    lexical = contents.lexical
    again = LexicalIndex.build(map(searched_text, contents.every_chunk()))
    same = lexical.terms == again.terms and all(
        np.array_equal(*pair)
        for pair in (
            (lexical.weights.indices, again.weights.indices),
            (lexical.weights.indptr, again.weights.indptr),
        )
    )
    # another processor may round a logarithm otherwise
    if same and np.allclose(lexical.weights.data, again.weights.data, rtol=1e-5):
        return ""
    return "lexical search does not hold the terms of the chunks"


def _vectors(contents: FolderStore) -> str:
    dense = contents.dense
    bare = np.setdiff1d(np.arange(dense.size), dense.owners)
    if len(bare):
        return f"chunk {bare[0]} has no vector"
    for begin in range(0, len(dense.owners), _VECTORS_AT_ONCE):
        rows = np.asarray(dense.vectors[begin : begin + _VECTORS_AT_ONCE], dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1)
        if not np.all(np.abs(norms - 1) < _NORM_TOLERANCE):
            return f"a vector between {begin} and {begin + len(rows)} has not length 1"
    return ""


def _graph(contents: FolderStore) -> str:
    """Return a problem unless the graph is the one that the triplets make."""
    held = contents.load_graph()
    again = KnowledgeGraph.build(StoredTriplets(contents.texts, contents.layout))
    same = len(held) == len(again) and held.entities == again.entities
    return "" if same else "the knowledge graph is not that of the triplets"
