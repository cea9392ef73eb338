"""Conversations on the page and in chats, in a SQLite file that only its owner can read."""

import json
import os
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from lexloop.apps.shapes.text import shortened
from lexloop.apps.withdrawing import NOTE
from lexloop.core.errors import DataError, NotFoundError
from lexloop.core.types import Turn

FILE_NAME = "server.sqlite"
IN_MEMORY = Path(":memory:")
_MARKS = {"application_id": 0x4C585356, "user_version": 1}
"""Identifies a file of these threads among SQLite files ("LXSV")."""
_ROOM = 1 << 17
"""Bytes of journal that are there before they are needed."""
_TABLES = """
CREATE TABLE threads(
    id TEXT PRIMARY KEY, person TEXT NOT NULL, title TEXT NOT NULL, created TEXT NOT NULL,
    updated TEXT NOT NULL, collections TEXT NOT NULL, tags TEXT NOT NULL
);
CREATE INDEX threads_of ON threads(person, updated);
CREATE TABLE turns(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
    question TEXT NOT NULL, said TEXT NOT NULL, vote TEXT, comment TEXT, answer BLOB NOT NULL
);
CREATE INDEX turns_of ON turns(thread, number);
"""
# in addition to the tables of the file's version: a reader that does not know it loses nothing
_LINKS = """
CREATE TABLE IF NOT EXISTS links(
    id TEXT PRIMARY KEY, thread TEXT NOT NULL UNIQUE REFERENCES threads(id) ON DELETE CASCADE,
    made TEXT NOT NULL
)
"""
_LINK_BYTES = 24
_TITLE_CHARS = 80
_BUSY_S = 10.0
_END_OF_TIME, _AFTER_ALL = ("9999-12-31", ""), 2**62


_EVERY = "SELECT turns.*, person FROM turns JOIN threads ON threads.id = turns.thread"
_ALL_TURNS = f"{_EVERY} WHERE number > ? ORDER BY number"
_AT_ONCE = 200
_DELETE_OLD = """
WITH used AS (
    SELECT threads.id, updated, coalesce(max(number), 0) AS last
    FROM threads LEFT JOIN turns ON thread = threads.id GROUP BY threads.id
), dated AS (
    SELECT id, max(updated) OVER (ORDER BY last) AS at FROM used WHERE updated <= ?
)
DELETE FROM threads WHERE id IN (SELECT id FROM dated WHERE at < ?)
"""
"""Numbers of turns only grow, even if the clock jumps back."""
Change = Callable[[str, dict[str, Any]], Mapping[str, Any]]
"""Makes of a person's answer another, or returns it."""


LOCAL = "local"
"""The owner of conversations on a terminal, since a store may have several people's."""


@dataclass(frozen=True)
class Thread:
    """A conversation: its owner, its title, and the access of its answers."""

    id: str
    person: str
    title: str
    created: str
    updated: str
    collections: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class SaidTurn:
    """A question and its answer; the text is both, with two line feeds between them."""

    id: str
    thread: str
    title: str
    updated: str
    text: str


class Link(NamedTuple):
    """A link by which others read a conversation. Its id cannot be guessed."""

    id: str
    thread: str
    title: str
    made: str


