"""What an update takes over from an index of an earlier format: its documents and vectors.

This is all that a later format has to keep as it is, so that nobody pays twice for an embedding:

    manifest.json   all that ``Manifest.read`` asks for
    texts.sqlite    documents(ordinal, name, file, title, metadata, pages, headings, text),
                    skipped(file, name, reason), windows(chunk, marks)
    vectors.npy     a row for each mark in ``windows``, in the order of chunks

Everything else is made anew. Format 2 kept neither headings nor marks, and up to format 4 nothing
said where the characters of a PDF stand.
"""

import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import Self

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.files import remedy
from lexloop.corpus.arrays import load_array
from lexloop.corpus.index.generations import GENERATIONS, Lease
from lexloop.corpus.index.manifest import REBUILD, Manifest
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.index.rows import DOCUMENT, document_of
from lexloop.corpus.index.texts import TextStore
from lexloop.corpus.index.window_vectors import KnownVectors
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

        Args:
            recipe: What the next index is made with.

        Returns:
            None where it is of format 2, or where another embedder made them.
        """
        held = self._manifest.recipe
        same = (held.embedder, held.dimension) == (recipe.embedder, recipe.dimension)
        if self._manifest.format == 2 or not same:
            return None
        vectors = load_array(self._folder / "vectors.npy", np.float16, dimensions=2)
        return KnownVectors(self.texts.window_marks, vectors)
