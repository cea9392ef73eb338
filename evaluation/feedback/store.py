"""Opinions in a SQLite file, which nobody but its owner can read."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import ValidationError

from lexloop.core.errors import DataError
from lexloop.evaluation.feedback.opinion import Opinion

FILE_NAME = "feedback.sqlite"
_APPLICATION = 0x4C585046
"""Tells a file of opinions from every other SQLite file ("LXPF")."""
_VERSION = 1
_SCHEMA = f"""
CREATE TABLE opinions(answer_id TEXT PRIMARY KEY, at TEXT NOT NULL, opinion TEXT NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""


class FeedbackStore:
    """The opinions in one file. It is opened anew for each call, so that nothing stays locked.

    Args:
        file: Where they are; made, with its folder, when the first opinion is kept.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def keep(self, opinion: Opinion) -> bool:
        """Keep an opinion in place of an earlier one on the same answer.

        Returns:
            Whether there was an earlier one.

        Raises:
            DataError: The file cannot be written, or is no file of opinions.
        """
        with self._opened(make=True) as database, database:
            # the lock comes first, so that two chats do not both make the table
            database.execute("BEGIN IMMEDIATE")
            self._prepare(database)
            values = (opinion.answer_id, opinion.at.isoformat(), opinion.model_dump_json())
            wanted = "SELECT 1 FROM opinions WHERE answer_id = ?"
            known = database.execute(wanted, values[:1]).fetchone() is not None
            database.execute("INSERT OR REPLACE INTO opinions VALUES (?, ?, ?)", values)
        return known

    def all(self) -> list[Opinion]:
        """Every opinion, the oldest first.

        Raises:
            DataError: There is no file, it cannot be read, or it is no file of opinions.
        """
        if not self.file.exists():
            raise DataError(
                f"There is no feedback in {self.file}.",
                "Rate an answer with /up or /down in `lexloop chat`, or name another file.",
            )
        wanted = "SELECT opinion FROM opinions ORDER BY at, rowid"
        with self._opened(make=False) as database:
            self._refuse_another(database)
            found = [row[0] for row in database.execute(wanted)]
            try:
                return [Opinion.model_validate_json(row) for row in found]
            except ValidationError as error:
                raise self._unusable(
                    f"it holds what is no opinion ({error.errors()[0]['msg']})"
                ) from error

    @contextmanager
    def _opened(self, make: bool) -> Iterator[sqlite3.Connection]:
        try:
            if make:
                self._make_private()
            with closing(sqlite3.connect(self.file, isolation_level=None)) as database:
                yield database
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(str(error)) from error

    def _make_private(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Make the table in a new file."""
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            self._refuse_another(database)
            return
        for statement in filter(str.strip, _SCHEMA.split(";")):
            database.execute(statement)

    def _refuse_another(self, database: sqlite3.Connection) -> None:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            raise self._unusable("it is no file of feedback")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            raise self._unusable(f"it is of version {version}, and this is version {_VERSION}")

    def _unusable(self, reason: str) -> DataError:
        return DataError(
            f"Feedback cannot be kept in {self.file}: {reason}.",
            "Move that file away, or name another folder with LEXLOOP_DATA_DIR.",
        )