class ThreadStore:
    """The threads in one file, which is created when the first is kept.

    It is safe to use from several threads and processes.

    Args:
        file: The SQLite file. ``IN_MEMORY`` keeps the threads until the store is closed.

    Raises:
        DataError: From any method, if the file cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None

    def open(self) -> None:
        """Open the file, or create it. Without this, the first read or write does."""
        with self._opened(make=True):
            pass

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def threads(self, person: str, before: str = "", limit: int = 100) -> list[Thread]:
        """Return a person's threads, the most recently used first, optionally those after one.

        Raises:
            NotFoundError: The person has no thread ``before``.
        """
        last = self.thread(person, before) if before else None
        until = (last.updated, last.id) if last is not None else _END_OF_TIME
        rows = self._read(
            "SELECT * FROM threads WHERE person = ? AND (updated, id) < (?, ?) "
            "ORDER BY updated DESC, id DESC LIMIT ?",
            *(person, *until, limit),
        )
        return [_thread(row) for row in rows]

    def thread(self, person: str, id: str) -> Thread:
        """Return a thread.

        Raises:
            NotFoundError: The person has no thread with this id, even if others do.
        """
        for row in self._read("SELECT * FROM threads WHERE id = ? AND person = ?", id, person):
            return _thread(row)
        raise _missing("thread", id)

    def turns(
        self, person: str, id: str, before: str = "", limit: int = 20
    ) -> list[dict[str, Any]]:
        """Return the last answers of a thread, or those before one, the oldest first.

        Raises:
            NotFoundError: The person has no such thread, or the thread has no such answer.
        """
        self.thread(person, id)
        until = _AFTER_ALL
        if before:
            sql = "SELECT number FROM turns WHERE id = ? AND thread = ?"
            found = self._read(sql, before, id)
            if not found:
                raise _missing("answer", before)
            until = found[0]["number"]
        rows = self._read(
            "SELECT * FROM turns WHERE thread = ? AND number < ? ORDER BY number DESC LIMIT ?",
            *(id, until, limit),
        )
        return [_answer(row) for row in reversed(rows)]

    def said(self, person: str) -> Iterator[SaidTurn]:
        """Yield all that a person asked and was answered, the last first."""
        rows = self._read(
            "SELECT turns.id, thread, title, updated, question, said FROM turns "
            "JOIN threads ON threads.id = turns.thread WHERE person = ? ORDER BY number DESC",
            person,
        )
        for row in rows:
            fields = {key: row[key] for key in ("id", "thread", "title", "updated")}
            yield SaidTurn(**fields, text=f"{row['question']}\n\n{row['said']}")

    def count(self, id: str) -> int:
        """Return the number of answers in a thread."""
        return int(self._read("SELECT count(*) FROM turns WHERE thread = ?", id)[0][0])

    def history(self, id: str, before: str = "", most: int = 12) -> list[Turn]:
        """Return the questions before an answer of a thread, or the last ones, with their answers.

        The oldest comes first.
        """
        rows = self._read(
            "SELECT question, said FROM turns WHERE thread = ? AND number < coalesce("
            "(SELECT number FROM turns WHERE id = ?), ?) ORDER BY number DESC LIMIT ?",
            *(id, before, _AFTER_ALL, most),
        )
        turns: list[Turn] = []
        for row in reversed(rows):
            turns.append({"role": "user", "content": row["question"]})
            turns.append({"role": "assistant", "content": row["said"]})
        return turns

    def keep(
        self,
        person: str,
        answer: Mapping[str, Any],
        tags: Sequence[str],
        begins: bool,
        allowed: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> bool:
        """Keep an answer in its thread, unless the thread was deleted meanwhile.

        From then on the thread needs the access tags that the answer was given with. ``allowed``
        returns the part of the answer that may be kept; it is called while nobody else writes.

        Returns:
            False if the thread was deleted meanwhile and nothing was kept.
        """
        with self._opened(make=True) as database, database:
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(
                "SELECT * FROM threads WHERE id = ?", (answer["thread"],)
            ).fetchone()
            if row is None and not begins:
                return False
            thread = _thread(row) if row is not None else None
            _write(database, person, allowed(answer) if allowed else answer, tags, thread)
        return True

    def rename(self, person: str, id: str, title: str) -> Thread:
        """Give a thread another title, shortened to one line, and return the thread.

        Raises:
            NotFoundError: The person has no such thread.
        """
        self.thread(person, id)
        with self._opened() as database, database:
            database.execute(
                "UPDATE threads SET title = ? WHERE id = ?", (shortened(title, _TITLE_CHARS), id)
            )
        return self.thread(person, id)

    def delete(self, person: str, id: str) -> None:
        """Delete a thread with its answers, even if the disk is full.

        Raises:
            NotFoundError: The person has no such thread.
        """
        self.thread(person, id)
        with self._opened() as database:
            try:
                database.execute("DELETE FROM threads WHERE id = ?", (id,))
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                    raise
                _delete_by_turns(database, id)

    def answer(self, person: str, id: str) -> tuple[Thread, dict[str, Any]]:
        """Return an answer, and the thread that it is of.

        Raises:
            NotFoundError: The person has no such answer.
        """
        rows = self._read(
            "SELECT turns.* FROM turns JOIN threads ON threads.id = turns.thread "
            "WHERE turns.id = ? AND person = ?",
            *(id, person),
        )
        for row in rows:
            return self.thread(person, row["thread"]), _answer(row)
        raise _missing("answer", id)

    def share(self, person: str, id: str) -> Link:
        """Return the link to a thread, and create it if there is none.

        Raises:
            NotFoundError: The person has no such thread.
        """
        self.thread(person, id)
        values = (secrets.token_urlsafe(_LINK_BYTES), id, _now())
        with self._opened() as database, database:
            database.execute("INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING", values)
        return next(link for link in self.links(person) if link.thread == id)

    def unshare(self, person: str, id: str) -> None:
        """Withdraw the link to a thread, if there is one.

        Raises:
            NotFoundError: The person has no such thread.
        """
        self.thread(person, id)
        with self._opened() as database, database:
            database.execute("DELETE FROM links WHERE thread = ?", (id,))

    def links(self, person: str) -> list[Link]:
        """Return the links to a person's threads, the last first."""
        rows = self._read(
            "SELECT links.id, thread, title, made FROM links JOIN threads "
            "ON threads.id = links.thread WHERE person = ? ORDER BY made DESC, links.id",
            person,
        )
        return [Link(*row) for row in rows]

    def linked(self, link: str) -> Thread:
        """Return the thread that a link leads to.

        Raises:
            NotFoundError: There is no such link, or it was withdrawn.
        """
        sql = "SELECT threads.* FROM threads JOIN links ON threads.id = thread WHERE links.id = ?"
        for row in self._read(sql, link):
            return _thread(row)
        raise NotFoundError(
            "There is no such link, or it was withdrawn.", "Ask the sender for another one."
        )

    def rate(self, id: str, vote: str, comment: str) -> None:
        """Keep a person's opinion with an answer, for the page to show."""
        with self._opened() as database, database:
            database.execute(
                "UPDATE turns SET vote = ?, comment = ? WHERE id = ?", (vote, comment, id)
            )

    def rewrite(self, change: Change) -> list[tuple[str, str, str]]:
        """Replace answers of all people with a function's results.

        The old text is also erased from the file and its journal.

        Args:
            change: Returns the part of a person's answer to keep. A withdrawn answer is not
                repeated when the conversation continues.

        Returns:
            The person, thread and id of each answer that has changed.
        """
        last, changed_rows = 0, list[int]()
        for row in self._every():
            last = row["number"]
            changed_rows += [last] if _changed(row, change) else []
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                rows = database.execute(_ALL_TURNS, (last,)).fetchall()
                for number in changed_rows:
                    rows += database.execute(f"{_EVERY} WHERE number = ?", (number,)).fetchall()
                touched = [row for row in rows if _replaced(database, row, change)]
            self._scrub(database)
        return [(row["person"], row["thread"], row["id"]) for row in touched]

    def every(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each answer with its person."""
        for row in self._every():
            yield row["person"], _answer(row)

    def _every(self) -> Iterator[sqlite3.Row]:
        last = 0
        while rows := self._read(f"{_ALL_TURNS} LIMIT {_AT_ONCE}", last):
            last = rows[-1]["number"]
            yield from rows

    def expire(self, until: datetime, now: datetime) -> int:
        """Delete the threads that were last used before a moment, and return how many.

        A thread counts as not older than any used before it, since one answered while the clock was
        set back is not old. Threads dated after ``now`` are kept and ignored.
        """
        with self._opened() as database:
            with database:
                gone = database.execute(_DELETE_OLD, (_stamp(now), _stamp(until))).rowcount
            if gone:
                self._scrub(database)
        return gone

    def _scrub(self, database: sqlite3.Connection) -> None:
        """Erase every byte of what was deleted, including from the journal."""
        if self._database is None or self.file == IN_MEMORY:
            return
        database.execute("VACUUM")
        for mode in ("DELETE", "PERSIST"):
            database.execute(f"PRAGMA journal_mode = {mode}").fetchone()
        with database:
            database.execute("BEGIN IMMEDIATE")
            _make_room(self.file.with_name(f"{self.file.name}-journal"))

    def _read(self, sql: str, *given: object) -> list[sqlite3.Row]:
        with self._opened() as database:
            return database.execute(sql, given).fetchall()

    @contextmanager
    def _opened(self, make: bool = False) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._database is None:
                    if not make and not self.file.exists():
                        with closing(_connected(IN_MEMORY)) as empty:
                            yield empty
                        return
                    self._database = self._made()
                yield self._database
            except (OSError, sqlite3.Error, zlib.error, ValueError) as error:
                raise DataError(
                    f"Conversations cannot be kept in {self.file}: {error}.",
                    "Check the disk, move that file away, or set LEXLOOP_DATA_DIR.",
                ) from error

    def _made(self) -> sqlite3.Connection:
        if self.file == IN_MEMORY:
            return _connected(IN_MEMORY)
        if not self.file.exists():  # conversations are private to their owner
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
        return _connected(self.file)


def _connected(place: Path) -> sqlite3.Connection:
    """Open a database, and make the tables of a new one."""
    with ExitStack() as stack:
        database = sqlite3.connect(
            place, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        stack.callback(database.close)
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA secure_delete = ON")
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        marks = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
        if tables and marks != [*_MARKS.values()]:
            raise sqlite3.DatabaseError(_other(database))
        database.execute("PRAGMA journal_mode = PERSIST")
        database.execute("PRAGMA synchronous = NORMAL")
        if tables and not os.access(place, os.W_OK):  # a read-only disk
            stack.pop_all()
            return database
        with database:
            database.execute("BEGIN IMMEDIATE")
            if place != IN_MEMORY:
                _make_room(place.with_name(f"{place.name}-journal"))
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                for name, value in _MARKS.items():
                    database.execute(f"PRAGMA {name} = {value}")
            database.execute(_LINKS)
        stack.pop_all()  # it was opened correctly, and stays open
    return database


def _now() -> str:
    return _stamp(datetime.now(UTC))


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _changed(row: sqlite3.Row, change: Change) -> dict[str, Any] | None:
    """Return the answer that replaces a turn's, or None if it stays unchanged."""
    before = _answer(row)
    after = dict(change(row["person"], before))
    return None if after == before else after


def _replaced(database: sqlite3.Connection, row: sqlite3.Row, change: Change) -> bool:
    """Return whether a turn is another now, with its comment and the title that it gave."""
    changed_answer = _changed(row, change)
    if changed_answer is None:
        return False
    comment = changed_answer.pop("feedback", {}).get("comment", row["comment"])
    packed, answer = zlib.compress(json.dumps(changed_answer).encode()), changed_answer["answer"]
    database.execute(
        "UPDATE turns SET question = ?, said = ?, comment = ?, answer = ? WHERE number = ?",
        (
            changed_answer["question"],
            "" if answer == NOTE else answer,
            comment,
            packed,
            row["number"],
        ),
    )
    titles = [
        shortened(title, _TITLE_CHARS) for title in (changed_answer["question"], row["question"])
    ]
    database.execute(
        "UPDATE threads SET title = ? WHERE title = ? AND id = ?", (*titles, row["thread"])
    )
    return True


def _other(database: sqlite3.Connection) -> str:
    """Return what a file is instead of a file of conversations."""
    query = "SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints'"
    if database.execute(query).fetchone()[0]:
        return "it holds the checkpoints of LangGraph, which an earlier `lexloop chat` kept"
    return "it is another file, or of another version"


def _make_room(journal: Path) -> None:
    """Lengthen a journal that stays between changes. Only the caller may write there.

    A change first stores what it replaces there, which on a full disk needs room that exists
    already.
    """
    with suppress(OSError), journal.open("ab") as file:
        file.write(bytes(max(0, _ROOM - file.tell())))


def _delete_by_turns(database: sqlite3.Connection, id: str) -> None:
    """Delete a thread answer by answer, so that each step needs little of the journal."""
    turns = "SELECT number FROM turns WHERE thread = ? ORDER BY number DESC"
    for (number,) in database.execute(turns, (id,)).fetchall():
        database.execute("DELETE FROM turns WHERE number = ?", (number,))
    database.execute("DELETE FROM threads WHERE id = ?", (id,))


def _write(
    database: sqlite3.Connection,
    person: str,
    answer: Mapping[str, Any],
    tags: Sequence[str],
    thread: Thread | None,
) -> None:
    """Write an answer and what its thread is by it; ``thread`` is the thread before."""
    collections = dict.fromkeys([*(thread.collections if thread else ()), *answer["collections"]])
    database.execute(
        "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "updated = excluded.updated, collections = excluded.collections, tags = excluded.tags",
        (
            answer["thread"],
            person,
            shortened(answer["question"], _TITLE_CHARS),
            answer["at"],
            answer["at"],
            json.dumps([*collections]),
            json.dumps(sorted({*(thread.tags if thread else ()), *tags})),
        ),
    )
    packed = zlib.compress(json.dumps(answer).encode())
    database.execute(
        "INSERT INTO turns(id, thread, question, said, answer) VALUES (?, ?, ?, ?, ?)",
        (answer["id"], answer["thread"], answer["question"], answer["answer"], packed),
    )


def _thread(row: sqlite3.Row) -> Thread:
    fields = {**dict(row), "collections": tuple(json.loads(row["collections"]))}
    return Thread(**{**fields, "tags": tuple(json.loads(row["tags"]))})


def _answer(row: sqlite3.Row) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(zlib.decompress(row["answer"]))
    if row["vote"]:
        answer["feedback"] = {"vote": row["vote"], "comment": row["comment"]}
    return answer


def _missing(what: str, id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no {what} {id[:40]!r}.", "See /api/threads for those there are."
    )
