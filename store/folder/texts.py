"""The texts of an index in SQLite: documents, chunks and triplets, read a few at a time."""

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, cast

from lexloop.core.metadata import Metadata
from lexloop.core.packages import is_installed
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.chunks.statements import Statement, statements_in, statements_text
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.structure.tree import Tree
from lexloop.store.protocol import Catalogue, PreparedDocument

SCHEMA = """
CREATE TABLE documents(ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL,
    title TEXT NOT NULL, metadata TEXT NOT NULL, pages TEXT NOT NULL, headings TEXT NOT NULL,
    text TEXT NOT NULL, tree TEXT NOT NULL, places BLOB NOT NULL);
CREATE TABLE provisions(key TEXT NOT NULL, document INTEGER NOT NULL, place INTEGER NOT NULL);
CREATE INDEX provisions_by_key ON provisions(key);
CREATE INDEX provisions_of_document ON provisions(document);
CREATE TABLE chunks(position INTEGER PRIMARY KEY, document INTEGER NOT NULL, section TEXT NOT NULL,
    page INTEGER, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL,
    context TEXT NOT NULL, supporting INTEGER NOT NULL, statements TEXT NOT NULL);
CREATE INDEX chunks_of_document ON chunks(document);
CREATE TABLE triplets(number INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, subject TEXT NOT NULL,
    predicate TEXT NOT NULL, object TEXT NOT NULL, section TEXT NOT NULL, page INTEGER,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, quote TEXT NOT NULL);
CREATE INDEX triplets_of_chunk ON triplets(chunk);
CREATE TABLE skipped(file TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL,
  package TEXT NOT NULL);
"""
_DOCUMENT = "SELECT name, title, metadata, pages, headings, text, places FROM documents"
_CHUNK = """SELECT c.position, d.name, d.title, c.section, c.page, c.start, c."end", c.text,
    c.context, c.supporting, d.pages FROM chunks c JOIN documents d ON d.ordinal = c.document"""
_TRIPLET = """SELECT t.number, c.start, t.subject, t.predicate, t.object, d.name, t.section, t.page,
    t.start, t."end", t.quote FROM triplets t JOIN chunks c ON c.position = t.chunk
    JOIN documents d ON d.ordinal = c.document"""
# the folder is published as a whole or not at all, and nobody else uses it before: no journal and
# no locks are needed
_UNSHARED = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
_AT_ONCE = 500  # below the number of variables that every SQLite accepts
_TEXTS = 32  # full documents at once


