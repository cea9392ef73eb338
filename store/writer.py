"""Writing of an index: unchanged sources are neither read nor embedded again."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection as Names
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import CorpusError, DataError, IndexWriteError
from lexloop.core.files import is_index
from lexloop.core.types import Chunk
from lexloop.documents.chunks.long_tables import long_tables_of
from lexloop.documents.document import Document, SkippedSource, mark_partly_read, versions
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import CODED, Codes, Embedder, Halves
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.generations import discard, new_generation, sync_generation, writing
from lexloop.store.folder.lexical import LexicalIndex, TermCounts, searched_text
from lexloop.store.folder.store import (
    FolderStore,
    Layout,
    StoredTriplets,
    load_folder,
    open_folder,
)
from lexloop.store.folder.texts import TextStore
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import REBUILD, IndexSource, Manifest
from lexloop.store.preparing import (
    KnownVectors,
    Preparer,
    Tools,
    Window,
    cut,
    cut_document,
    embedded,
    related,
    window_marks,
    windows_of,
)
from lexloop.store.protocol import MARK, Marks, PreparedDocument, PreparedFile
from lexloop.store.scan import Scan, SourceChanges, scan
from lexloop.store.view import Collection, View

_NO_TOKENS: Codes = np.zeros((0, CODED), dtype=np.int8)


class IndexBuilder:
    """A builder of an index from prepared documents, in order.

    Args:
        tools: Tools that prepared them.
        folder: Folder for the files; None keeps everything in memory.
    """

    def __init__(self, tools: Tools, folder: Path | None = None) -> None:
        self._tools = tools
        self._texts = TextStore.create(folder / TextStore.FILE if folder else None)
        self._terms, self._names = TermCounts(), list[str]()
        self._places: list[tuple[int, int, bool]] = []
        self._vectors: list[Halves] = [np.zeros((0, tools.embedder.dimension), dtype=np.float16)]
        self._codes: list[Codes] = []
        self._marks: list[Marks] = [np.zeros((0, 2), dtype=MARK)]

    def discard(self) -> None:
        """Close the texts' file."""
        self._texts.close()

    def add(self, made: PreparedFile) -> None:
        """Add the documents of a file, and its parts that could not be read."""
        for document in made.documents:
            self._add(document)
        self._texts.add_skipped(made.name, made.skipped)

    def _add(self, made: PreparedDocument) -> None:
        ordinal, first = len(self._names), len(self._places)
        self._texts.add_document(ordinal, first, made)
        for prepared in made.chunks:
            chunk = prepared.chunk
            self._places.append((ordinal, chunk["start"], chunk.get("supporting", False)))
            self._terms.add(searched_text(chunk))
            self._vectors.append(prepared.vectors)
            self._marks.append(prepared.marks)
            self._codes += prepared.codes or [_NO_TOKENS] * len(prepared.vectors)
        self._names.append(made.name)

    def finish(self, manifest: Manifest, progress: Progress = silent) -> FolderStore:
        """Return an index of everything that was added, in memory; ``save`` writes it.

        Args:
            manifest: Describes it, but for the counts.
            progress: Called with "indexing" before and after.
        """
        progress("indexing", 0, 1)
        recipe = self._tools.recipe
        owners, starts, supporting = np.array(self._places, dtype=np.int32).reshape(-1, 3).T
        layout = Layout(self._names, owners, starts, supporting)
        self._texts.commit()
        graph = KnowledgeGraph.build(StoredTriplets(self._texts, layout))
        made = FolderStore(
            manifest=manifest,
            texts=self._texts,
            layout=layout,
            lexical=LexicalIndex.from_counts(self._terms),
            dense=DenseIndex.build(*self._windows(), len(layout), recipe.dense_index),
            marks=np.concatenate(self._marks),
            tokens=TokenIndex.of(self._codes) if self._tools.recipe.tokens else None,
            load_graph=lambda: graph,
            embedder=self._tools.embedder,
        )
        progress("indexing", 1, 1)
        return replace(made, manifest=replace(manifest, counts=made.counts()))

    def _windows(self) -> tuple[Halves, NDArray[np.int32]]:
        """Return the vectors of all windows, and the chunk of each."""
        counts = [len(vectors) for vectors in self._vectors[1:]]
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return np.concatenate(self._vectors), owners


