"""The part of an index on this machine that one asker may see."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Hit
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.structure.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Codes, Vectors
from lexloop.store.part import Found

if TYPE_CHECKING:
    from lexloop.store.collection import Collection
    from lexloop.store.folder.contents import IndexContents

_AT_ONCE, _TERMS = 1000, 1 << 14


class LocalPart:
    """A part of an index on this machine.

    Args:
        contents: The whole index.
        documents: The names of the documents; None for all.
    """

    def __init__(self, contents: "IndexContents", documents: frozenset[str] | None) -> None:
        self._contents, self._layout, self._names = contents, contents.layout, documents
        self._allowed: NDArray[np.bool_] | None = None
        self._size = len(contents)
        if documents is not None:
            names = self._layout.names
            shown = np.fromiter(map(documents.__contains__, names), np.bool_, count=len(names))
            self._allowed = shown[self._layout.owners]
            self._size = int(self._allowed.sum())

    @property
    def tokens(self) -> bool:
        """See ``Part.tokens``."""
        return self._contents.tokens is not None

    def __len__(self) -> int:
        return self._size

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See ``Part.chunks``."""
        return self._contents.texts.chunks([self._position_of(name) for name in chunk_ids])

    def every_chunk(self, step: int) -> Iterator[Chunk]:
        """See ``Part.every_chunk``; they are read in batches."""
        every = np.arange(len(self._layout))
        positions = (every if self._allowed is None else every[self._allowed])[::step]
        for first in range(0, len(positions), _AT_ONCE):
            yield from self._contents.texts.chunks(positions[first : first + _AT_ONCE].tolist())

    def _position_of(self, chunk_id: str) -> int:
        position = self._layout.position_of(chunk_id)
        if self._allowed is not None and not self._allowed[position]:
            raise KeyError(chunk_id)
        return position

    def starts_of(self, document: str) -> NDArray[np.int32]:
        """See ``Part.starts_of``."""
        first, end = self._layout.span_of(self._ordinal_of(document))
        return self._layout.starts[first:end]

    def document(self, document: str) -> Document:
        """See ``Part.document``."""
        return self._contents.texts.document(self._ordinal_of(document))

    def text_of(self, document: str) -> str:
        """See ``Part.text_of``; a few are cached."""
        return self._contents.text_of(self._ordinal_of(document))

    def tree_of(self, document: str) -> Tree:
        """See ``Part.tree_of``; some are cached."""
        return self._contents.tree_of(self._ordinal_of(document))

    def pages_of(self, document: str) -> Sequence[int]:
        """See ``Part.pages_of``."""
        return self._contents.texts.pages_of(self._ordinal_of(document))

    def source_of(self, document: str) -> tuple[str, str]:
        """See ``Part.source_of``."""
        return self._contents.texts.source_of(self._ordinal_of(document))

    def _ordinal_of(self, document: str) -> int:
        return self._layout.ordinals[document]

    def provisions(self, keys: Sequence[str]) -> list[tuple[str, int]]:
        """See ``Part.provisions``."""
        found = self._contents.texts.provisions(keys)
        return list(self._shown((ordinal, place) for _, ordinal, place in found))

    def defining(self) -> Iterator[tuple[str, int]]:
        """See ``Part.defining``."""
        return self._shown(self._contents.texts.defining())

    def _shown(self, units: Iterable[tuple[int, int]]) -> Iterator[tuple[str, int]]:
        for ordinal, place in units:
            name = self._layout.names[ordinal]
            if self._names is None or name in self._names:
                yield name, place

    def skipped(self) -> list[SkippedSource]:
        """See ``Part.skipped``."""
        return self._contents.texts.skipped()

    def search(self, queries: Sequence[str], embed: Callable[[], Vectors], limit: int) -> Found:
        """See ``Part.search``."""
        top, vectors = self._contents.lexical.top, embed()
        by_words = [self._hits(*top(query, limit, self._allowed)) for query in queries]
        near = self._contents.dense.top(vectors, limit, self._allowed) if len(vectors) else []
        return by_words, [self._hits(positions, scores) for positions, scores in near]

    def _hits(self, positions: NDArray[np.int64], scores: NDArray[np.float32]) -> list[Hit]:
        names, owners, starts = self._layout.names, self._layout.owners, self._layout.starts
        chosen: list[int] = owners[positions].tolist()
        documents = [names[owner] for owner in chosen]
        begins, values = starts[positions].tolist(), scores.tolist()
        supporting = (self._layout.supporting[positions] > 0).tolist()
        return [
            Hit(f"{document}#{begin}", document, value, beside)
            for document, begin, value, beside in zip(
                documents, begins, values, supporting, strict=True
            )
        ]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """See ``Part.frequencies``; many are cached."""
        return [self._frequency(term) for term in terms]

    @cached_property
    def _frequency(self) -> Callable[[str], int]:
        count = self._contents.lexical.document_frequency
        return lru_cache(maxsize=_TERMS)(lambda term: count(term, self._allowed))

    def statements_of(self, chunk_id: str) -> list[Statement]:
        """See ``Part.statements_of``; many are cached."""
        return self._contents.statements_of(self._position_of(chunk_id))

    def windows_of(self, chunk_id: str) -> Vectors:
        """See ``Part.windows_of``."""
        return self._contents.dense.windows_of(self._position_of(chunk_id))

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """See ``Part.closeness``."""
        tokens, dense = self._contents.tokens, self._contents.dense
        if tokens is None:
            raise ValueError("no token vectors are stored")
        spans = [dense.span_of(self._position_of(name)) for name in chunk_ids]
        return tokens.closeness(question, spans)

    def centroid(self) -> Vectors:
        """See ``Part.centroid``."""
        return self._contents.dense.centroid(self._allowed)

    def graph(self) -> KnowledgeGraph:
        """See ``Part.graph``; some are cached."""
        return self._contents.graph_of(self._names)

    def rebuilt(self, metadata: Mapping[str, Metadata], chunks: Names[str]) -> "Collection":
        """See ``Part.rebuilt``; stored vectors serve again."""
        from lexloop.store.builder import rebuilt
        from lexloop.store.prepared import prepared_documents

        held = self._contents
        return rebuilt(
            held.embedder,
            windows=held.windows,
            tokens=held.tokens is not None,
            documents=prepared_documents(held, map(self._ordinal_of, metadata)),
            metadata=metadata,
            chunks=chunks,
        )