class TextStore:
    """An SQLite database, safe to read from several threads; ``close`` closes its file.

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
        """Create an empty store in a new file, or in memory."""
        connection = sqlite3.connect(path or ":memory:", check_same_thread=False)
        try:
            connection.executescript(_UNSHARED + SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return cls(connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a store for reading; its file never changes while it is open."""
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        return cls(sqlite3.connect(uri, uri=True, check_same_thread=False))

    def commit(self) -> None:
        """Commit the added rows."""
        self._connection.commit()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def _rows_in(self, statement: str, values: Sequence[Any], end: str = "") -> Iterator[Any]:
        """Yield the rows of a query whose last column is one of the values."""
        for first in range(0, len(values), _AT_ONCE):
            asked = list(values[first : first + _AT_ONCE])
            yield from self.rows(f"{statement} IN ({','.join('?' * len(asked))}) {end}", asked)

    def _insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        if inserted := list(rows):
            marks = ",".join("?" * len(inserted[0]))
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", inserted)  # noqa: S608 - ours

    def add_document(self, ordinal: int, first: int, made: PreparedDocument) -> None:
        """Add a document; ``first`` is the position of its first chunk among all."""
        document, tree = made.document, made.document.tree
        record = json.dumps(document.metadata.as_record(), ensure_ascii=False, sort_keys=True)
        places = json.dumps(document.pages), json.dumps(document.headings)
        about = (document.title, record, *places, document.text)
        row = (ordinal, document.name, made.file, *about, tree.to_json(), document.places)
        self._insert("documents", [row])
        self._insert("provisions", ((key, ordinal, place) for key, place in tree.keys.items()))
        numbered = [*enumerate(made.chunks, first)]
        self._insert(
            "chunks",
            (
                (position, ordinal, c["section"], c["page"], c["start"], c["end"], c["text"],
                 c.get("context", ""), c.get("supporting", False), statements_text(part.statements))
                for position, part in numbered
                for c in (part.chunk,)
            ),
        )  # fmt: skip
        self._insert(
            "triplets",
            (
                (None, position, t["subject"], t["predicate"], t["object"], t["section"],
                 t["page"], t["start"], t["end"], t["quote"])
                for position, part in numbered
                for t in part.triplets
            ),
        )  # fmt: skip

    def add_skipped(self, file: str, skipped: Sequence[SkippedSource]) -> None:
        """Store the sources that could not be read."""
        self._insert("skipped", ((file, item.name, item.reason, item.package) for item in skipped))

    def names(self) -> list[str]:
        """Return the documents' names in order."""
        return [name for (name,) in self.rows("SELECT name FROM documents ORDER BY ordinal")]

    def catalogue(self) -> Catalogue:
        """Return the catalogue of all documents."""
        rows = self.rows("SELECT name, title, metadata, file FROM documents ORDER BY ordinal")
        known = {name: json.loads(record) for name, _, record, _ in rows if record != "{}"}
        return Catalogue(
            {name: title for name, title, _, _ in rows},
            {name: Metadata.from_record(record) for name, record in known.items()},
            {name: file for name, _, _, file in rows},
            self.skipped(),
        )

    def skipped(self, *files: str) -> list[SkippedSource]:
        """Return what could not be read of these files, "" for none; without files, of all."""
        rows = self.rows("SELECT file, name, reason, package FROM skipped")
        return [
            SkippedSource(name, reason, package=package)
            for file, name, reason, package in rows
            if not files or file in files
        ]

    def readable_since(self) -> frozenset[str]:
        """Return the files that were skipped for a missing package that is installed now."""
        rows = self.rows("SELECT file, package FROM skipped WHERE file != '' AND package != ''")
        return frozenset(file for file, package in rows if is_installed(package))

    def document(self, ordinal: int) -> Document:
        """Return a document as it was loaded, its tree included."""
        (row,) = self.rows(f"{_DOCUMENT} WHERE ordinal = ?", (ordinal,))
        return _document_of(row).with_tree(self.tree_of(ordinal))

    def _of_document(self, column: str, ordinal: int) -> Any:
        ((value,),) = self.rows(f"SELECT {column} FROM documents WHERE ordinal = ?", (ordinal,))  # noqa: S608 - ours
        return value

    def text_of(self, ordinal: int) -> str:
        """Return the full text of a document."""
        return str(self._of_document("text", ordinal))

    def texts_of(self, ordinals: Sequence[int]) -> Iterator[str]:
        """Yield the full texts of documents, in the order asked for."""
        for first in range(0, len(ordinals), _TEXTS):
            asked = ordinals[first : first + _TEXTS]
            wanted = "SELECT ordinal, text FROM documents WHERE ordinal"
            by_ordinal = dict(self._rows_in(wanted, asked))
            yield from map(by_ordinal.__getitem__, asked)

    def tree_of(self, ordinal: int) -> Tree:
        """Return the tree of a document."""
        return Tree.from_json(self._of_document("tree", ordinal))

    def statements_of(self, position: int) -> list[Statement]:
        """Return the statements of a chunk."""
        ((stored,),) = self.rows("SELECT statements FROM chunks WHERE position = ?", (position,))
        return statements_in(stored)

    def provisions(self, keys: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return key, document and place of each unit with one of the keys; see ``Tree.keys``."""
        wanted = "SELECT * FROM provisions WHERE key"
        return list(self._rows_in(wanted, keys, "ORDER BY document, place"))

    def defining(self) -> list[tuple[int, int]]:
        """Return document and place of each unit that defines a term, in order."""
        wanted = """SELECT DISTINCT document, place FROM provisions
            WHERE key >= '{"defines"' AND key < '{"defines#' ORDER BY document, place"""
        return self.rows(wanted)

    def chunks(self, positions: Sequence[int]) -> list[Chunk]:
        """Return the chunks at the given positions, in the order asked for."""
        asked = list(map(int, positions))
        by_position = {row[0]: row for row in self._rows_in(f"{_CHUNK} WHERE c.position", asked)}
        return [_chunk_of(by_position[position]) for position in asked]

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with the given numbers (from 0), in the order asked for."""
        asked = [int(number) + 1 for number in numbers]
        by_number = {row[0]: row for row in self._rows_in(f"{_TRIPLET} WHERE t.number", asked)}
        return [_triplet_of(by_number[number]) for number in asked]

    def triplets_of(self, positions: Sequence[int]) -> dict[int, list[int]]:
        """Return the numbers of each of these chunks' triplets."""
        by_position: dict[int, list[int]] = {int(position): [] for position in positions}
        wanted = "SELECT chunk, number FROM triplets WHERE chunk"
        for chunk, number in self._rows_in(wanted, list(by_position), "ORDER BY number"):
            by_position[chunk].append(number - 1)
        return by_position

    def __len__(self) -> int:
        """Return the number of triplets."""
        ((count,),) = self.rows("SELECT count(*) FROM triplets")
        return int(count)


def _document_of(row: Sequence[Any]) -> Document:
    """Return the document in a row that ``_DOCUMENT`` selects."""
    name, title, metadata, pages, headings, text, places = row
    return Document(
        name,
        title,
        text,
        Metadata.from_record(json.loads(metadata)),
        tuple(json.loads(pages)),
        tuple((at, level) for at, level in json.loads(headings)),
        places,
    )


def _chunk_of(row: Sequence[Any]) -> Chunk:
    """Return the chunk in a row that ``_CHUNK`` selects."""
    _, name, title, section, page, start, end, text, context, supporting, pages = row
    chunk: Chunk = {
        "id": f"{name}#{start}",
        "document": name,
        "title": title,
        "section": section,
        "page": page,
        "start": start,
        "end": end,
        "text": text,
    }
    if context:
        chunk["context"] = context
    if supporting:
        chunk["supporting"] = True
    if page is not None and (inside := [at for at in json.loads(pages) if start < at < end]):
        chunk["page_breaks"] = inside
    return chunk


def _triplet_of(row: Sequence[Any]) -> Triplet:
    """Return the triplet in a row that ``_TRIPLET`` selects."""
    _, chunk_start, subject, predicate, object_, name, *stated = row
    relation = (subject, predicate, object_, f"{name}#{chunk_start}", name, *stated)
    kept = [name for name in Triplet.__annotations__ if name in Triplet.__required_keys__]
    return cast("Triplet", dict(zip(kept, relation, strict=True)))