def build_index(
    files: Iterable[PreparedFile],
    tools: Tools,
    *,
    known: KnownVectors | None = None,
    progress: Progress = silent,
) -> Collection:
    """Index files in memory.

    Args:
        files: Files with chunks; missing vectors are embedded.
        tools: Tools of the index.
        known: Vectors that can be reused.
        progress: Called with a stage's name, the number done and the total.
    """
    builder = IndexBuilder(tools)
    for made in embedded(files, tools, known, progress):
        builder.add(made)
    return Collection(builder.finish(_empty_manifest(tools), progress))


def build_collection(documents: Iterable[Document], tools: Tools) -> Collection:
    """Index documents with distinct names in memory."""
    cuts = (
        cut_document(document.name, "", document, tools.chunk(document), tools)
        for document in documents
    )
    made = (related(PreparedFile(document.name, (document,), ()), tools) for document in cuts)
    return build_index(made, tools)


def without(view: View, chunk_ids: Names[str]) -> Collection:
    """Index a view's documents again, in memory, without some of their chunks.

    Stored vectors are reused.
    """
    recipe = replace(view.recipe, chunker="", extractor="", dense_index="flat")
    tools = Tools(recipe, {}, view.made_by, lambda *_: [], lambda *_: [])
    builder = IndexBuilder(tools)
    for document in view.made():
        kept = [prepared for prepared in document.chunks if prepared.chunk["id"] not in chunk_ids]
        builder.add(PreparedFile(document.file, (replace(document, chunks=kept),), ()))
    return Collection(builder.finish(_empty_manifest(tools)))


def index_in_memory(
    sources: Sequence[IndexSource], tools: Tools, progress: Progress = silent
) -> Collection:
    """Index sources in memory; raises like ``write_index``."""
    now = scan(sources)
    run = _Writing(Path(), tools, now, now.difference({}), None, progress)
    manifest = replace(_empty_manifest(tools), fingerprints=now.fingerprints)
    store = run.build(IndexBuilder(tools), manifest, run.files(None))
    return Collection(store, store.catalogue.skipped)


def _empty_manifest(tools: Tools) -> Manifest:
    """Return a manifest of the tools, without a generation, files or sources."""
    return Manifest(
        generation="",
        recipe=tools.recipe,
        settings=tools.settings,
        sources=(),
        excluded=(),
        counts={},
        sha256={},
        fingerprints={},
    )


def nothing_read(skipped: Iterable[SkippedSource]) -> CorpusError:
    """Return the error for an index without a document."""
    reasons = "; ".join(f"{item.name}: {item.reason}" for item in skipped)
    return CorpusError(
        f"No document could be read ({reasons or 'there is none'}).",
        "Check the files' kinds, their permissions and their encoding.",
    )


@dataclass(frozen=True)
class IndexUpdate:
    """The result of writing an index once.

    Args:
        difference: Names of source files.
        counts: The numbers of documents, chunks, windows and triplets of the index now.
        skipped: Sources that could not be read.
        recall: recall@10 of an approximate vector search against an exact one; 1 if exact.
    """

    difference: SourceChanges
    counts: dict[str, int]
    skipped: list[SkippedSource]
    recall: float


@dataclass(frozen=True)
class CostEstimate:
    """The files and texts that an update would read and embed.

    Args:
        files_added: Source files that are new to the index.
        files_changed: Source files that have changed.
        files_removed: Source files that are gone.
        documents: Number of documents in the files to read.
        chunks: Chunks of these documents, for the extractor.
        embedded_texts: Windows of the chunks that have no vectors yet.
        embedded_tokens: Number of tokens of these windows.
        skipped: Sources that could not be read.
    """

    files_added: int
    files_changed: int
    files_removed: int
    documents: int
    chunks: tuple[Chunk, ...]
    embedded_texts: int
    embedded_tokens: int
    skipped: list[SkippedSource]

    def as_record(self) -> dict[str, int]:
        """Return the figures."""
        figures = {**vars(self), "chunks": len(self.chunks)}
        del figures["skipped"]
        return figures


