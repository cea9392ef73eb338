"""What a writing of an index would take, found out without embedding or asking anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.statements import statements_in
from lexloop.corpus.index.before import before
from lexloop.corpus.index.draft import Progress, silent
from lexloop.corpus.index.manifest import Manifest, Source
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.window_vectors import KnownVectors
from lexloop.corpus.index.windows import window_marks, window_texts
from lexloop.corpus.load.document import Document, Skipped


@dataclass(frozen=True)
class Estimate:
    """What would be read and embedded.

    Args:
        files_added: Source files that the index does not hold yet.
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
    skipped: list[Skipped]

    def as_record(self) -> dict[str, int]:
        """The figures."""
        return {
            "files_added": self.files_added,
            "files_changed": self.files_changed,
            "files_removed": self.files_removed,
            "documents": self.documents,
            "chunks": len(self.chunks),
            "embedded_texts": self.embedded_texts,
            "embedded_tokens": self.embedded_tokens,
        }


def estimate(
    index: Path,
    sources: Sequence[Source],
    tools: Tools,
    *,
    progress: Progress = silent,
    excluded: Sequence[str] | None = (),
    fresh: bool = False,
) -> Estimate:
    """What ``write_index`` with the same arguments would read and embed.

    Raises:
        CorpusError: A source is missing or holds no document.
        DataError: The index already there is damaged, or of a format that nothing here can read.
    """
    if excluded is None:
        excluded = Manifest.read(index).excluded
    with before(None if fresh else index, tools) as held:
        now = held.scan(sources, excluded)
        changes = held.difference(now)
        documents, chunks, windows, skipped = 0, list[Chunk](), list[str](), [*now.skipped]
        for loaded in now.read({*changes.added, *changes.changed}, progress):
            wanted = [document for document in loaded.documents if document.name not in excluded]
            documents += len(wanted)
            skipped += loaded.skipped
            for document in wanted:
                cut = tools.chunk(document)
                windows += _windows(document, cut, tools)
                chunks += cut
        windows = _unknown(windows, held.known)
    return Estimate(
        files_added=len(changes.added),
        files_changed=len(changes.changed),
        files_removed=len(changes.removed),
        documents=documents,
        chunks=tuple(chunks),
        embedded_texts=len(windows),
        embedded_tokens=sum(tools.embedder.count_tokens_many(windows)),
        skipped=skipped,
    )


def _windows(document: Document, chunks: Sequence[Chunk], tools: Tools) -> list[str]:
    """The windows of a document's chunks."""
    held = zip(chunks, statements_in(document, chunks), strict=True)
    embedder, kind = tools.embedder, tools.recipe.windows
    return [text for chunk, found in held for text in window_texts(chunk, found, embedder, kind)]


def _unknown(found: list[str], known: KnownVectors | None) -> list[str]:
    """The windows that have to be embedded."""
    if known is None:
        return found
    rows = known.rows(window_marks(found)).tolist()
    return [text for text, row in zip(found, rows, strict=True) if row < 0]
