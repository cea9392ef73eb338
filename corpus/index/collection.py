"""A collection: the documents of one index and everything that searches them."""

import math
from collections.abc import Callable, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from lexloop.core.filters import Filters
from lexloop.core.hits import Hit
from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk
from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.layout import Layout
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.index.texts import TextStore
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.corpus.load.document import Skipped
from lexloop.corpus.load.versions import end_superseded
from lexloop.corpus.text.statements import Statement, statements
from lexloop.models.embedding import Embedder, Vectors

_RECENT = 512


def _nothing() -> None:
    """What there is to let go of where everything lies in memory."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, their chunks, and one index per signal over the chunks in the same order.

    Args:
        texts: The texts, read a few at a time.
        layout: Where each chunk lies.
        lexical: BM25 over the chunks.
        dense: Vectors of the chunks.
        load_graph: Opens the knowledge graph, which not every question needs.
        embedder: Embeds questions.
        windows: What of a chunk is embedded; with ``whole`` the statements' vectors are made
            when they are asked for.
        release: Lets go of what the collection holds beside these.
    """

    texts: TextStore
    layout: Layout
    lexical: LexicalIndex
    dense: DenseIndex
    load_graph: Callable[[], KnowledgeGraph]
    embedder: Embedder
    windows: str = "statements"
    release: Callable[[], None] = field(default=_nothing)

    def __len__(self) -> int:
        return len(self.layout)

    def close(self) -> None:
        """Let go of the files; the collection cannot be searched afterwards."""
        self.texts.close()
        self.release()

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked for.

        Raises:
            KeyError: There is no such chunk.
        """
        found = self.texts.chunks([self.layout.position_of(chunk_id) for chunk_id in chunk_ids])
        for chunk in found:
            held = self._metadata.get(chunk["document"])
            if held is not None and held.version:
                chunk["version"] = held.version
        return found

    def text_of(self, document: str) -> str | None:
        """The whole text of a document; None when there is no such document."""
        ordinal = self.layout.ordinals.get(document)
        return None if ordinal is None else self.texts.text_of(ordinal)

    def metadata(self, documents: Names[str]) -> dict[str, Metadata]:
        """What is known of each document; one that is superseded ends where the next begins."""
        return {name: self._metadata.get(name, _UNKNOWN) for name in documents}

    @cached_property
    def _metadata(self) -> dict[str, Metadata]:
        return self._versions[0]

    @property
    def version_troubles(self) -> list[Skipped]:
        """Each ``supersedes`` that cannot be followed."""
        return self._versions[1]

    @cached_property
    def _versions(self) -> tuple[dict[str, Metadata], list[Skipped]]:
        known = self.texts.metadata()
        if not any(metadata.supersedes for metadata in known.values()):
            return known, []
        return end_superseded({name: known.get(name, _UNKNOWN) for name in self.layout.names})

    def search_lexical(self, queries: list[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """For each query the best chunks by BM25, best first; chunks that score 0 left out."""
        allowed = self._allowed(filters)
        return [self._hits(*self.lexical.top(query, limit, allowed)) for query in queries]

    def search_vector(self, queries: list[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """For each query the best chunks by cosine, best first."""
        if not queries or not len(self):
            return [[] for _ in queries]
        found = self.dense.top(self.embed(queries), limit, self._allowed(filters))
        return [self._hits(positions, scores) for positions, scores in found]

    def _hits(self, positions: NDArray[np.int64], scores: NDArray[np.float32]) -> list[Hit]:
        names, owners, starts = self.layout.names, self.layout.owners, self.layout.starts
        chosen: list[int] = owners[positions].tolist()
        documents = [names[owner] for owner in chosen]
        begins, values = starts[positions].tolist(), scores.tolist()
        return [
            Hit(f"{document}#{begin}", document, value)
            for document, begin, value in zip(documents, begins, values, strict=True)
        ]

    def _allowed(self, filters: Filters) -> NDArray[np.bool_] | None:
        return self._admitted(filters)[1]

    @cached_property
    def _admitted(
        self,
    ) -> Callable[[Filters], tuple[frozenset[str] | None, NDArray[np.bool_] | None]]:
        """From filters to the documents and the chunks they admit; None where that is all."""

        @lru_cache(maxsize=16)
        def admitted(
            filters: Filters,
        ) -> tuple[frozenset[str] | None, NDArray[np.bool_] | None]:
            known, unknown = self._metadata, filters.admits(_UNKNOWN)
            shown = np.fromiter(
                (
                    filters.admits(known[name]) if name in known else unknown
                    for name in self.layout.names
                ),
                dtype=np.bool_,
                count=len(self.layout.names),
            )
            if shown.all():
                return None, None
            names = (name for name, holds in zip(self.layout.names, shown, strict=True) if holds)
            return frozenset(names), shown[self.layout.owners]

        return admitted

    def graph(self, filters: Filters) -> KnowledgeGraph:
        """The knowledge graph of the documents that the filters admit."""
        return self._views(self._admitted(filters)[0])

    @cached_property
    def _views(self) -> Callable[[frozenset[str] | None], KnowledgeGraph]:
        @lru_cache(maxsize=16)
        def view(documents: frozenset[str] | None) -> KnowledgeGraph:
            return self._graph if documents is None else self._graph.view(documents.__contains__)

        return view

    @cached_property
    def _graph(self) -> KnowledgeGraph:
        return self.load_graph()

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """The statements of a chunk's text and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        position = self.layout.position_of(chunk_id)
        (chunk,) = self.texts.chunks([position])
        found = statements(chunk["text"])
        if len(found) > 1 and self.windows != "statements":
            return found, self.embed([statement.text for statement in found])
        windows = self.dense.windows_of(position)
        return found, windows[-len(found) :] if len(found) > 1 else windows[: len(found)]

    def embed(self, texts: list[str]) -> Vectors:
        """Vectors of questions and answers, shape (len(texts), dimension), recent ones kept."""
        # other threads fill and clear the recent ones too, so nothing is read from them twice
        found = {text: self._recent.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        if missing:
            made = dict(zip(missing, self.embedder.embed(missing), strict=True))
            found.update(made)
            if len(self._recent) + len(made) > _RECENT:
                self._recent.clear()
            self._recent.update(made)
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = found[text]
        return vectors

    @cached_property
    def _recent(self) -> dict[str, Vectors]:
        return {}

    def rarity(self, term: str) -> float:
        """Inverse document frequency of a search term: ln(1 + chunks / (df + 0.5))."""
        return math.log(1 + len(self) / (self.lexical.document_frequency(term) + 0.5))

    def centre(self) -> Vectors:
        """The mean direction of all windows, shape (dimension,): what the documents are about."""
        return self.dense.centre()

    def knows(self, term: str) -> bool:
        """Whether any chunk holds a search term (a stem, as ``tokenize`` gives it)."""
        return term in self.lexical.terms


_UNKNOWN = Metadata()


def searched_text(chunk: Chunk) -> str:
    """What lexical search sees of a chunk: its text, its section, and its document's title."""
    return f"{chunk['title']}\n{chunk['section']}\n{chunk['text']}"
