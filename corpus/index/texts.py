"""The texts of an index in SQLite: documents, chunks and triplets, read a few at a time."""

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index.rows import (
    CHUNK,
    DOCUMENT,
    SCHEMA,
    TRIPLET,
    chunk_of,
    document_mark,
    document_of,
    statements_of,
    statements_text,
    triplet_of,
)
from lexloop.corpus.index.windows import MARK, Marks
from lexloop.corpus.load.document import Document, Skipped
from lexloop.corpus.structure.statements import Statement
from lexloop.corpus.structure.tree import Tree

# the folder is published whole or not at all, and is nobody else's until then: a journal would
# protect nothing, and locks nobody
_UNSHARED = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
_AT_ONCE = 500  # below the number of variables that every SQLite accepts


class TextStore:
    """One SQLite database; safe to read from several threads. ``close`` lets go of its file.

    Args:
        connection: An open database with the tables of this room.
    """

    FILE = "texts.sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, connection.close)

    @classmethod
    def create(cls, path: Path | None) -> Self:
        """An empty store in a new file, or in memory.

        Raises:
            sqlite3.Error: The file cannot be written.
        """
        connection = sqlite3.connect(path or ":memory:", check_same_thread=False)
        try:
            connection.executescript(_UNSHARED + SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return cls(connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A store for reading; its file never changes while it is open.

        Raises:
            sqlite3.Error: It is no such database.
        """
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        return cls(sqlite3.connect(uri, uri=True, check_same_thread=False))

    def commit(self) -> None:
        """Make what was added part of the file."""
        self._connection.commit()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def add_document(self, ordinal: int, file: str, document: Document) -> None:
        """Add a document without its chunks."""
        record = json.dumps(document.metadata.as_record(), ensure_ascii=False, sort_keys=True)
        places = json.dumps(document.pages), json.dumps(document.headings, ensure_ascii=False)
        about = (document_mark(document), document.title, record, *places, document.text)
        tree = document.tree
        self._connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (ordinal, document.name, file, *about, tree.to_json(), document.boxes),
        )
        self._connection.executemany(
            "INSERT INTO provisions VALUES (?, ?, ?)",
            ((key, ordinal, place) for key, place in tree.keys.items()),
        )

    def same_document(self, file: str, document: Document) -> int | None:
        """The place of a document of which the same was loaded from the same file."""
        found = self.rows(
            "SELECT ordinal, sha256 FROM documents WHERE name = ? AND file = ?",
            (document.name, file),
        )
        return next((place for place, mark in found if mark == document_mark(document)), None)

    def add_chunks(
        self,
        first: int,
        ordinal: int,
        chunks: Sequence[Chunk],
        statements: Sequence[Sequence[Statement]],
    ) -> None:
        """Add a document's chunks, each with its statements, at the positions from ``first`` on."""
        self._connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (first + i, ordinal, c["section"], c["page"], c["start"], c["end"], c["text"],
                 c.get("context", ""), c.get("supporting", False), statements_text(found))
                for i, (c, found) in enumerate(zip(chunks, statements, strict=True))
            ),
        )  # fmt: skip

    def add_windows(self, position: int, marks: Marks) -> None:
        """Note which texts of a chunk are embedded; see ``window_marks``."""
        self._connection.execute("INSERT INTO windows VALUES (?, ?)", (position, marks.tobytes()))

    def window_marks(self) -> Marks:
        """The marks of all windows in the order of their vectors, shape (windows, 2)."""
        held = b"".join(row[0] for row in self.rows("SELECT marks FROM windows ORDER BY chunk"))
        return np.frombuffer(held, dtype=MARK).reshape(-1, 2)

    def add_triplets(self, rows: Sequence[tuple[int, Triplet]]) -> None:
        """Add triplets, each with the position of the chunk that states it."""
        self._connection.executemany(
            "INSERT INTO triplets VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (position, t["subject"], t["predicate"], t["object"], t["section"], t["page"],
                 t["start"], t["end"], t["quote"])
                for position, t in rows
            ),
        )  # fmt: skip

    def add_file(self, name: str, fingerprint: str, skipped: Sequence[Skipped]) -> None:
        """Note which bytes a source file had and what of it could not be read."""
        self._connection.execute("INSERT INTO fingerprints VALUES (?, ?)", (name, fingerprint))
        self.add_skipped(name, skipped)

    def add_skipped(self, file: str, skipped: Sequence[Skipped]) -> None:
        """Note what could not be read."""
        rows = [(file, item.name, item.reason) for item in skipped]
        self._connection.executemany("INSERT INTO skipped VALUES (?, ?, ?)", rows)

    def copy_documents(
        self,
        old: "TextStore",
        ordinals: tuple[int, int],
        by: int,
        positions: tuple[int, int],
        shift: int,
    ) -> None:
        """Take over neighbouring documents of another store with their chunks and triplets.

        Args:
            old: The other store.
            ordinals: The first of the documents, and the place after the last.
            by: How many places they move.
            positions: Likewise of their chunks.
            shift: How many places these move.
        """
        # by the place of a column what is added to it; a triplet's number is given anew
        moved: tuple[tuple[str, str, tuple[int, int], dict[int, int]], ...] = (
            ("documents", "ordinal", ordinals, {0: by}),
            ("provisions", "document", ordinals, {1: by}),
            ("chunks", "position", positions, {0: shift, 1: by}),
            ("windows", "chunk", positions, {0: shift}),
            ("triplets", "chunk", positions, {1: shift}),
        )
        for table, column, span, added in moved:
            rows = old.rows(
                f"SELECT * FROM {table} WHERE {column} >= ? AND {column} < ? ORDER BY rowid",  # noqa: S608 - ours
                span,
            )
            if not rows:
                continue
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 - ours
                ([_moved(table, i, value, added) for i, value in enumerate(row)] for row in rows),
            )

    def copy_file(self, old: "TextStore", file: str) -> None:
        """Take over what another store notes of a source file."""
        for table in ("fingerprints", "skipped"):
            rows = old.rows(f"SELECT * FROM {table} WHERE file = ?", (file,))  # noqa: S608 - ours
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608

    def names(self) -> list[str]:
        """The documents' names in order."""
        return [row[0] for row in self.rows("SELECT name FROM documents ORDER BY ordinal")]

    def titles(self) -> dict[str, str]:
        """The documents' titles by their names, in order."""
        return dict(self.rows("SELECT name, title FROM documents ORDER BY ordinal"))

    def metadata(self) -> dict[str, Metadata]:
        """What is known of each document that has metadata."""
        found = self.rows("SELECT name, metadata FROM documents WHERE metadata != '{}'")
        return {name: Metadata.from_record(json.loads(record)) for name, record in found}

    def fingerprints(self) -> dict[str, str]:
        """Source file -> the SHA-256 it had."""
        return dict(self.rows("SELECT file, sha256 FROM fingerprints"))

    def skipped(self, of_files: bool | None = None) -> list[Skipped]:
        """What could not be read.

        Args:
            of_files: Only what lies in files that have a fingerprint, or only the rest; None for
                both.
        """
        which = {None: "", True: " WHERE file != ''", False: " WHERE file = ''"}[of_files]
        found = self.rows(f"SELECT name, reason FROM skipped{which}")  # noqa: S608 - ours
        return [Skipped(*row) for row in found]

    def files(self) -> dict[str, list[int]]:
        """Source file -> the places of its documents."""
        found: dict[str, list[int]] = {}
        for file, ordinal in self.rows("SELECT file, ordinal FROM documents ORDER BY ordinal"):
            found.setdefault(file, []).append(ordinal)
        return found

    def document(self, ordinal: int) -> Document:
        """A document as it was loaded.

        Raises:
            KeyError: There is no such document.
        """
        for row in self.rows(f"{DOCUMENT} WHERE ordinal = ?", (ordinal,)):
            return document_of(row)
        raise KeyError(ordinal)

    def text_of(self, ordinal: int) -> str:
        """The whole text of a document."""
        ((text,),) = self.rows("SELECT text FROM documents WHERE ordinal = ?", (ordinal,))
        return str(text)

    def tree_of(self, ordinal: int) -> Tree:
        """The tree of a document."""
        ((stored,),) = self.rows("SELECT tree FROM documents WHERE ordinal = ?", (ordinal,))
        return Tree.from_json(stored)

    def statements_of(self, position: int) -> list[Statement]:
        """The statements of a chunk."""
        ((stored,),) = self.rows("SELECT statements FROM chunks WHERE position = ?", (position,))
        return statements_of(stored)

    def provisions(self, keys: Sequence[str]) -> list[tuple[str, int, int]]:
        """Key, document and place of each unit that one of the keys names; see ``Places``."""
        found: list[tuple[str, int, int]] = []
        for asked in _portions(keys):
            wanted = f"SELECT * FROM provisions WHERE key IN ({','.join('?' * len(asked))})"  # noqa: S608
            found += self.rows(f"{wanted} ORDER BY document, place", asked)
        return found

    def defining(self) -> list[tuple[int, int]]:
        """Document and place of each unit that defines a term, in order."""
        wanted = """SELECT DISTINCT document, place FROM provisions
            WHERE key >= '{"defines"' AND key < '{"defines#' ORDER BY document, place"""
        return self.rows(wanted)

    def pages_of(self, ordinal: int) -> list[int]:
        """Where each page of a document begins; nothing where it has none."""
        ((pages,),) = self.rows("SELECT pages FROM documents WHERE ordinal = ?", (ordinal,))
        return list(json.loads(pages))

    def chunks(self, positions: Sequence[int]) -> list[Chunk]:
        """The chunks at the given positions, in the order asked for."""
        found: dict[int, Chunk] = {}
        for asked in _portions([int(position) for position in positions]):
            marks = ",".join("?" * len(asked))
            for row in self.rows(f"{CHUNK} WHERE c.position IN ({marks})", asked):
                found[row[0]] = chunk_of(row)
        return [found[position] for position in positions]

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """The triplets with the given numbers (from 0), in the order asked for."""
        found: dict[int, Triplet] = {}
        for asked in _portions([int(number) + 1 for number in numbers]):
            marks = ",".join("?" * len(asked))
            for row in self.rows(f"{TRIPLET} WHERE t.number IN ({marks})", asked):
                found[row[0] - 1] = triplet_of(row)
        return [found[number] for number in numbers]

    def triplets_of(self, positions: Sequence[int]) -> dict[int, list[int]]:
        """The numbers of the triplets of each of these chunks."""
        found: dict[int, list[int]] = {int(position): [] for position in positions}
        for asked in _portions(list(found)):
            marks = ",".join("?" * len(asked))
            wanted = f"SELECT chunk, number FROM triplets WHERE chunk IN ({marks}) ORDER BY number"  # noqa: S608
            for chunk, number in self.rows(wanted, asked):
                found[chunk].append(number - 1)
        return found

    def __len__(self) -> int:
        """How many triplets there are."""
        ((count,),) = self.rows("SELECT count(*) FROM triplets")
        return int(count)


def _moved(table: str, place: int, value: Any, added: Mapping[int, int]) -> Any:
    """A value of a row that is taken over into another store."""
    if table == "triplets" and place == 0:
        return None
    return value + added[place] if place in added else value


def _portions(values: Sequence[Any]) -> Iterator[list[Any]]:
    for begin in range(0, len(values), _AT_ONCE):
        yield list(values[begin : begin + _AT_ONCE])
