"""Extractions kept by content."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import DataError
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.triplets.kept import KeptExtractions

TEXT = "The owner “é” must pay \ud800 the fee."


def chunk(start: int = 0, name: str = "law.txt", text: str = TEXT) -> Chunk:
    return {
        "id": f"{name}#{start}",
        "document": name,
        "title": "Law",
        "section": f"§ {start}",
        "page": start or None,
        "start": start,
        "end": start + len(text),
        "text": text,
    }


def triplet(of: Chunk) -> Triplet:
    return {
        "subject": "owner “é”",
        "predicate": "requires",
        "object": "the fee",
        "quote": of["text"][4:9],
        "chunk_id": of["id"],
        "document": of["document"],
        "section": of["section"],
        "page": of["page"],
        "start": of["start"] + 4,
        "end": of["start"] + 9,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "extractions.sqlite"


def test_what_is_kept_is_found_and_placed_in_a_chunk_of_the_same_text(path: Path) -> None:
    with closing(KeptExtractions(path)) as kept:
        assert kept.find("key", chunk()) is None
        kept.keep("key", chunk(), [triplet(chunk())])
        kept.keep("none", chunk(), [])
    with closing(KeptExtractions(path)) as kept, closing(KeptExtractions(path)) as other:
        assert kept.find("key", chunk()) == [triplet(chunk())]
        moved = chunk(700, "other.txt")
        assert other.find("key", moved) == [triplet(moved)]
        assert other.find("none", moved) == []
        assert other.find("else", moved) is None
        other.keep("key", chunk(), [])
        assert kept.find("key", chunk()) == []


@pytest.mark.parametrize(
    "held",
    [
        "", "[", "7", "[7]", "[{}]", "null", '[{"at": [4]}]', '[{"at": "ab"}]',
        json.dumps([{"subject": "a", "predicate": "b", "object": "c", "quote": "wrong",
                     "at": [4, 9]}]),
        '[{"subject": "a", "predicate": "b", "object": "c", "quote": "", "at": ["x", 1]}]',
    ],
)  # fmt: skip
def test_what_is_no_extraction_of_the_text_counts_as_nothing(path: Path, held: Any) -> None:
    with closing(KeptExtractions(path)):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO kept VALUES ('key', ?)", (held,))
    with closing(KeptExtractions(path)) as kept:
        assert kept.find("key", chunk()) is None


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else" * 100)
    with pytest.raises(DataError, match=r"extractions\.sqlite cannot be used"):
        KeptExtractions(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match=r"extractions\.sqlite cannot be used"):
        KeptExtractions(path)


def test_a_database_damaged_later_is_named(path: Path) -> None:
    with closing(KeptExtractions(path)) as kept:
        for number in range(200):
            kept.keep(f"key {number}", chunk(), [triplet(chunk())])
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    refused = pytest.raises(DataError, match=r"extractions\.sqlite cannot be used")
    with closing(KeptExtractions(path)) as kept, refused:
        any(kept.find(f"key {number}", chunk()) is None for number in range(200))


def test_what_cannot_be_kept_is_an_error(path: Path) -> None:
    with closing(KeptExtractions(path)) as kept:
        kept.close()
        with pytest.raises(DataError, match="cannot be kept"):
            kept.keep("key", chunk(), [])
        with pytest.raises(DataError, match="cannot be used"):
            kept.find("key", chunk())