def write_index(
    index: Path,
    sources: Sequence[IndexSource],
    tools: Tools,
    *,
    progress: Progress = silent,
    excluded: Sequence[str] | None = (),
    fresh: bool = False,
    recorded: Sequence[IndexSource] | None = None,
    cluster: Preparer | None = None,
) -> IndexUpdate:
    """Update an index to its sources and this stemmer, or make it.

    Args:
        index: The folder.
        sources: The sources of the documents.
        tools: Make the contents of the index.
        progress: Called with a stage's name, the number done and the total.
        excluded: Names of documents and source files to leave out. None for those that the index
            names once its lock is held, so that a removal meanwhile is not undone.
        fresh: Whether to ignore an existing index.
        recorded: Sources to record in the manifest; None for ``sources``.
        cluster: Lists the files and prepares those that changed; None to do it here.

    Raises:
        CorpusError: Nothing could be read, another process writes, or the disk is full; readers
            keep the generation before.
        DataError: The existing index is damaged, or has another format.
    """
    noted = tuple(sources if recorded is None else recorded)
    with writing(index):
        if excluded is None:
            excluded = Manifest.read(index).excluded
        with _previous(None if fresh else index, tools) as old:
            now = (cluster.scan if cluster else scan)(sources, excluded)
            changes = now.difference(_reusable_fingerprints(old, tools))
            manifest = replace(
                _empty_manifest(tools),
                sources=noted,
                excluded=tuple(excluded),
                fingerprints=now.fingerprints,
            )
            if old and changes.nothing and _nothing_to_write(old, manifest, now):
                outcome = _outcome(old, changes)
            else:
                run = _Writing(index, tools, now, changes, old, progress)
                outcome = run.publish(manifest, run.files(cluster))
    return outcome


def remove_documents(
    index: Path,
    names: Sequence[str],
    tools: Tools,
    *,
    progress: Progress = silent,
    keep_out: bool = True,
) -> IndexUpdate:
    """Remove documents or source files from an index; updates leave them out.

    Args:
        index: The folder.
        names: Names of the documents or source files.
        tools: Tools the index was made with; nothing is read or embedded with them.
        progress: See ``write_index``.
        keep_out: Whether the index records them, so that updates leave them out; not needed for
            source files that are gone.

    Raises:
        CorpusError: Nothing would be left, another process writes, or the disk is full.
        DataError: The index is damaged, or has another format or embedder.
    """
    with writing(index), closing(open_folder(index, tools.embedder)) as old:
        before = old.manifest
        excluded = sorted({*before.excluded, *names})
        gone = [name for name in before.fingerprints if name in excluded]
        kept = [name for name in before.fingerprints if name not in excluded]
        changes = SourceChanges(added=[], changed=[], removed=gone, unchanged=kept)
        unread = tuple(old.texts.skipped(""))
        now = Scan({name: before.fingerprints[name] for name in kept}, unread)
        same = replace(tools, recipe=before.recipe, settings=before.settings)
        run = _Writing(index, same, now, changes, old, progress)
        noted = tuple(excluded) if keep_out else before.excluded
        manifest = replace(before, excluded=noted, fingerprints=now.fingerprints)
        return run.publish(manifest, run.files(None))


@contextmanager
def _previous(index: Path | None, tools: Tools) -> Iterator[FolderStore | None]:
    """Open the index to reuse; None if there is none, or if it has another embedder."""
    with ExitStack() as stack:
        old = None
        if index is not None and is_index(index):
            made, next_ = Manifest.read(index).recipe, tools.recipe
            if (made.embedder, made.dimension) == (next_.embedder, next_.dimension):
                # terms are made again with any stemmer
                old = stack.enter_context(
                    closing(open_folder(index, tools.embedder, any_stemmer=True))
                )
        yield old


def _reusable_fingerprints(old: FolderStore | None, tools: Tools) -> Mapping[str, str]:
    """Return the fingerprints of files whose index entries can be reused."""
    if old is None or old.manifest.recipe != tools.recipe:
        return {}
    again = old.texts.readable_since()
    fingerprints = old.manifest.fingerprints
    return {file: fingerprints[file] for file in fingerprints if file not in again}


def _nothing_to_write(old: FolderStore, manifest: Manifest, now: Scan) -> bool:
    """Return whether an index is searchable and has the same sources and settings."""
    before = old.manifest
    recorded = (before.stemmer, before.sources, before.excluded, dict(before.settings))
    wanted = (manifest.stemmer, manifest.sources, manifest.excluded, dict(manifest.settings))
    return recorded == wanted and old.texts.skipped("") == list(now.skipped)


