"""Preparation of a source file away from its index: cut, related, embedded.

What an index makes of documents as they come in, made of one file alone.
"""

from collections import defaultdict
from collections.abc import Collection, Generator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Protocol

import numpy as np

from lexloop.core.types import Triplet
from lexloop.documents.chunks.statements import statements_in
from lexloop.documents.document import Document
from lexloop.documents.reading.source import Loaded
from lexloop.documents.reading.workers import Progress, silent
from lexloop.store.builder import Tools
from lexloop.store.manifest import IndexSource
from lexloop.store.protocol import MARK, PreparedChunk, PreparedDocument, PreparedFile
from lexloop.store.scan import Scan
from lexloop.store.windows import WindowVectors, whole_windows, window_texts


class Preparer(Protocol):
    """What lists source files, and prepares them elsewhere."""

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """List the files of the sources; see ``scan``."""
        ...

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files in the order of the scan, with all that an index holds of them."""
        ...

    def survey(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files likewise, cut into chunks and no more."""
        ...


def cut(loaded: Loaded, fingerprint: str, tools: Tools) -> PreparedFile:
    """Return a file's documents with their chunks and statements, and nothing else yet."""
    name = loaded.file.name
    made = (
        PreparedDocument(name, fingerprint, document, _chunks(document, tools))
        for document in loaded.documents
    )
    return PreparedFile(name, tuple(made), loaded.skipped)


def _chunks(document: Document, tools: Tools) -> list[PreparedChunk]:
    chunks = tools.chunk(document)
    vectors = np.zeros((0, tools.embedder.dimension), dtype=np.float16)
    marks = np.zeros((0, 2), dtype=MARK)
    found = statements_in(document, chunks)
    return [
        PreparedChunk(chunk, held, [], vectors, marks, [])
        for chunk, held in zip(chunks, found, strict=True)
    ]


def related(made: PreparedFile, tools: Tools) -> PreparedFile:
    """Return a file that is cut with its triplets.

    Raises:
        LexloopError: The extractor failed.
    """
    documents = []
    for one in made.documents:
        stated = defaultdict[str, list[Triplet]](list)
        for triplet in tools.extract(one.document, [held.chunk for held in one.chunks]):
            stated[triplet["chunk_id"]].append(triplet)
        chunks = [held._replace(triplets=stated[held.chunk["id"]]) for held in one.chunks]
        documents.append(replace(one, chunks=chunks))
    return replace(made, documents=tuple(documents))


def embedded(made: PreparedFile, tools: Tools) -> PreparedFile:
    """Return a file that is cut with the vectors of its windows.

    Raises:
        LexloopError: The embedder failed.
    """
    windows = WindowVectors(tools.embedder, silent, None, tools.token_embedder)
    marks = []
    for held in (held for one in made.documents for held in one.chunks):
        texts = windows_of(held, tools)
        marks.append(windows.add(texts, whole_windows(texts, held.statements, _kind(tools))))
    _, vectors = windows.finish()
    tokens = windows.tokens()
    rest = iter(zip(pairwise(accumulate(map(len, marks), initial=0)), marks, strict=True))

    def filled(held: PreparedChunk) -> PreparedChunk:
        (begin, end), own = next(rest)
        codes = tokens.windows(begin, end) if tokens else []
        return held._replace(vectors=vectors[begin:end], marks=own, codes=codes)

    documents = (replace(one, chunks=[*map(filled, one.chunks)]) for one in made.documents)
    return replace(made, documents=tuple(documents))


def windows_of(held: PreparedChunk, tools: Tools) -> list[str]:
    """Return the texts of a chunk that are embedded."""
    return window_texts(held.chunk, held.statements, tools.embedder, _kind(tools))


def _kind(tools: Tools) -> str:
    return tools.recipe.windows
