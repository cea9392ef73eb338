"""Reuse of an existing index, of any format, in the next one.

Of an index of an earlier format its documents and vectors are reused. This is all that a later
format has to keep as it is, so that nobody pays twice for an embedding:

    manifest.json   all that ``Manifest.read`` asks for
    texts.sqlite    documents(ordinal, name, file, title, metadata, pages, headings, text),
                    skipped(file, name, reason), windows(chunk, marks)
    vectors.npy     a row for each mark in ``windows``, in the order of chunks

Everything else is made anew. Format 2 kept neither headings nor marks, and up to format 4 nothing
said where the characters of a PDF stand.
"""

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from lexloop.core.arrays import load_array
from lexloop.core.errors import CorpusError, DataError
from lexloop.core.files import is_index, remedy
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.source import Loaded, SourceFile
from lexloop.store.builder import Tools
from lexloop.store.folder.generations import GENERATIONS, SharedLock
from lexloop.store.folder.store import FolderStore, open_folder
from lexloop.store.folder.texts import DOCUMENT, TextStore, document_of
from lexloop.store.manifest import REBUILD, IndexSource, Manifest
from lexloop.store.scan import Scan, SourceChanges, scan
from lexloop.store.windows import StoredVectors

_HEADED = (".html", ".htm", ".docx")
"""Kinds whose headings are not in the text; format 2 lost them."""


@dataclass(frozen=True)
class PreviousIndex:
    """The reusable parts of an existing index; empty where there is none.

    Args:
        manifest: Its manifest.
        texts: Its documents as they were loaded.
        contents: Everything made of them, where the index can be opened.
        known: Vectors by the same embedder.
    """

    manifest: Manifest | None = None
    texts: TextStore | None = None
    contents: FolderStore | None = None
    known: StoredVectors | None = None

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """Scan the sources.

        Where an index of an earlier format has lost its sources, its own documents count as found.

        Raises:
            CorpusError: A source is missing or holds no document, two hold one of the same name,
                or the index did not keep enough of a document whose source is gone.
        """
        if self.manifest is None or self.texts is None or self.manifest.current:
            return scan(sources, excluded)
        gone = [one for one in sources if not (one.path and os.path.lexists(one.path))]
        now = scan([one for one in sources if one not in gone], excluded)
        prefixes = tuple(one.prefix for one in gone)
        lost = {
            name: mark
            for name, mark in self.manifest.fingerprints.items()
            if name.startswith(prefixes) and name not in now.fingerprints and name not in excluded
        }
        unread = self.texts.skipped(of_files=False)
        stored = {}
        if self.contents is None:
            if self.manifest.format == 2:
                _check_whole(self.texts, lost)
            form = self.manifest.format
            stored = {name: partial(_loaded, self.texts, form, name) for name in lost}
        return replace(
            now,
            fingerprints={**now.fingerprints, **lost},
            skipped=(*now.skipped, *(item for item in unread if item.name.startswith(prefixes))),
            stored=stored,
        )

    def difference(self, now: Scan) -> SourceChanges:
        """Return what has to be read, and what is reused."""
        return now.difference(self.contents.texts.fingerprints() if self.contents else {})


@contextmanager
def previous_index(index: Path | None, tools: Tools) -> Iterator[PreviousIndex]:
    """Open what the next index, which the tools make, can reuse; no other writer is there.

    Args:
        index: The folder; None where nothing may be reused.
        tools: Those of the next index.

    Raises:
        DataError: The index is damaged, or of a format that nothing here can read.
    """
    if index is None or not is_index(index):
        yield PreviousIndex()
        return
    manifest = Manifest.read(index)
    if manifest.current_format and manifest.recipe == tools.recipe:
        with closing(open_folder(index, tools.embedder, restem=True)) as old:
            yield PreviousIndex(manifest, old.texts, old, StoredVectors.of(old))
        return
    folder = index / GENERATIONS / manifest.generation
    with ExitStack() as held:
        try:
            held.callback(SharedLock(folder).release)
            manifest.check_files(folder)
            texts = TextStore.open(folder / TextStore.FILE)
        except (OSError, sqlite3.Error) as error:
            what = f"The index {index} cannot be read: {error}."
            raise DataError(what, remedy(error, REBUILD)) from error
        held.callback(texts.close)
        made, next_ = manifest.recipe, tools.recipe
        known = None
        # format 2 does not say which texts its vectors are of
        if manifest.format > 2 and (made.embedder, made.dimension) == (
            next_.embedder,
            next_.dimension,
        ):
            vectors = load_array(folder / "vectors.npy", np.float16, dimensions=2)
            known = StoredVectors(texts.window_marks, vectors)
        yield PreviousIndex(manifest, texts, known=known)


def _check_whole(texts: TextStore, files: Collection[str]) -> None:
    """Check that no document of these files lost its headings in format 2."""
    held = texts.rows("SELECT file, name FROM documents ORDER BY ordinal")
    lost = [name for file, name in held if file in files and name.lower().endswith(_HEADED)]
    if lost:
        raise CorpusError(
            "An index of format 2 does not hold the headings of its documents, and the source "
            f"of these is gone: {', '.join(lost)}.",
            "Say where the documents lie now with --source DIR.",
        )


def _loaded(texts: TextStore, form: int, file: str) -> Loaded:
    """Return a source file's documents as they were loaded for an index of this format."""
    wanted = DOCUMENT if form >= 5 else DOCUMENT.replace("boxes", "x''")
    if form == 2:
        wanted = wanted.replace("headings", "'[]'")
    rows = texts.rows(f"{wanted} WHERE file = ? ORDER BY ordinal", (file,))
    found = texts.rows("SELECT name, reason FROM skipped WHERE file = ?", (file,))
    return Loaded(
        SourceFile(file, Path(), 0, ""),
        tuple(document_of(row) for row in rows),
        tuple(SkippedSource(*row) for row in found),
    )
