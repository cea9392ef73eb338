"""Everything that an index holds, for those who make, change or check one.

Whoever reads for somebody opens a ``Collection`` instead, which gives no text without naming who
asks. A test names the modules that may use this one.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_array
from lexloop.core.files import sha256_of, sync
from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import SkippedSource, versions
from lexloop.documents.structure.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Embedder
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.lexical import LexicalIndex
from lexloop.store.folder.local_part import LocalPart
from lexloop.store.folder.texts import TextStore
from lexloop.store.folder.tokens import TokenIndex

_GRAPHS, _TREES, _TEXTS, _STATED = 16, 64, 4, 2048
_AT_ONCE = 1000


@dataclass(frozen=True)
class Layout:
    """The chunks of all documents, in the order that every part of the index shares.

    Args:
        names: The documents' names, in the order in which they were taken in.
        owners: For each chunk its document's place in ``names``; int32, ascending.
        starts: For each chunk its offset in the document; int32, ascending within one.
        supporting: For each chunk 1 where it is no operative text, else 0; int32.
    """

    FILE = "chunks.npy"

    names: Sequence[str]
    owners: NDArray[np.int32]
    starts: NDArray[np.int32]
    supporting: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owners)

    def id_of(self, position: int) -> str:
        """Return the id of the chunk at a position."""
        return f"{self.names[self.owners[position]]}#{self.starts[position]}"

    def position_of(self, chunk_id: str) -> int:
        """Return the position of a chunk; KeyError where there is none."""
        name, _, start = chunk_id.rpartition("#")
        if name in self.ordinals and start.isdecimal():
            first, end = self.span_of(self.ordinals[name])
            position = bisect_left(self.starts, int(start), first, end)
            if position < end and self.starts[position] == int(start):
                return position
        raise KeyError(chunk_id)

    def span_of(self, ordinal: int) -> tuple[int, int]:
        """Return the first position of a document's chunks, and the one after its last."""
        return int(self._firsts[ordinal]), int(self._firsts[ordinal + 1])

    @cached_property
    def ordinals(self) -> dict[str, int]:
        """The documents' places by their names."""
        return {name: ordinal for ordinal, name in enumerate(self.names)}

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(len(self.names) + 1))

    def save(self, folder: Path) -> dict[str, str]:
        """Write the numbers, and return the SHA-256 of the file; the text store has the names."""
        rows = np.stack([self.owners, self.starts, self.supporting])
        return {self.FILE: save_array(folder / self.FILE, rows)}

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> Self:
        """Map what ``save`` wrote into memory."""
        stored = load_array(folder / cls.FILE, np.int32, dimensions=2)
        if len(stored) != 3:
            raise ValueError(f"{cls.FILE} has shape {stored.shape}")
        return cls(names, *stored)


@dataclass(frozen=True)
class StoredTriplets:
    """The triplets of a text store, as the knowledge graph reads them."""

    texts: TextStore
    layout: Layout

    def __len__(self) -> int:
        return len(self.texts)

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with these numbers, in the order asked for."""
        return self.texts.fetch(numbers)

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """Return the triplets' numbers of each chunk; none for an unknown chunk."""
        places: list[int] = []
        for chunk_id in chunk_ids:
            try:
                places.append(self.layout.position_of(chunk_id))
            except KeyError:
                places.append(-1)
        found = self.texts.triplets_of(places)
        return [found[place] for place in places]


