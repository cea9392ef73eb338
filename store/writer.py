"""Writing of an index: unchanged sources are neither read nor embedded again."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from lexloop.core.errors import CorpusError, DataError, IndexWriteError
from lexloop.core.types import Chunk
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.builder import IndexBuilder, Tools
from lexloop.store.folder.earlier import PreviousIndex, previous_index
from lexloop.store.folder.generations import discard, new_generation, sync_generation, writing
from lexloop.store.folder.store import FolderStore, load_folder, open_folder
from lexloop.store.manifest import REBUILD, IndexSource, Manifest
from lexloop.store.preparing import Preparer, cut, windows_of
from lexloop.store.scan import Scan, SourceChanges
from lexloop.store.windows import StoredVectors, window_marks


@dataclass(frozen=True)
class IndexUpdate:
    """The result of one writing of an index.

    Args:
        difference: Names of source files.
        counts: The numbers of documents, chunks, windows and triplets of the index now.
        skipped: What could not be read.
        recall: recall@10 of an approximate vector search against an exact one; 1 when exact.
    """

    difference: SourceChanges
    counts: dict[str, int]
    skipped: list[SkippedSource]
    recall: float


@dataclass(frozen=True)
class CostEstimate:
    """The files and texts that an update would read and embed.

    Args:
        files_added: IndexSource files that the index does not hold yet.
        files_changed: Those that differ.
        files_removed: Those that are gone.
        documents: In the files to read.
        chunks: Of these documents, for the extractor.
        embedded_texts: Windows of the chunks whose vectors are not there yet.
        embedded_tokens: Of these windows.
        skipped: What could not be read.
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
    """Update an index to its sources, this format and this stemmer, or make it.

    Args:
        index: The folder.
        sources: The sources of the documents.
        tools: Make what the index holds.
        progress: Called with a stage's name, what is done and how much there is.
        excluded: Names of documents and source files that stay out; None for those that the
            index names when its lock is held, so that a removal meanwhile is not undone.
        fresh: Whether nothing of an index already there may be reused.
        recorded: The sources to record in the manifest; None for ``sources``.
        cluster: Lists the files and prepares those that changed; None to do it here.

    Raises:
        CorpusError: Nothing could be read, another process writes, or the disk is full; readers
            go on with the generation before.
        DataError: The index already there is damaged, or of a format that nothing here can read.
    """
    noted = tuple(sources if recorded is None else recorded)
    with writing(index):
        if excluded is None:
            excluded = Manifest.read(index).excluded
        with previous_index(None if fresh else index, tools) as held:
            now = (cluster or held).scan(sources, excluded)
            changes, old = held.difference(now), held.contents
            new = _NextGeneration(noted, tuple(excluded), tools, now, changes)
            if old and changes.nothing and new.described_by(held.manifest, old):
                skipped = [*old.texts.skipped(), *old.version_troubles]
                outcome = IndexUpdate(changes, old.counts(), skipped, old.dense.recall)
            else:
                outcome = _publish(index, new, held, progress, cluster)
    return outcome


def remove_documents(
    index: Path, names: Sequence[str], tools: Tools, *, progress: Progress = silent
) -> IndexUpdate:
    """Remove documents or source files from an index; updates leave them out.

    Args:
        index: The folder.
        names: Of the documents or source files.
        tools: Those the index was made with; nothing is read or embedded with them.
        progress: As for ``write_index``.

    Raises:
        CorpusError: Nothing would be left, another process writes, or the disk is full.
        DataError: The index is damaged or of another make.
    """
    with writing(index):
        held = Manifest.read(index)
        excluded = sorted({*held.excluded, *names})
        gone = [name for name in held.fingerprints if name in excluded]
        kept = [name for name in held.fingerprints if name not in excluded]
        changes = SourceChanges(added=[], changed=[], removed=gone, unchanged=kept)
        same = replace(tools, recipe=held.recipe, settings=held.settings)
        with closing(open_folder(index, tools.embedder)) as old:
            unread = tuple(old.texts.skipped(of_files=False))
            now = Scan({name: held.fingerprints[name] for name in kept}, unread)
            new = _NextGeneration(held.sources, tuple(excluded), same, now, changes)
            outcome = _publish(index, new, PreviousIndex(held, old.texts, old), progress)
    return outcome


@dataclass(frozen=True)
class _NextGeneration:
    """The inputs of the next generation."""

    sources: tuple[IndexSource, ...]
    excluded: tuple[str, ...]
    tools: Tools
    now: Scan
    changes: SourceChanges

    def described_by(self, held: Manifest | None, old: FolderStore) -> bool:
        """Return whether an index is searchable and has the same sources and settings."""
        if held is None or not held.current:
            return False
        unread = old.texts.skipped(of_files=False)
        said = (held.sources, held.excluded, dict(held.settings), unread)
        settings = dict(self.tools.settings)
        return said == (self.sources, self.excluded, settings, list(self.now.skipped))


