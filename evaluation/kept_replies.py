"""Replies of a model that judges, kept by content: a run that is made again asks nobody."""

import hashlib
import json
import re
import sqlite3
import threading
from pathlib import Path

from lexloop.core.errors import DataError
from lexloop.models.dialogue import ChatRequest

_FENCE = re.compile(r"\bdata-[0-9a-f]{8}\b")
_WAIT_S = 30.0


class KeptReplies:
    """A small database that threads and processes may use at once.

    It holds the texts of replies under hashes of what was asked, and nothing else: no prompt, no
    address, no key.

    Args:
        path: The file; made where there is none.

    Raises:
        DataError: It cannot be opened, or is no such database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS replies(key TEXT PRIMARY KEY, text TEXT)"
            )
        except sqlite3.Error as error:
            self._connection.close()
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> DataError:
        return DataError(
            f"The kept replies in {self._path} cannot be used: {error}.", "Remove the file."
        )

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._connection.close()

    def find(self, key: str) -> str | None:
        """The reply under a key; None when there is none.

        Raises:
            DataError: The file is damaged.
        """
        try:
            with self._turn:
                row = self._connection.execute(
                    "SELECT text FROM replies WHERE key = ?", (key,)
                ).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return row[0] if row is not None and isinstance(row[0], str) else None

    def keep(self, key: str, text: str) -> None:
        """Keep a reply in place of what was under its key.

        Raises:
            DataError: The disk is full or gone.
        """
        try:
            with self._turn, self._connection:
                self._connection.execute(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, _storable(text))
                )
        except sqlite3.Error as error:
            raise DataError(
                f"A reply cannot be kept in {self._path}: {error}.",
                "Check permissions and free space.",
            ) from error


def reply_key(model: str, temperature: float, request: ChatRequest) -> str:
    """Changes with the model, its temperature, the prompts and the form asked for.

    The tag that fences data in a prompt is drawn anew whenever the prompt is rendered, so it is
    written the same for all.
    """
    fence = _FENCE.search(request.system)
    prompts = [request.system, request.user]
    if fence is not None:
        prompts = [text.replace(fence[0], "data") for text in prompts]
    said = json.dumps([model, float(temperature), *prompts, *_form(request)])
    return hashlib.sha256(said.encode()).hexdigest()


def _form(request: ChatRequest) -> list[str]:
    if request.schema is None:
        return []
    schema = request.schema.model_json_schema()
    return [request.schema.__name__, json.dumps(schema, sort_keys=True)]


def _storable(text: str) -> str:
    """JSON may spell half of a surrogate pair, which SQLite's UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