def _outcome(store: FolderStore, changes: SourceChanges) -> IndexUpdate:
    names, metadata = store.catalogue.names, store.catalogue.metadata
    _, troubles = versions(names, metadata, lambda _: True)
    skipped = mark_partly_read(store.catalogue.skipped, names) + troubles
    return IndexUpdate(changes, store.counts(), skipped, store.dense.recall)


@dataclass(frozen=True)
class _Writing:
    """One run of writing a generation.

    Args:
        index: Folder, locked by the caller.
        tools: Make the contents of the index.
        now: The files of the sources.
        changes: Differences from the files of the index before.
        old: Index before, if something of it can be reused.
        progress: Called with a stage's name, the number done and the total.
    """

    index: Path
    tools: Tools
    now: Scan
    changes: SourceChanges
    old: FolderStore | None
    progress: Progress

    def files(self, cluster: Preparer | None) -> Iterator[PreparedFile]:
        """Yield every file in order; unchanged ones come from the index before."""
        fresh = {*self.changes.added, *self.changes.changed}
        made = cluster.prepare(self.now, fresh, self.progress) if cluster else self._read(fresh)
        with closing(made):
            for name in self.now.fingerprints:
                yield next(made) if name in fresh else self._stored(name)

    def _read(self, fresh: Names[str]) -> Generator[PreparedFile]:
        """Yield the files that are new or changed, cut and related."""
        with closing(self.now.read(fresh, self.progress)) as loading:
            for loaded in loading:
                name, mark = loaded.file.name, self.now.fingerprints[loaded.file.name]
                same = [self._reusable(name, document) for document in loaded.documents]
                other = (d for d, reused in zip(loaded.documents, same, strict=True) if not reused)
                bare = cut(replace(loaded, documents=tuple(other)), mark, self.tools)
                rest = related(bare, self.tools)
                made = iter(rest.documents)
                yield replace(rest, documents=tuple(reused or next(made) for reused in same))

    def _reusable(self, file: str, document: Document) -> PreparedDocument | None:
        """Return what was made before of the same document, even if it moved within its file."""
        old = self.old if _reusable_fingerprints(self.old, self.tools) else None
        if old is None or old.catalogue.files.get(document.name) != file:
            return None
        stored = old.document(document.name)
        if stored is None or replace(stored, places=document.places) != document:
            return None
        return replace(old.made_of(document.name), document=document)

    def _stored(self, file: str) -> PreparedFile:
        """Return a source file of the old index."""
        if self.old is None:
            raise ValueError("there is no index to keep anything of")
        documents = map(self.old.made_of, self._documents.get(file, ()))
        return PreparedFile(file, tuple(documents), tuple(self.old.texts.skipped(file)))

    @cached_property
    def _documents(self) -> Mapping[str, Sequence[str]]:
        """The documents of each source file of the old index."""
        by_file = defaultdict[str, list[str]](list)
        for name, file in self.old.catalogue.files.items() if self.old else ():
            by_file[file].append(name)
        return by_file

    def publish(self, manifest: Manifest, files: Iterator[PreparedFile]) -> IndexUpdate:
        """Write a generation of files, check it, and let readers see it."""
        folder = new_generation(self.index)
        try:
            manifest, outcome = self._written(folder, manifest, files)
            sync_generation(folder)
            _read_back(self.index, folder, manifest, self.tools.embedder)
            manifest.write(self.index)
        except sqlite3.IntegrityError as error:
            raise CorpusError(
                f"Two documents of the sources would have the same name ({error}).",
                "Give one of the sources another --prefix.",
            ) from error
        finally:
            discard(self.index, folder)
        return outcome

    def _written(
        self, folder: Path, manifest: Manifest, files: Iterator[PreparedFile]
    ) -> tuple[Manifest, IndexUpdate]:
        """Make a generation on disk; nothing of it stays in memory."""
        builder = IndexBuilder(self.tools, folder)
        try:
            store = self.build(builder, replace(manifest, generation=folder.name), files)
            hashes = store.save(folder)
            return replace(store.manifest, sha256=hashes), _outcome(store, self.changes)
        finally:
            builder.discard()

    def build(
        self, builder: IndexBuilder, manifest: Manifest, files: Iterator[PreparedFile]
    ) -> FolderStore:
        """Return an index of files; missing vectors are embedded.

        Raises:
            CorpusError: No document is left.
        """
        known = KnownVectors.of(self.old) if self.old else None
        kept = _leaving_out(files, manifest.excluded)
        for made in embedded(kept, self.tools, known, self.progress):
            builder.add(made)
        builder.add(PreparedFile("", (), self.now.skipped))
        store = builder.finish(manifest, self.progress)
        if not store.layout.names:
            raise nothing_read(store.catalogue.skipped)
        return store


