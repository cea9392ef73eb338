"""Building of an index: documents come in their final order, new ones and reused ones."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import CorpusError
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.chunks.spans import Chunker
from lexloop.documents.chunks.statements import statements_in
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import Loaded
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.structure.statements import Statement
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Embedder, TokenEmbedder
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.lexical import LexicalIndex, TermCounts, searched_text
from lexloop.store.folder.store import FolderStore, Layout, StoredTriplets
from lexloop.store.folder.texts import TextStore
from lexloop.store.manifest import Manifest, Recipe
from lexloop.store.protocol import PreparedDocument, PreparedFile
from lexloop.store.scan import Scan, SourceChanges
from lexloop.store.view import Collection, View
from lexloop.store.windows import StoredVectors, WindowVectors, whole_windows, window_texts

Extractor = Callable[[Document, Sequence[Chunk]], list[Triplet]]
"""A function from a document and its chunks to the relations that it states."""


@dataclass(frozen=True)
class Tools:
    """The functions and models that turn documents into an index, and the recipe that names them.

    ``settings`` are those that chose the rest; a later update starts from them.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    embedder: Embedder
    chunk: Chunker
    extract: Extractor

    @property
    def token_embedder(self) -> TokenEmbedder | None:
        """What makes token vectors; None where none are kept."""
        late = self.embedder if self.recipe.tokens else None
        return late if isinstance(late, TokenEmbedder) else None


