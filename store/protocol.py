"""The protocol of an index that can be searched and read, wherever it is stored: ``Store``.

A store can be searched and gives chunks and documents; each has a protocol of its own. A store does
not know the caller: a ``View`` passes the visible documents, and asks a store only for documents
and chunks that its caller may see.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Hit, Triplet
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document, SkippedSource
from lexloop.models.embedding import Codes, Embedder, Halves, Vectors
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import Manifest

Within = frozenset[str] | None
"""The names of the documents that count; None for all."""
Found = tuple[list[list[Hit]], list[list[Hit]]]
"""The hits of each query by words, and those of each query by vectors."""
MARK = np.dtype("<u8")
Marks = NDArray[np.uint64]
"""Hashes that identify embedded texts, shape (texts, 2)."""


class PreparedChunk(NamedTuple):
    """A chunk with everything that an index stores of it.

    Args:
        chunk: The chunk.
        statements: Statements in the chunk, in order.
        triplets: Triplets that the chunk states.
        vectors: Vectors of the windows, shape (windows, dimension).
        marks: Hashes of the windows' texts, shape (windows, 2).
        codes: Codes of each window's tokens; empty if no token vectors are kept.
    """

    chunk: Chunk
    statements: Sequence[Statement]
    triplets: Sequence[Triplet]
    vectors: Halves
    marks: Marks
    codes: Sequence[Codes]


@dataclass(frozen=True)
class PreparedDocument:
    """A document with all that an index stores of it; independent of other documents.

    Args:
        file: Source file.
        fingerprint: SHA-256 of the file and its metadata; "" if there is no file.
        document: Document as loaded, including its tree.
        chunks: Chunks in order.
    """

    file: str
    fingerprint: str
    document: Document
    chunks: Sequence[PreparedChunk]

    @property
    def name(self) -> str:
        """The document's name."""
        return self.document.name


@dataclass(frozen=True)
class PreparedFile:
    """The documents and the skipped parts of a source file.

    Args:
        name: Name of the file.
        documents: Documents in the file's order.
        skipped: Parts that could not be read.
    """

    name: str
    documents: tuple[PreparedDocument, ...]
    skipped: tuple[SkippedSource, ...]


@dataclass(frozen=True)
class Catalogue:
    """The facts about every document of an index.

    Args:
        titles: Title by document name, in the order in which they were added.
        metadata: Metadata as loaded, of each document that has any.
        files: Source file of each; "" if it has none.
        skipped: Sources that could not be read.
    """

    titles: Mapping[str, str]
    metadata: Mapping[str, Metadata]
    files: Mapping[str, str]
    skipped: Sequence[SkippedSource]

    @cached_property
    def names(self) -> Sequence[str]:
        """The documents' names, in order."""
        return list(self.titles)


class Statistics(NamedTuple):
    """The number of chunks, and of those with each term that was asked for."""

    chunks: int
    frequencies: list[int]


class VectorSearch(Protocol):
    """How a store finds vectors."""

    @property
    def kind(self) -> str:
        """The kind of search: flat is exact, the others are approximate."""
        ...

    @property
    def recall(self) -> float:
        """The share of the ten best windows that it finds."""
        ...


class Searched(Protocol):
    """Search in an index, and its statistics.

    - ``within`` applies before anything is cut, counted or ranked: a list has the best ``limit``
      chunks of these documents. Filtering afterwards would return too few.
    - Scores are the signal's own: the sum of BM25, and the cosine in [-1, 1], as built-in floats.
      A list is sorted, best first, and has every chunk once, by its best window. Equal scores may
      come in any order, but those at the cut come in the same order every time.
    - A batch is one call, and one request to a server.
    """

    @property
    def dense(self) -> VectorSearch:
        """How vectors are searched."""
        ...

    @property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph of all documents."""
        ...

    def search(
        self,
        queries: Sequence[str],
        embed: Callable[[], Vectors],
        limit: int,
        within: Within,
        seen: Within,
    ) -> Found:
        """Return the best chunks by BM25 and by cosine; chunks with a BM25 score of 0 are left out.

        Args:
            queries: Queries of the search by words.
            embed: Makes unit vectors of the other queries, shape (queries, dimension). Work that
                does not need them is done meanwhile.
            limit: The most chunks of each list.
            within: The documents that are searched.
            seen: Documents that the caller may see, including ``within``. If the engine can, the
                weight of a word and the range of an approximate search depend on these only.
        """
        ...

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """Return each question token's best cosine in each chunk, shape (tokens, chunks).

        Raises:
            ValueError: No token vectors are stored.
        """
        ...

    def statistics(self, terms: Sequence[str], within: Within) -> Statistics:
        """Return how many chunks there are, and how many have each term.

        A term is a stem from ``tokenize``. Statistics are asked for again and again, so remote ones
        are cached.
        """
        ...

    def having(self, word: str, within: Within) -> list[str]:
        """Return the documents that contain a word, ignoring case and accents, in order.

        The result may include others: those with another word of the same stem, or with an accented
        word that begins alike. A word consists of letters, as in ``plain``, and is not a stop word.
        """
        ...


class Chunks(Protocol):
    """The chunks of an index. An unknown id raises a KeyError."""

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        ...

    def every_chunk(self, step: int, within: Within) -> Iterator[Chunk]:
        """Yield every ``step``-th chunk in order."""
        ...

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk, and the vectors of its windows.

        The vectors have shape (windows, dimension), in the order of ``preparing.windows_of``.
        """
        ...


class Documents(Protocol):
    """The documents of an index. An unknown name raises a KeyError."""

    def document(self, name: str) -> Document:
        """Return a document as it was loaded, its tree included; some are cached."""
        ...

    def texts_of(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the full texts of documents, in the order asked for, read in batches."""
        ...

    def starts(self, name: str) -> NDArray[np.int32]:
        """Return the offsets of a document's chunks, ascending, shape (chunks,)."""
        ...

    def provisions(self, keys: Sequence[str], within: Within) -> list[tuple[str, int]]:
        """Return document and place of each unit with one of the keys, in order."""
        ...

    def defining(self, within: Within) -> Iterator[tuple[str, int]]:
        """Yield document and place of each unit that defines a term, in order."""
        ...


class Store(Searched, Chunks, Documents, Protocol):
    """One generation of an index, open for reading."""

    @property
    def manifest(self) -> Manifest:
        """How the index was made, of which sources, and its counts."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The facts about every document."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The embedder that made the vectors."""
        ...

    def made_of(self, name: str) -> PreparedDocument:
        """Return a document with everything that was made of it."""
        ...

    def verify(self) -> dict[str, int]:
        """Check that everything exists and agrees, beyond the checks of opening it.

        Returns:
            How many documents, chunks, windows and triplets were looked at.

        Raises:
            DataError: Something does not agree.
        """
        ...

    def close(self) -> None:
        """Close the store; nothing can be read afterwards."""
        ...
