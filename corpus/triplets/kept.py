"""Extractions that were paid for, kept by content: an index that is made again costs nothing."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexloop.core.errors import DataError
from lexloop.core.types import Chunk, Triplet

_PLACED = ("chunk_id", "document", "section", "page", "start", "end")
_WAIT_S = 30.0


class KeptExtractions:
    """A small database beside the indexes; several processes may use it at once.

    Args:
        path: The file; made where there is none.

    Raises:
        DataError: It cannot be opened, or is no such database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS extractions(key TEXT PRIMARY KEY, triplets TEXT)"
            )
        except sqlite3.Error as error:
            self._connection.close()
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> DataError:
        return DataError(
            f"The extractions in {self._path} cannot be used: {error}.", "Remove the file."
        )

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def find(self, key: str, chunk: Chunk) -> list[Triplet] | None:
        """What was extracted under a key, placed in a chunk of the same text; None when nothing.

        What is no extraction of this text counts as nothing.

        Raises:
            DataError: The file is damaged.
        """
        try:
            row = self._connection.execute(
                "SELECT triplets FROM extractions WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        if row is None:
            return None
        try:
            found = [_placed(item, chunk) for item in json.loads(row[0])]
        except (ValueError, TypeError, KeyError):
            return None
        return found if all(_quoted(triplet, chunk) for triplet in found) else None

    def keep(self, key: str, chunk: Chunk, triplets: list[Triplet]) -> None:
        """Keep what was extracted from a chunk.

        Raises:
            DataError: The disk is full or gone.
        """
        loose = [
            {
                **{name: value for name, value in triplet.items() if name not in _PLACED},
                "at": [triplet["start"] - chunk["start"], triplet["end"] - chunk["start"]],
            }
            for triplet in triplets
        ]
        try:
            with self._connection:
                self._connection.execute(
                    "INSERT OR REPLACE INTO extractions VALUES (?, ?)", (key, json.dumps(loose))
                )
        except sqlite3.Error as error:
            raise DataError(
                f"An extraction cannot be kept: {error}.", "Check permissions and free space."
            ) from error


def _quoted(triplet: Triplet, chunk: Chunk) -> bool:
    begin, end = triplet["start"] - chunk["start"], triplet["end"] - chunk["start"]
    return chunk["text"][begin:end] == triplet["quote"]


def _placed(item: Mapping[str, Any], chunk: Chunk) -> Triplet:
    begin, end = item["at"]
    return {
        "subject": str(item["subject"]),
        "predicate": str(item["predicate"]),
        "object": str(item["object"]),
        "quote": str(item["quote"]),
        "chunk_id": chunk["id"],
        "document": chunk["document"],
        "section": chunk["section"],
        "page": chunk["page"],
        "start": chunk["start"] + int(begin),
        "end": chunk["start"] + int(end),
    }