class IndexBuilder:
    """A builder of an index, given files in ascending order of their names.

    Args:
        tools: Make chunks, triplets and vectors.
        folder: The folder of the files; None keeps everything in memory.
        old: The index before, whose documents may be reused.
        known: Vectors by the same embedder, which serve again.
        progress: Called with a stage's name, what is done and how much there is.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        folder: Path | None = None,
        old: FolderStore | None = None,
        known: StoredVectors | None = None,
        progress: Progress = silent,
    ) -> None:
        self._tools, self._old, self._progress = tools, old, progress
        self._texts = TextStore.create(folder / TextStore.FILE if folder else None)
        self._counts = TermCounts()
        self._vectors = WindowVectors(tools.embedder, progress, known, tools.token_embedder)
        self._names: list[str] = []
        self._layout: list[NDArray[np.int32]] = [np.zeros((3, 0), dtype=np.int32)]
        self._size = 0

    def discard(self) -> None:
        """Close the texts' file."""
        self._texts.close()

    def assemble(
        self,
        now: Scan,
        changes: SourceChanges,
        excluded: Names[str] = (),
        prepared: Generator[PreparedFile] | None = None,
    ) -> FolderStore:
        """Read what is new, reuse the rest of the old index, and return the new one.

        Args:
            now: The files of the sources.
            changes: Their differences from those of the old index.
            excluded: Names of documents that stay out.
            prepared: What is new, where it is prepared elsewhere; None to read it here.

        Raises:
            CorpusError: No document is left.
        """
        fresh = {*changes.added, *changes.changed}
        read: Generator[Loaded | PreparedFile] = prepared or now.read(fresh, self._progress)
        with closing(read) as found:
            for name, fingerprint in now.fingerprints.items():
                if name not in fresh:
                    self._reuse_file(name, excluded)
                    continue
                given = next(found)
                self._texts.add_file(name, fingerprint, given.skipped)
                for document in given.documents:
                    if document.name in excluded:
                        continue
                    if isinstance(document, PreparedDocument):
                        self.add_prepared(document)
                    else:
                        self.add(name, document)
        self._texts.add_skipped("", now.skipped)
        if not self._names:
            raise nothing_read(self._texts.skipped())
        return self.finish()

    def _reuse_file(self, name: str, excluded: Names[str]) -> None:
        """Copy a source file of the old index with its documents."""
        old = self._known
        kept = [i for i in self._places.get(name, []) if old.layout.names[i] not in excluded]
        self._texts.copy_file(old.texts, name)
        for first, end in _runs(kept):
            self._reuse(first, end)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return self._known.texts.files()

    @property
    def _known(self) -> FolderStore:
        if self._old is None:
            raise ValueError("there is no index to keep anything of")
        return self._old

    def add(self, file: str, document: Document) -> None:
        """Chunk, relate and index a document, or reuse what was made of it before."""
        known = self._old.texts.same_document(file, document) if self._old else None
        if known is not None:
            self._reuse(known, known + 1)
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
        """Index a document that is chunked already; stored vectors serve again.

        Args:
            file: The source file that it lies in.
            document: The document.
            chunks: Of this document, in order.
            found: For each chunk its statements.
            triplets: The relations that the chunks state.
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
        self._place([document.name], _placed(ordinal, chunks))

    def add_prepared(self, made: PreparedDocument) -> None:
        """Index a document of which everything is made."""
        document, chunks = made.document, made.chunks
        ordinal, first = len(self._names), self._size
        self._texts.add_document(ordinal, made.file, document)
        self._texts.add_chunks(
            first, ordinal, [c.chunk for c in chunks], [c.statements for c in chunks]
        )
        self._texts.add_triplets(
            [(position, t) for position, c in enumerate(chunks, first) for t in c.triplets]
        )
        for position, one in enumerate(chunks, first):
            self._counts.add(searched_text(one.chunk))
            self._vectors.add_made(one.vectors, one.codes)
            self._texts.add_windows(position, one.marks)
        self._place([document.name], _placed(ordinal, [one.chunk for one in chunks]))

    def _reuse(self, first: int, end: int) -> None:
        """Copy neighbouring documents of the old index with everything made of them."""
        old, by = self._known, len(self._names) - first
        layout = old.layout
        begin, stop = layout.span_of(first)[0], layout.span_of(end - 1)[1]
        self._texts.copy_documents(old.texts, (first, end), by, (begin, stop), self._size - begin)
        self._counts.add_rows(old.lexical, begin, stop)
        self._vectors.reuse(old.dense, begin, stop, old.tokens)
        part = slice(begin, stop)
        rows = layout.owners[part] + by, layout.starts[part], layout.supporting[part]
        self._place(layout.names[first:end], np.stack(rows))

    def _place(self, names: Sequence[str], rows: NDArray[np.int32]) -> None:
        self._names += names
        self._layout.append(rows)
        self._size += rows.shape[1]

    def finish(self) -> FolderStore:
        """Return everything indexed, in memory; ``save`` writes it."""
        owners, vectors = self._vectors.finish()
        self._progress("indexing", 0, 1)
        dense = DenseIndex.build(vectors, owners, self._size, self._tools.recipe.dense_index)
        lexical = LexicalIndex.from_counts(self._counts)
        self._texts.commit()
        layout = Layout(self._names, *np.concatenate(self._layout, axis=1))
        graph = KnowledgeGraph.build(StoredTriplets(self._texts, layout))
        self._progress("indexing", 1, 1)
        made = FolderStore(
            manifest=self._described(),
            texts=self._texts,
            layout=layout,
            lexical=lexical,
            dense=dense,
            tokens=self._vectors.tokens(),
            load_graph=lambda: graph,
            embedder=self._tools.embedder,
        )
        return replace(made, manifest=replace(made.manifest, counts=made.counts()))

    def _described(self) -> Manifest:
        """Return a manifest of what is in memory: of no generation, with no file to vouch for."""
        return Manifest(
            generation="",
            recipe=self._tools.recipe,
            settings=self._tools.settings,
            sources=(),
            excluded=(),
            counts={},
            sha256={},
            fingerprints=self._texts.fingerprints(),
        )


def nothing_read(skipped: Iterable[SkippedSource]) -> CorpusError:
    """Return the error for an index without a document."""
    reasons = "; ".join(f"{item.name}: {item.reason}" for item in skipped)
    return CorpusError(
        f"No document could be read ({reasons or 'there is none'}).",
        "Check the files' kinds, their permissions and their encoding.",
    )


def _placed(ordinal: int, chunks: Sequence[Chunk]) -> NDArray[np.int32]:
    """Return the rows of a layout for a document's chunks."""
    rows = [(ordinal, c["start"], c.get("supporting", False)) for c in chunks]
    return np.array(rows, dtype=np.int32).reshape(-1, 3).T


def _runs(ordinals: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first place of each unbroken ascending run, and the place behind its last."""
    for _, run in groupby(enumerate(ordinals), lambda pair: pair[1] - pair[0]):
        places = [ordinal for _, ordinal in run]
        yield places[0], places[-1] + 1


def build_collection(documents: Iterable[Document], tools: Tools) -> Collection:
    """Index documents with distinct names in memory."""
    builder = IndexBuilder(tools)
    for document in documents:
        builder.add(document.name, document)
    return Collection(builder.finish())


def without(view: View, chunk_ids: Names[str]) -> Collection:
    """Index a view's documents again, in memory, as if some of their chunks were not there.

    Stored vectors serve again.
    """
    recipe = replace(view.recipe, chunker="", extractor="", dense_index="flat")
    builder = IndexBuilder(Tools(recipe, {}, view.made_by, lambda *_: [], lambda *_: []))
    for one in view.made():
        kept = [held for held in one.chunks if held.chunk["id"] not in chunk_ids]
        builder.add_prepared(replace(one, chunks=kept))
    return Collection(builder.finish())
