"""What an index holds, and the part of it that one asker may see, wherever it is stored."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Hit
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.structure.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Codes, Embedder, Vectors

if TYPE_CHECKING:
    from lexloop.store.collection import Collection


Found = tuple[list[list[Hit]], list[list[Hit]]]
"""The hits of each query by words, and those of each query by vectors."""


class Part(Protocol):
    """Some of the documents of an index; what belongs to any other is not there.

    A document is named only if it is in the part. Ids of chunks may be any: one that is not there
    raises a KeyError.
    """

    @property
    def tokens(self) -> bool:
        """Whether the vectors of every token are stored."""
        ...

    def __len__(self) -> int:
        """Return the number of chunks."""
        ...

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        ...

    def every_chunk(self, step: int) -> Iterator[Chunk]:
        """Yield every ``step``-th chunk in order."""
        ...

    def starts_of(self, document: str) -> NDArray[np.int32]:
        """Return where a document's chunks begin, ascending, shape (chunks,)."""
        ...

    def document(self, document: str) -> Document:
        """Return a document as it was loaded."""
        ...

    def text_of(self, document: str) -> str:
        """Return the whole text of a document."""
        ...

    def tree_of(self, document: str) -> Tree:
        """Return the tree of a document's provisions."""
        ...

    def pages_of(self, document: str) -> Sequence[int]:
        """Return where each page of a document begins; empty where it has none."""
        ...

    def source_of(self, document: str) -> tuple[str, str]:
        """Return the source file of a document, and its fingerprint; "" where it has none."""
        ...

    def provisions(self, keys: Sequence[str]) -> list[tuple[str, int]]:
        """Return document and place of each unit with one of the keys, in order."""
        ...

    def defining(self) -> Iterator[tuple[str, int]]:
        """Yield document and place of each unit that defines a term, in order."""
        ...

    def skipped(self) -> list[SkippedSource]:
        """Return what could not be read of the whole index."""
        ...

    def search(self, queries: Sequence[str], embed: Callable[[], Vectors], limit: int) -> Found:
        """Return the best chunks by BM25 and by cosine, best first; no BM25 score is 0.

        Args:
            queries: Those of the lexical search.
            embed: Makes unit vectors of those of the other, shape (queries, dimension); what can be
                asked for without them is meanwhile.
            limit: The most chunks of each list.
        """
        ...

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """Return the number of chunks with each search term (a stem, as ``tokenize`` gives it).

        They are asked for again and again, so they are cached where they are not at hand.
        """
        ...

    def statements_of(self, chunk_id: str) -> list[Statement]:
        """Return the statements of a chunk."""
        ...

    def windows_of(self, chunk_id: str) -> Vectors:
        """Return a chunk's vectors, shape (windows, dimension), as ``window_texts`` orders."""
        ...

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """Return each question token's best cosine in each chunk, shape (tokens, chunks)."""
        ...

    def centroid(self) -> Vectors:
        """Return the mean direction of all windows, shape (dimension,)."""
        ...

    def graph(self) -> KnowledgeGraph:
        """Return the knowledge graph that these documents alone make."""
        ...

    def rebuilt(self, metadata: Mapping[str, Metadata], chunks: Names[str]) -> "Collection":
        """Index some of the chunks again, in memory, as if there were no others.

        Args:
            metadata: Of the documents to take, by name, in order.
            chunks: The ids of the chunks to take.
        """
        ...


class Contents(Protocol):
    """Everything that an index holds, for whoever knows what an asker may see of it."""

    @property
    def embedder(self) -> Embedder:
        """The embedder that made the vectors."""
        ...

    @property
    def windows(self) -> str:
        """The parts of a chunk that are embedded; see ``IndexSettings``."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The documents' names, in the order in which they were taken in."""
        ...

    @property
    def titles(self) -> Mapping[str, str]:
        """The documents' titles by their names, in order."""
        ...

    @property
    def metadata(self) -> Mapping[str, Metadata]:
        """The metadata of each document that has some, as loaded."""
        ...

    @property
    def dense_kind(self) -> str:
        """The kind of vector search: flat is exact, the others are approximate."""
        ...

    @property
    def recall(self) -> float:
        """The share of the ten best windows that vector search finds."""
        ...

    def part(self, documents: frozenset[str] | None) -> Part:
        """Return the part with these documents; None for all."""
        ...

    def close(self) -> None:
        """Close it; nothing can be read afterwards."""
        ...
