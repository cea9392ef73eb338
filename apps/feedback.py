"""Opinions of people on answers, in a SQLite file."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError
from lexloop.core.types import Citation, Turn

Vote = Literal["up", "down"]
FILE_NAME = "feedback.sqlite"
_MOST_COMMENT_CHARS = 10_000
_APPLICATION = 0x4C585046
"""Tells a file of opinions from every other SQLite file ("LXPF")."""
_VERSION = 1
_TABLE = (
    "CREATE TABLE opinions(answer_id TEXT PRIMARY KEY, at TEXT NOT NULL, opinion TEXT NOT NULL)"
)


class Opinion(BaseModel):
    """A thumbs up or down for one answer (HyPA-RAG figure 4), with the answer.

    ``answer_id`` names the answer: a second opinion under the same id replaces the first.
    ``contexts`` are the texts of the passages that the answer was written from, ``at`` is when the
    opinion was given, in UTC. Of the settings only names are kept: no address and no key.
    """

    model_config = ConfigDict(frozen=True)

    answer_id: str = Field(min_length=1)
    vote: Vote
    comment: str = Field(default="", max_length=_MOST_COMMENT_CHARS)
    question: str
    standalone: str
    history: list[Turn] = []
    answer: str
    abstained: bool
    citations: list[Citation]
    contexts: list[str]
    scores: dict[str, float | None]
    variant: str
    corpus: str
    model: str | None
    at: datetime


def opinion_on(
    record: Mapping[str, Any], history: Sequence[Turn], vote: Vote, comment: str
) -> Opinion:
    """Return the opinion, given now, on an answer.

    Args:
        record: Of the answer, as `lexloop ask --json` prints it.
        history: The conversation before the question.
        vote: Thumb up or down.
        comment: In the person's own words; all beyond 10,000 characters is cut off.
    """
    return Opinion(
        answer_id=record["id"],
        vote=vote,
        comment=comment.strip()[:_MOST_COMMENT_CHARS],
        question=record["question"],
        standalone=record["standalone"],
        history=[*history],
        answer=record["answer"],
        abstained=record["abstained"],
        citations=record["citations"],
        contexts=[passage["text"] for passage in record["passages"]],
        scores=record["scores"],
        variant=record["variant"],
        corpus=record["corpus"],
        model=record["model"],
        at=datetime.now(UTC).replace(microsecond=0),
    )


def feedback_file(threads: Path | None = None) -> Path:
    """Return the file of opinions on answers: in the folder of ``threads``, or the user's own."""
    return (threads.parent if threads else data_folder()) / FILE_NAME


class FeedbackStore:
    """The opinions in one file, which only its owner can read.

    The file is opened for each call, so that nothing stays locked.

    Args:
        file: The file. It is created, with its folder, when the first opinion is kept.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def keep(self, opinion: Opinion) -> bool:
        """Keep an opinion, replacing an earlier one on the same answer.

        Returns:
            True if there was an earlier one.

        Raises:
            DataError: The file cannot be written, or is not a file of opinions.
        """
        with self._opened(make=True) as database, database:
            # the lock comes first, so that two chats do not both make the table
            database.execute("BEGIN IMMEDIATE")
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                database.execute(_TABLE)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_VERSION}")
            self._refuse_another(database)
            values = (opinion.answer_id, opinion.at.isoformat(), opinion.model_dump_json())
            earlier = "SELECT 1 FROM opinions WHERE answer_id = ?"
            existing = database.execute(earlier, values[:1]).fetchone() is not None
            database.execute("INSERT OR REPLACE INTO opinions VALUES (?, ?, ?)", values)
        return existing

    def all(self) -> list[Opinion]:
        """Return every opinion, the oldest first.

        Raises:
            DataError: The file is missing, cannot be read, or is not a file of opinions.
        """
        if not self.file.exists():
            raise DataError(
                f"There is no feedback in {self.file}.",
                "Rate an answer with /up or /down in `lexloop chat`, or name another file.",
            )
        with self._opened(make=False) as database:
            self._refuse_another(database)
            rows = database.execute("SELECT opinion FROM opinions ORDER BY at, rowid").fetchall()
        return [Opinion.model_validate(self._read(text)) for (text,) in rows]

    def rewrite(self, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> list[str]:
        """Replace each opinion with a function's result, or remove it if that is None.

        The old text is erased from the file too. Without a file, nothing happens.

        Returns:
            The answers whose opinions have changed.

        Raises:
            DataError: The file cannot be read or written, or is not a file of opinions.
        """
        touched: list[str] = []
        if not self.file.exists():
            return touched
        with self._opened(make=False) as database:
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                return touched
            self._refuse_another(database)
            database.execute("PRAGMA secure_delete = ON")
            with database:
                database.execute("BEGIN IMMEDIATE")
                select = "SELECT answer_id, opinion FROM opinions ORDER BY rowid"
                rows = database.execute(select).fetchall()
                for id, text in rows:
                    before = self._read(text)
                    after = change(before)
                    if after is None:
                        database.execute("DELETE FROM opinions WHERE answer_id = ?", (id,))
                    elif after != before:
                        stored = Opinion.model_validate(after).model_dump_json()
                        update = "UPDATE opinions SET opinion = ? WHERE answer_id = ?"
                        database.execute(update, (stored, id))
                    if after != before:
                        touched.append(id)
            database.execute("VACUUM")
        return touched

    def expire(self, until: datetime, now: datetime) -> int:
        """Remove the opinions from before a moment, and return how many.

        An opinion counts as not older than any stored before it, since one given while the clock
        was set back is not old. Opinions dated after ``now`` are kept and ignored.

        Raises:
            DataError: As ``rewrite``.
        """
        newest = datetime.min.replace(tzinfo=UTC)

        def aged(opinion: dict[str, Any]) -> dict[str, Any] | None:
            nonlocal newest
            given_at = datetime.fromisoformat(opinion["at"])
            if given_at > now:
                return opinion
            newest = max(newest, given_at)
            return None if newest < until else opinion

        return len(self.rewrite(aged))

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return Opinion.model_validate_json(text).model_dump(mode="json")
        except ValidationError as error:
            problem = f"it has an entry that is not an opinion ({error.errors()[0]['msg']})"
            raise self._unusable(problem) from error

    @contextmanager
    def _opened(self, make: bool) -> Iterator[sqlite3.Connection]:
        try:
            if make:
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.file, isolation_level=None)) as database:
                yield database
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(str(error)) from error

    def _refuse_another(self, database: sqlite3.Connection) -> None:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            raise self._unusable("it is not a file of feedback")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            raise self._unusable(f"it is of version {version}, and this is version {_VERSION}")

    def _unusable(self, reason: str) -> DataError:
        return DataError(
            f"Feedback cannot be kept in {self.file}: {reason}.",
            "Move that file away, or name another folder with LEXLOOP_DATA_DIR.",
        )
