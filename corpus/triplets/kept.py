"""Extractions that were paid for, kept by content: an index that is made again costs nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexloop.core.kept import KeptTexts
from lexloop.core.types import Chunk, Triplet

_PLACED = ("chunk_id", "document", "section", "page", "start", "end")


class KeptExtractions:
    """A small database beside the indexes; several processes may use it at once.

    Args:
        path: The file; made where there is none.

    Raises:
        DataError: It cannot be opened, or is no such database.
    """

    def __init__(self, path: Path) -> None:
        self._texts = KeptTexts(path, "extractions")

    def close(self) -> None:
        """Let go of the file."""
        self._texts.close()

    def find(self, key: str, chunk: Chunk) -> list[Triplet] | None:
        """What was extracted under a key, placed in a chunk of the same text; None when nothing.

        What is no extraction of this text counts as nothing.

        Raises:
            DataError: The file is damaged.
        """
        held = self._texts.find(key)
        if held is None:
            return None
        try:
            found = [_placed(item, chunk) for item in json.loads(held)]
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
        self._texts.keep(key, json.dumps(loose))


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