def _leaving_out(files: Iterable[PreparedFile], excluded: Names[str]) -> Iterator[PreparedFile]:
    for made in files:
        kept = tuple(document for document in made.documents if document.name not in excluded)
        yield replace(made, documents=kept)


def _read_back(index: Path, folder: Path, manifest: Manifest, embedder: Embedder) -> None:
    """Open a generation as every reader will, before any reader sees it.

    Raises:
        IndexWriteError: The files on disk differ from what was written.
    """
    try:
        with closing(load_folder(manifest, folder, embedder)) as written:
            written.load_graph()
            if (problems := written.texts.rows("PRAGMA quick_check(1)")) != [("ok",)]:
                raise DataError(f"SQLite reports {problems} of the texts.", REBUILD)
    except DataError as error:
        raise IndexWriteError(
            f"The index {index} cannot be written: it does not read as it was written. "
            f"{error.what}",
            "Check the disk, then run the command again.",
        ) from error


def estimate(
    index: Path,
    sources: Sequence[IndexSource],
    tools: Tools,
    *,
    progress: Progress = silent,
    excluded: Sequence[str] | None = (),
    fresh: bool = False,
    cluster: Preparer | None = None,
) -> CostEstimate:
    """Return what ``write_index`` with the same arguments would read and embed.

    Raises:
        CorpusError: A source is missing or contains no document.
        DataError: The existing index is damaged, or has another format.
    """
    if excluded is None:
        excluded = Manifest.read(index).excluded
    with _previous(None if fresh else index, tools) as old:
        now = (cluster.scan if cluster else scan)(sources, excluded)
        return surveyed(
            now,
            now.difference(_reusable_fingerprints(old, tools)),
            tools,
            progress=progress,
            excluded=excluded,
            cluster=cluster,
            known=KnownVectors.of(old) if old else None,
        )


def surveyed(
    now: Scan,
    changes: SourceChanges,
    tools: Tools,
    *,
    progress: Progress = silent,
    excluded: Sequence[str] = (),
    cluster: Preparer | None = None,
    known: KnownVectors | None = None,
) -> CostEstimate:
    """Return the number of texts to read and to embed in changed files.

    Args:
        now: The files of the sources.
        changes: Differences from the files of the index.
        tools: Tools of the next index.
        progress: Called with a stage's name, the number done and the total.
        excluded: Names of documents that stay out.
        cluster: Cuts the files into chunks; None to do it here.
        known: Vectors that can be reused.
    """
    fresh = {*changes.added, *changes.changed}
    documents, chunks, skipped = list[str](), list[Chunk](), [*now.skipped]
    windows: list[Window] = []
    local = (cut(loaded, "", tools) for loaded in now.read(fresh, progress))
    for made in cluster.survey(now, fresh, progress) if cluster else local:
        wanted = [document for document in made.documents if document.name not in excluded]
        documents += [document.name for document in wanted]
        skipped += made.skipped
        for document in wanted:
            tables = long_tables_of(document.document)
            for part in document.chunks:
                chunks.append(part.chunk)
                windows += windows_of(part, tools, tables)
    rows = known.rows(window_marks(windows)).tolist() if known else [-1] * len(windows)
    lengths = zip(windows, rows, strict=True)
    texts = [*dict.fromkeys(window.text for window, row in lengths if row < 0 and not window.parts)]
    return CostEstimate(
        files_added=len(changes.added),
        files_changed=len(changes.changed),
        files_removed=len(changes.removed),
        documents=len(documents),
        chunks=tuple(chunks),
        embedded_texts=len(texts),
        embedded_tokens=sum(tools.embedder.count_tokens_many(texts)),
        skipped=mark_partly_read(skipped, documents),
    )
