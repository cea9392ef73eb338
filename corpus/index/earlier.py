"""The index that is there already, and what of it serves the next one again.

Of an index of an earlier format these are its documents and vectors. This is all that a later
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
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.files import remedy
from lexloop.corpus.arrays import load_array
from lexloop.corpus.index.draft import Tools
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.generations import GENERATIONS, Lease
from lexloop.corpus.index.manifest import REBUILD, Manifest, Recipe, Source, is_index
from lexloop.corpus.index.reader import open_everything
from lexloop.corpus.index.scan import Difference, Scan, scan
from lexloop.corpus.index.texts import DOCUMENT, TextStore, document_of
from lexloop.corpus.index.windows import KnownVectors
from lexloop.corpus.load.document import Loaded, Skipped, SourceFile

_HEADED = (".html", ".htm", ".docx")
"""Kinds whose headings are not in the text; format 2 lost them."""


class Earlier:
    """The documents and vectors of an index of any format since 2, held until it is closed.

    Args:
        manifest: What the index says of itself.
        texts: Its database.
        lease: Holds its generation.
        folder: The generation.
    """

    def __init__(self, manifest: Manifest, texts: TextStore, lease: Lease, folder: Path) -> None:
        self.texts = texts
        self._manifest, self._lease, self._folder = manifest, lease, folder

    @classmethod
    def open(cls, index: Path, manifest: Manifest) -> Self:
        """Check the files of an index and open them; the caller is its writer, or none writes.

        Raises:
            DataError: A file is missing or damaged.
        """
        folder = index / GENERATIONS / manifest.generation
        try:
            lease = Lease(folder)
        except OSError as error:
            raise DataError(
                f"The index {index} lacks {folder}: {error}.", remedy(error, REBUILD)
            ) from error
        try:
            manifest.check_files(folder)
            return cls(manifest, TextStore.open(folder / TextStore.FILE), lease, folder)
        except sqlite3.Error as error:
            lease.release()
            raise DataError(
                f"The index {folder} cannot be read: {error}.", remedy(error, REBUILD)
            ) from error
        except BaseException:
            lease.release()
            raise

    def close(self) -> None:
        """Let go of the files."""
        self.texts.close()
        self._lease.release()

    def check_whole(self, files: Collection[str]) -> None:
        """Refuse to make documents of these files again of which the index lost something.

        Raises:
            CorpusError: Names them.
        """
        if self._manifest.format > 2:
            return
        held = self.texts.rows("SELECT file, name FROM documents ORDER BY ordinal")
        lost = [name for file, name in held if file in files and name.lower().endswith(_HEADED)]
        if lost:
            raise CorpusError(
                "An index of format 2 does not hold the headings of its documents, and the source "
                f"of these is gone: {', '.join(lost)}.",
                "Say where the documents lie now with --source DIR.",
            )

    def read(self, file: str) -> Loaded:
        """A source file's documents as they were loaded when the index was made."""
        wanted = DOCUMENT
        if self._manifest.format < 5:
            wanted = wanted.replace("boxes", "x''")
        if self._manifest.format == 2:
            wanted = wanted.replace("headings", "'[]'")
        rows = self.texts.rows(f"{wanted} WHERE file = ? ORDER BY ordinal", (file,))
        found = self.texts.rows("SELECT name, reason FROM skipped WHERE file = ?", (file,))
        return Loaded(
            SourceFile(file, Path(), 0, ""),
            tuple(document_of(row) for row in rows),
            tuple(Skipped(*row) for row in found),
        )

    def vectors(self, recipe: Recipe) -> KnownVectors | None:
        """The vectors of the texts that were embedded, where the index says which texts they were.

        None where it is of format 2, or where another embedder than the next recipe's made them.
        """
        held = self._manifest.recipe
        same = (held.embedder, held.dimension) == (recipe.embedder, recipe.dimension)
        if self._manifest.format == 2 or not same:
            return None
        vectors = load_array(self._folder / "vectors.npy", np.float16, dimensions=2)
        return KnownVectors(self.texts.window_marks, vectors)


@dataclass(frozen=True)
class Before:
    """What of an index serves again; nothing where there is none.

    Args:
        manifest: What it says of itself.
        everything: Its documents are kept with all that was made of them.
        earlier: Where they cannot be, its documents as they were loaded.
        known: Vectors by the same embedder.
    """

    manifest: Manifest | None = None
    everything: Everything | None = None
    earlier: Earlier | None = None
    known: KnownVectors | None = None

    def scan(self, sources: Sequence[Source], excluded: Collection[str]) -> Scan:
        """What lies in the sources.

        An index that cannot be opened any more is brought up even where its sources are gone: what
        it holds of them counts as found.

        Raises:
            CorpusError: A source is missing or holds no document, two hold one of the same name,
                or the index did not keep enough of a document whose source is gone.
        """
        if self.manifest is None or self.manifest.current:
            return scan(sources, excluded)
        gone = [one for one in sources if not (one.path and os.path.lexists(one.path))]
        now = scan([one for one in sources if one not in gone], excluded)
        prefixes = tuple(one.prefix for one in gone)
        lost = {
            name: mark
            for name, mark in self.manifest.fingerprints.items()
            if name.startswith(prefixes) and name not in now.fingerprints and name not in excluded
        }
        held = self.everything or self.earlier
        unread = held.texts.skipped(of_files=False) if held else []
        stored = {}
        if self.earlier:
            self.earlier.check_whole(lost)
            stored = {name: partial(self.earlier.read, name) for name in lost}
        return replace(
            now,
            fingerprints={**now.fingerprints, **lost},
            skipped=(*now.skipped, *(item for item in unread if item.name.startswith(prefixes))),
            stored=stored,
        )

    def difference(self, now: Scan) -> Difference:
        """What has to be read, and what is kept."""
        return now.difference(self.everything.texts.fingerprints() if self.everything else {})


@contextmanager
def before(index: Path | None, tools: Tools) -> Iterator[Before]:
    """Open what serves again; its folder has no other writer meanwhile.

    Args:
        index: The folder; None where nothing may be kept.
        tools: Those of the next index.

    Raises:
        DataError: The index is damaged, or of a format that nothing here can read.
    """
    if index is None or not is_index(index):
        yield Before()
        return
    manifest = Manifest.read(index)
    if manifest.current_format and manifest.recipe == tools.recipe:
        with closing(open_everything(index, tools.embedder, restem=True)) as old:
            yield Before(manifest, old, known=KnownVectors.of(old))
        return
    with closing(Earlier.open(index, manifest)) as earlier:
        known = earlier.vectors(tools.recipe)
        yield Before(manifest, earlier=earlier, known=known)