def _publish(
    index: Path,
    new: _NextGeneration,
    held: PreviousIndex,
    progress: Progress,
    cluster: Preparer | None = None,
) -> IndexUpdate:
    folder = new_generation(index)
    try:
        manifest, outcome = _written(folder, new, held, progress, cluster)
        sync_generation(folder)
        _read_back(index, folder, manifest, new.tools.embedder)
        manifest.write(index)
    except sqlite3.IntegrityError as error:
        raise CorpusError(
            f"Two documents of the sources would have the same name ({error}).",
            "Give one of the sources another --prefix.",
        ) from error
    finally:
        discard(index, folder)
    return outcome


def _written(
    folder: Path,
    new: _NextGeneration,
    held: PreviousIndex,
    progress: Progress,
    cluster: Preparer | None,
) -> tuple[Manifest, IndexUpdate]:
    """Make a generation; nothing of it is in memory afterwards."""
    fresh = {*new.changes.added, *new.changes.changed}
    prepared = cluster.prepare(new.now, fresh, progress) if cluster else None
    builder = IndexBuilder(
        new.tools, folder=folder, old=held.contents, known=held.known, progress=progress
    )
    try:
        made = builder.assemble(new.now, new.changes, new.excluded, prepared)
        counts = made.counts()
        manifest = Manifest(
            generation=folder.name,
            recipe=new.tools.recipe,
            settings=new.tools.settings,
            sources=new.sources,
            excluded=new.excluded,
            counts=counts,
            sha256=made.save(folder),
            fingerprints=made.texts.fingerprints(),
        )
        skipped = [*made.texts.skipped(), *made.version_troubles]
        return manifest, IndexUpdate(new.changes, counts, skipped, made.dense.recall)
    finally:
        builder.discard()


def _read_back(index: Path, folder: Path, manifest: Manifest, embedder: Embedder) -> None:
    """Open a generation as every reader will, before any reader sees it.

    Raises:
        IndexWriteError: What lies on the disk is not what was written.
    """
    try:
        with closing(load_folder(manifest, folder, embedder)) as written:
            written.load_graph()
            if (found := written.texts.rows("PRAGMA quick_check(1)")) != [("ok",)]:
                raise DataError(f"SQLite reports {found} of the texts.", REBUILD)
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
        CorpusError: A source is missing or holds no document.
        DataError: The index already there is damaged, or of a format that nothing here can read.
    """
    if excluded is None:
        excluded = Manifest.read(index).excluded
    with previous_index(None if fresh else index, tools) as held:
        now = (cluster or held).scan(sources, excluded)
        return surveyed(
            now,
            held.difference(now),
            tools,
            progress=progress,
            excluded=excluded,
            cluster=cluster,
            known=held.known,
        )


def surveyed(
    now: Scan,
    changes: SourceChanges,
    tools: Tools,
    *,
    progress: Progress = silent,
    excluded: Sequence[str] = (),
    cluster: Preparer | None = None,
    known: StoredVectors | None = None,
) -> CostEstimate:
    """Return what there is to read and to embed of changed files.

    Args:
        now: The files of the sources.
        changes: Their differences from those of the index.
        tools: Those of the next index.
        progress: Called with a stage's name, what is done and how much there is.
        excluded: Names of documents that stay out.
        cluster: Cuts them; None to do it here.
        known: Vectors that serve again.
    """
    fresh = {*changes.added, *changes.changed}
    documents, chunks, windows, skipped = 0, list[Chunk](), list[str](), [*now.skipped]
    here = (cut(loaded, "", tools) for loaded in now.read(fresh, progress))
    for made in cluster.survey(now, fresh, progress) if cluster else here:
        wanted = [one for one in made.documents if one.name not in excluded]
        documents += len(wanted)
        skipped += made.skipped
        for part in (part for one in wanted for part in one.chunks):
            chunks.append(part.chunk)
            windows += windows_of(part, tools)
    if known:
        rows = known.rows(window_marks(windows)).tolist()
        windows = [text for text, row in zip(windows, rows, strict=True) if row < 0]
    return CostEstimate(
        files_added=len(changes.added),
        files_changed=len(changes.changed),
        files_removed=len(changes.removed),
        documents=documents,
        chunks=tuple(chunks),
        embedded_texts=len(windows),
        embedded_tokens=sum(tools.embedder.count_tokens_many(windows)),
        skipped=skipped,
    )
