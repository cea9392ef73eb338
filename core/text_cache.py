"""A cache of texts that were paid for, by key, in an SQLite file."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexloop.core.errors import DataError
from lexloop.core.files import cache_folder, remedy

_WAIT_S = 30.0


class TextCache:
    """A database of texts by key, which threads and processes may use at once.

    Args:
        path: The file, created if it is missing.
        what: A plural noun for the texts, for messages: ``replies``.

    Raises:
        DataError: The file cannot be opened, or is not such a database.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what = path, what
        self._turn = threading.Lock()
        with self._usable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
            try:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS kept(key TEXT PRIMARY KEY, text TEXT)"
                )
            except sqlite3.Error:
                self._connection.close()
                raise

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise DataError(
                f"The {self._what} kept in {self._path} cannot be used: {error}.",
                remedy(error, "Remove the file."),
            ) from error

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    def empty(self) -> int:
        """Remove every text, its bytes too, and return how many there were.

        Raises:
            DataError: The file is damaged, in use for too long, or the disk is full.
        """
        with self._usable(), self._turn:
            self._connection.execute("PRAGMA secure_delete = ON")
            with self._connection:
                gone = self._connection.execute("DELETE FROM kept").rowcount
            self._connection.execute("VACUUM")
        return gone

    def find(self, key: str) -> str | None:
        """Return the text under a key, or None if there is none.

        Raises:
            DataError: The file is damaged.
        """
        select = "SELECT text FROM kept WHERE key = ?"
        with self._usable(), self._turn:
            row = self._connection.execute(select, (key,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], str) else None

    def put(self, key: str, text: str) -> None:
        """Store a text under a key, replacing an earlier one.

        Raises:
            DataError: The disk is full or gone.
        """
        # JSON may spell half of a surrogate pair, which SQLite's UTF-8 cannot hold
        storable = text.encode("utf-8", "replace").decode()
        insert = "INSERT OR REPLACE INTO kept VALUES (?, ?)"
        try:
            with self._turn, self._connection:
                self._connection.execute(insert, (key, storable))
        except sqlite3.Error as error:
            raise DataError(
                f"{self._what.capitalize()} cannot be kept in {self._path}: {error}.",
                "Check permissions and free space.",
            ) from error


def replies_path() -> Path:
    """Return the usual file of what models replied when they were asked to judge or to make."""
    return cache_folder().parent / "replies.sqlite"


def extractions_path() -> Path:
    """Return the file of what models extracted from chunks."""
    return cache_folder().parent / "extractions.sqlite"