@dataclass(frozen=True, eq=False)
class IndexContents:
    """Documents, their chunks, and one index per signal over the chunks in the same order.

    Args:
        texts: The texts, read a few at a time.
        layout: The document and offset of each chunk.
        lexical: BM25 over the chunks.
        dense: Vectors of the chunks.
        load_graph: Opens the knowledge graph, which not every question needs.
        embedder: Made the vectors.
        tokens: Token vectors of the chunks' whole texts, where the index holds them.
        windows: The parts of a chunk that are embedded; with ``whole`` statements' vectors are made
            when they are asked for.
        release: Releases the lock on the files; None where everything lies in memory.
    """

    texts: TextStore
    layout: Layout
    lexical: LexicalIndex
    dense: DenseIndex
    load_graph: Callable[[], KnowledgeGraph]
    embedder: Embedder
    tokens: TokenIndex | None = None
    windows: str = "statements"
    release: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self.layout)

    def close(self) -> None:
        """Close the files; nothing can be read afterwards."""
        self.texts.close()
        if self.release:
            self.release()

    def counts(self) -> dict[str, int]:
        """Return the numbers of documents, chunks, windows and triplets.

        Raises:
            ValueError: They disagree on the number of chunks.
        """
        sizes = {len(self.layout), self.lexical.size, self.dense.size}
        if len(sizes) > 1:
            raise ValueError(f"its parts hold {sorted(sizes)} chunks")
        return {
            "documents": len(self.layout.names),
            "chunks": len(self),
            "windows": len(self.dense.owners),
            "triplets": len(self.texts),
        }

    def save(self, folder: Path) -> dict[str, str]:
        """Write every part but the texts, which are there, and return the files' SHA-256."""
        texts = folder / TextStore.FILE
        sync(texts)
        return {
            **self.layout.save(folder),
            **self.lexical.save(folder),
            **self.dense.save(folder),
            **(self.tokens.save(folder) if self.tokens else {}),
            **self.load_graph().save(folder),
            TextStore.FILE: sha256_of(texts),
        }

    def every_chunk(self) -> Iterator[Chunk]:
        """Yield all chunks in order, read in batches."""
        for first in range(0, len(self), _AT_ONCE):
            yield from self.texts.chunks(range(first, min(first + _AT_ONCE, len(self))))

    @property
    def names(self) -> Sequence[str]:
        """See ``Contents.names``."""
        return self.layout.names

    @property
    def dense_kind(self) -> str:
        """See ``Contents.dense_kind``."""
        return self.dense.kind

    @property
    def recall(self) -> float:
        """See ``Contents.recall``; measured when it was built."""
        return self.dense.recall

    def part(self, documents: frozenset[str] | None) -> LocalPart:
        """See ``Contents.part``."""
        # pyright reads this file as a module of two names
        return LocalPart(self, documents)  # pyright: ignore[reportArgumentType]

    @property
    def metadata(self) -> Mapping[str, Metadata]:
        """See ``Contents.metadata``."""
        return self._metadata

    @cached_property
    def _metadata(self) -> dict[str, Metadata]:
        return self.texts.metadata()

    @property
    def version_troubles(self) -> list[SkippedSource]:
        """Each ``supersedes`` that cannot be followed."""
        return versions(self.names, self.metadata, lambda _: True)[1]

    @cached_property
    def graph_of(self) -> Callable[[frozenset[str] | None], KnowledgeGraph]:
        """A cached function from documents, None for all, to their knowledge graph."""

        @lru_cache(maxsize=_GRAPHS)
        def view(documents: frozenset[str] | None) -> KnowledgeGraph:
            return self._graph if documents is None else self._graph.view(documents.__contains__)

        return view

    @property
    def titles(self) -> Mapping[str, str]:
        """See ``Contents.titles``."""
        return self._titles

    @cached_property
    def _titles(self) -> dict[str, str]:
        return self.texts.titles()

    @cached_property
    def text_of(self) -> Callable[[int], str]:
        """A cached function from a document's place to its text."""
        return lru_cache(maxsize=_TEXTS)(self.texts.text_of)

    @cached_property
    def statements_of(self) -> Callable[[int], list[Statement]]:
        """A cached function from a chunk's position to its statements."""
        return lru_cache(maxsize=_STATED)(self.texts.statements_of)

    @cached_property
    def tree_of(self) -> Callable[[int], Tree]:
        """A cached function from a document's place to its tree."""
        return lru_cache(maxsize=_TREES)(self.texts.tree_of)

    @cached_property
    def _graph(self) -> KnowledgeGraph:
        return self.load_graph()
