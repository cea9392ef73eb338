"""An index in the making: documents come in their final order, new ones and those kept."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from functools import cached_property
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.chunk.statements import statements_in
from lexloop.corpus.index.counts import TermCounts
from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.layout import Layout
from lexloop.corpus.index.lexical import LexicalIndex, searched_text
from lexloop.corpus.index.stored_triplets import StoredTriplets
from lexloop.corpus.index.texts import TextStore
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.window_vectors import KnownVectors, WindowVectors
from lexloop.corpus.index.windows import whole_windows, window_texts
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.corpus.load.document import Document, Skipped
from lexloop.corpus.structure.statements import Statement
from lexloop.models.embedding import TokenEmbedder

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""


class Draft:
    """Collects files in ascending order of their names, and makes an index of them.

    Args:
        tools: Make chunks, triplets and vectors.
        folder: Where the files go; None keeps everything in memory.
        old: The index before, whose documents may be kept.
        known: Vectors by the same embedder, which serve again.
        progress: Told how far the embedding has come.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        folder: Path | None = None,
        old: Everything | None = None,
        known: KnownVectors | None = None,
        progress: Progress = silent,
    ) -> None:
        self._tools, self._old, self._progress = tools, old, progress
        self._texts = TextStore.create(folder / TextStore.FILE if folder else None)
        self._counts = TermCounts()
        late = tools.embedder if tools.recipe.tokens else None
        tokens = late if isinstance(late, TokenEmbedder) else None
        self._vectors = WindowVectors(tools.embedder, progress, known, tokens)
        self._names: list[str] = []
        self._owners: list[NDArray[np.int32]] = []
        self._starts: list[NDArray[np.int32]] = []
        self._supporting: list[NDArray[np.int32]] = []
        self._size = 0

    def discard(self) -> None:
        """Let go of the texts' file."""
        self._texts.close()

    def file(self, name: str, fingerprint: str, skipped: Sequence[Skipped]) -> None:
        """Note a source file and what of it could not be read."""
        self._texts.add_file(name, fingerprint, skipped)

    def keep_file(self, name: str, excluded: Names[str]) -> int:
        """Take over a source file of the old index with its documents; how many there are.

        Args:
            name: The file.
            excluded: Names of documents that stay out.

        Raises:
            ValueError: There is no old index.
        """
        old = self._known
        kept = [i for i in self._places.get(name, []) if old.layout.names[i] not in excluded]
        self._texts.copy_file(old.texts, name)
        for first, end in _runs(kept):
            self._keep(first, end)
        return len(kept)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return self._known.texts.files()

    def all_skipped(self) -> list[Skipped]:
        """Everything noted so far that could not be read."""
        return self._texts.skipped()

    def skipped(self, file: str, skipped: Sequence[Skipped]) -> None:
        """Note what could not be read of a file that has no fingerprint."""
        self._texts.add_skipped(file, skipped)

    def add(self, file: str, document: Document) -> None:
        """Cut a document, relate it and index it; keep what was made of it before."""
        known = self._old.texts.same_document(file, document) if self._old else None
        if known is not None:
            self._keep(known, known + 1)
            return
        chunks = self._tools.chunk(document)
        found = statements_in(document, chunks)
        triplets = self._tools.extract(document, chunks)
        self.add_chunks(file, document, chunks, found, triplets)

    def add_chunks(
        self,
        file: str,
        document: Document,
        chunks: Sequence[Chunk],
        found: Sequence[Sequence[Statement]],
        triplets: Sequence[Triplet],
    ) -> None:
        """Index a document that is cut already; texts whose vectors are known keep them.

        Args:
            file: The source file that it lies in.
            document: The document.
            chunks: Of this document, in order.
            found: For each chunk its statements.
            triplets: What the chunks state.
        """
        ordinal, first = len(self._names), self._size
        self._texts.add_document(ordinal, file, document)
        self._texts.add_chunks(first, ordinal, chunks, found)
        place = {chunk["id"]: first + i for i, chunk in enumerate(chunks)}
        self._texts.add_triplets(
            [(place[t["chunk_id"]], t) for t in triplets if t["chunk_id"] in place]
        )
        for position, (chunk, held) in enumerate(zip(chunks, found, strict=True), first):
            self._counts.add(searched_text(chunk))
            kind = self._tools.recipe.windows
            windows = window_texts(chunk, held, self._tools.embedder, kind)
            marks = self._vectors.add(windows, whole_windows(windows, held, kind))
            self._texts.add_windows(position, marks)
        self._place(document.name, chunks)

    def _keep(self, first: int, end: int) -> None:
        """Take over neighbouring documents of the old index with everything made of them."""
        old, new_first = self._known, len(self._names)
        begin, stop = old.layout.span_of(first)[0], old.layout.span_of(end - 1)[1]
        self._texts.copy_documents(
            old.texts, (first, end), new_first - first, (begin, stop), self._size - begin
        )
        self._counts.add_rows(old.lexical, begin, stop)
        self._vectors.keep(old.dense, begin, stop, old.tokens)
        self._owners.append(np.asarray(old.layout.owners[begin:stop]) + (new_first - first))
        self._starts.append(np.asarray(old.layout.starts[begin:stop]))
        self._supporting.append(np.asarray(old.layout.supporting[begin:stop]))
        self._names += old.layout.names[first:end]
        self._size += stop - begin

    @property
    def _known(self) -> Everything:
        if self._old is None:
            raise ValueError("there is no index to keep anything of")
        return self._old

    def _place(self, name: str, chunks: Sequence[Chunk]) -> None:
        starts = [chunk["start"] for chunk in chunks]
        supporting = [chunk.get("supporting", False) for chunk in chunks]
        self._owners.append(np.full(len(chunks), len(self._names), dtype=np.int32))
        self._starts.append(np.asarray(starts, dtype=np.int32))
        self._supporting.append(np.asarray(supporting, dtype=np.int32))
        self._names.append(name)
        self._size += len(chunks)

    def finish(self) -> Everything:
        """Everything indexed, in memory; ``save`` writes it."""
        owners, vectors = self._vectors.finish(self._tools.embedder.dimension)
        self._progress("indexing", 0, 1)
        dense = DenseIndex.build(vectors, owners, self._size, self._tools.recipe.dense_index)
        lexical = LexicalIndex.from_counts(self._counts)
        self._texts.commit()
        nothing = np.zeros(0, dtype=np.int32)
        layout = Layout(
            self._names,
            np.concatenate([nothing, *self._owners]),
            np.concatenate([nothing, *self._starts]),
            np.concatenate([nothing, *self._supporting]),
        )
        graph = KnowledgeGraph.build(StoredTriplets(self._texts, layout))
        self._progress("indexing", 1, 1)
        return Everything(
            texts=self._texts,
            layout=layout,
            lexical=lexical,
            dense=dense,
            tokens=self._vectors.tokens(),
            load_graph=lambda: graph,
            embedder=self._tools.embedder,
            windows=self._tools.recipe.windows,
        )


def _runs(ordinals: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ascending places -> where each unbroken run of them begins, and the place after it."""
    for _, run in groupby(enumerate(ordinals), lambda pair: pair[1] - pair[0]):
        places = [ordinal for _, ordinal in run]
        yield places[0], places[-1] + 1
