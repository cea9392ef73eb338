"""What an index is to whoever searches and reads it, wherever it lies: one ``Store``.

A store is searched, gives chunks and gives documents; each of these is a protocol of its own. It
does not know who asks: a ``View`` says within which documents, and names to a store only documents
and chunks that its asker may see.
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
"""Hashes by which embedded texts are recognised, shape (texts, 2)."""


class PreparedChunk(NamedTuple):
    """A chunk with what was made of it.

    Args:
        chunk: The chunk.
        statements: In it, in order.
        triplets: That it states.
        vectors: Of its windows, shape (windows, dimension).
        marks: Of the windows' texts, shape (windows, 2).
        codes: Of each window's tokens; of none where no token vectors are kept.
    """

    chunk: Chunk
    statements: Sequence[Statement]
    triplets: Sequence[Triplet]
    vectors: Halves
    marks: Marks
    codes: Sequence[Codes]


@dataclass(frozen=True)
class PreparedDocument:
    """A document with all that an index holds of it; nothing in it depends on other documents.

    Args:
        file: The source file that it lies in.
        fingerprint: SHA-256 of the file and its metadata; "" where there is no file.
        document: As it was loaded, its tree included.
        chunks: In order.
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
    """All that a source file gave.

    Args:
        name: Of the file.
        documents: In the file's order.
        skipped: What of it could not be read.
    """

    name: str
    documents: tuple[PreparedDocument, ...]
    skipped: tuple[SkippedSource, ...]


@dataclass(frozen=True)
class Catalogue:
    """What is known of every document of an index.

    Args:
        titles: By the documents' names, in the order in which they were taken in.
        metadata: Of each that has some, as loaded.
        files: The source file of each; "" where it has none.
        skipped: What could not be read.
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
    """What is found and counted in an index.

    - ``within`` holds before anything is cut, counted or ranked: a list has the best ``limit`` of
      the documents in it. Filtering afterwards would return too little.
    - Scores are the signal's own: BM25 as it was summed, and the cosine in [-1, 1], as built-in
      floats. A list is best first and has every chunk once, by its best window; equal scores may
      come in any order, those that would straddle the cut in the same order every time.
    - A batch is one call, and one request to a server.
    """

    @property
    def dense(self) -> VectorSearch:
        """How vectors are found."""
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
        """Return the best chunks by BM25 and by cosine; those that score 0 by BM25 are left out.

        Args:
            queries: Those of the search by words.
            embed: Makes unit vectors of those of the other, shape (queries, dimension); what can be
                asked for without them is meanwhile.
            limit: The most chunks of each list.
            within: The documents that are searched.
            seen: Those that the asker may see, these among them: what a word weighs, and how far an
                approximate search goes, follow from them alone where the engine can do that.
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

        A term is a stem, as ``tokenize`` gives it. They are asked for again and again, so they are
        cached where they are not at hand.
        """
        ...

    def having(self, word: str, within: Within) -> list[str]:
        """Return the documents that have a word, whatever its case and accents, in order.

        Others may be among them: those with another word of its stem, or with one that has accents
        and begins alike. A word is letters alone, as ``plain`` gives it, and no stop word.
        """
        ...


class Chunks(Protocol):
    """The chunks of an index. A chunk that is named is there, or a KeyError is raised."""

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
    """The documents of an index. One that is named is there, or a KeyError is raised."""

    def document(self, name: str) -> Document:
        """Return a document as it was loaded, its tree included; some are cached."""
        ...

    def texts_of(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the whole texts of documents, in the order asked for, read in batches."""
        ...

    def starts(self, name: str) -> NDArray[np.int32]:
        """Return where a document's chunks begin, ascending, shape (chunks,)."""
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
        """What made the index, of what, and its counts."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """What is known of every document."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The embedder that made the vectors."""
        ...

    def made_of(self, name: str) -> PreparedDocument:
        """Return a document with all that was made of it."""
        ...

    def verify(self) -> dict[str, int]:
        """Check that everything is there and agrees, beyond what is checked when it is opened.

        Returns:
            How many documents, chunks, windows and triplets were looked at.

        Raises:
            DataError: Something does not agree.
        """
        ...

    def close(self) -> None:
        """Close it; nothing can be read afterwards."""
        ...
