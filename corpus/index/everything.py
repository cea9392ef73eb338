"""Everything that an index holds, whoever asks: for whoever makes, changes or checks one.

Whoever reads for somebody opens a ``Collection`` instead, which gives no text without saying who
asks. A test names the modules that may use this one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk
from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.layout import Layout
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.index.texts import TextStore
from lexloop.corpus.index.tokens import TokenIndex
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.corpus.load.document import Skipped
from lexloop.corpus.load.metadata import end_superseded
from lexloop.corpus.structure.statements import Statement
from lexloop.corpus.structure.tree import Tree
from lexloop.models.embedding import Embedder

UNKNOWN = Metadata()
_GRAPHS, _TREES, _TEXTS, _STATED = 16, 64, 4, 2048
_AT_ONCE = 1000


def _nothing() -> None:
    """What there is to let go of where everything lies in memory."""


@dataclass(frozen=True, eq=False)
class Everything:
    """Documents, their chunks, and one index per signal over the chunks in the same order.

    Args:
        texts: The texts, read a few at a time.
        layout: Where each chunk lies.
        lexical: BM25 over the chunks.
        dense: Vectors of the chunks.
        load_graph: Opens the knowledge graph, which not every question needs.
        embedder: Made the vectors.
        tokens: Token vectors of the chunks' whole texts, where the index holds them.
        windows: What of a chunk is embedded; with ``whole`` the statements' vectors are made
            when they are asked for.
        release: Lets go of what is held beside these.
    """

    texts: TextStore
    layout: Layout
    lexical: LexicalIndex
    dense: DenseIndex
    load_graph: Callable[[], KnowledgeGraph]
    embedder: Embedder
    tokens: TokenIndex | None = None
    windows: str = "statements"
    release: Callable[[], None] = field(default=_nothing)

    def __len__(self) -> int:
        return len(self.layout)

    def close(self) -> None:
        """Let go of the files; nothing can be read afterwards."""
        self.texts.close()
        self.release()

    def every_chunk(self) -> Iterator[Chunk]:
        """All chunks in order, a few at a time."""
        for first in range(0, len(self), _AT_ONCE):
            yield from self.texts.chunks(range(first, min(first + _AT_ONCE, len(self))))

    @cached_property
    def metadata(self) -> dict[str, Metadata]:
        """What was loaded with each document that has metadata."""
        return self.texts.metadata()

    @property
    def version_troubles(self) -> list[Skipped]:
        """Each ``supersedes`` that cannot be followed."""
        return self.versions(lambda _: True)[1]

    def versions(
        self, granted: Callable[[Metadata], bool]
    ) -> tuple[dict[str, Metadata], list[Skipped]]:
        """What is known of the granted documents as if there were no others.

        Args:
            granted: Whether a document with this metadata is one of them.

        Returns:
            The metadata, where there is any, of documents that end where the next version begins;
            and each ``supersedes`` that cannot be followed.
        """
        known = {name: metadata for name, metadata in self.metadata.items() if granted(metadata)}
        if not any(metadata.supersedes for metadata in known.values()):
            return known, []
        hidden = self.metadata.keys() - known.keys()
        names = (name for name in self.layout.names if name not in hidden)
        return end_superseded({name: known.get(name, UNKNOWN) for name in names})

    @cached_property
    def graph_of(self) -> Callable[[frozenset[str] | None], KnowledgeGraph]:
        """From documents, None for all, to the knowledge graph that they alone make."""

        @lru_cache(maxsize=_GRAPHS)
        def view(documents: frozenset[str] | None) -> KnowledgeGraph:
            return self._graph if documents is None else self._graph.view(documents.__contains__)

        return view

    @cached_property
    def titles(self) -> dict[str, str]:
        """The documents' titles by their names, in order."""
        return self.texts.titles()

    @cached_property
    def text_of(self) -> Callable[[int], str]:
        """From a document's place to its text; the last few are kept."""
        return lru_cache(maxsize=_TEXTS)(self.texts.text_of)

    @cached_property
    def statements_of(self) -> Callable[[int], list[Statement]]:
        """From a chunk's position to its statements; recent ones are kept."""
        return lru_cache(maxsize=_STATED)(self.texts.statements_of)

    @cached_property
    def tree_of(self) -> Callable[[int], Tree]:
        """From a document's place to its tree; recent ones are kept."""
        return lru_cache(maxsize=_TREES)(self.texts.tree_of)

    @cached_property
    def _graph(self) -> KnowledgeGraph:
        return self.load_graph()
