"""Triplets that a model extracts, and those kept by content."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import records

from lexloop.core.errors import DataError
from lexloop.core.running import waited
from lexloop.core.types import Chunk, Triplet
from lexloop.graph.extractors import (
    ExtractedTriplet,
    Extraction,
    ExtractionCache,
    extract_with_model,
)
from lexloop.models.request import ChatReply, ChatRequest

TEXT = "An owner must pay\nthe fee (40 dollars) within  10 days."
CHUNK: Chunk = {
    "id": "c1",
    "document": "d.txt",
    "title": "Act",
    "section": "§ 1",
    "page": None,
    "start": 500,
    "end": 500 + len(TEXT),
    "text": TEXT,
}


def extracted(*items: tuple[str, str, str, str]) -> tuple[ChatRequest, list[Triplet]]:
    reply = Extraction(
        triplets=[
            ExtractedTriplet(subject=s, predicate=p, object=o, quote=q) for s, p, o, q in items
        ]
    )
    asked: list[ChatRequest] = []

    class Scripted:
        async def ask(self, request: ChatRequest) -> ChatReply:
            asked.append(request)
            return ChatReply("", reply)

    triplets = waited(extract_with_model(Scripted(), CHUNK))
    return asked[0], triplets


def test_a_quote_is_found_whatever_its_white_space() -> None:
    _, [found] = extracted(
        ("An owner", "must pay", "the fee", "pay the fee (40 dollars) within 10")
    )
    assert found["quote"] == "pay\nthe fee (40 dollars) within  10"
    assert (found["start"], found["end"]) == (514, 549)
    assert TEXT[found["start"] - 500 : found["end"] - 500] == found["quote"]
    assert (found["subject"], found["predicate"], found["object"]) == (
        "An owner",
        "must pay",
        "the fee",
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("owner", "Is defined as", "holder"), ("owner", "defines", "holder")),
        (("owner", "shall not moor", "at night"), ("owner", "shall not moor", "at night")),
        (("Part 2", "Applies To", "boats"), ("Part 2", "applies_to", "boats")),
    ],
)
def test_a_verb_that_reads_as_a_predicate_becomes_it(
    said: tuple[str, str, str], kept: tuple[str, str, str]
) -> None:
    _, [found] = extracted((*said, "An owner"))
    assert (found["subject"], found["predicate"], found["object"]) == kept


@pytest.mark.parametrize(
    "item",
    [
        ("owner", "must pay", "the fee", "An owner may pay the fee"),
        ("owner", "must pay", "the fee", ""),
        ("owner", "must pay", "the fee", ".*"),
        ("", "must pay", "the fee", "An owner"),
    ],
)
def test_what_the_passage_does_not_state_is_dropped(item: tuple[str, str, str, str]) -> None:
    assert extracted(item)[1] == []


SAID = "The owner “é” must pay \ud800 the fee."


def chunk(start: int = 0, name: str = "law.txt", text: str = SAID) -> Chunk:
    place = {"section": f"§ {start}", "page": start or None}
    return records.chunk(text, document=name, start=start, **place)


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
    with closing(ExtractionCache(path)) as kept:
        assert kept.find("key", chunk()) is None
        kept.put("key", chunk(), [triplet(chunk())])
        kept.put("none", chunk(), [])
    with closing(ExtractionCache(path)) as kept, closing(ExtractionCache(path)) as other:
        assert kept.find("key", chunk()) == [triplet(chunk())]
        moved = chunk(700, "other.txt")
        assert other.find("key", moved) == [triplet(moved)]
        assert other.find("none", moved) == []
        assert other.find("else", moved) is None
        other.put("key", chunk(), [])
        assert kept.find("key", chunk()) == []


@pytest.mark.parametrize(
    "held",
    [
        "[",
        "[7]",
        '[{"at": [4]}]',
        '[{"subject": "a", "predicate": "b", "object": "c", "quote": "wrong", "at": [4, 9]}]',
    ],
)
def test_what_is_no_extraction_of_the_text_counts_as_nothing(path: Path, held: Any) -> None:
    with closing(ExtractionCache(path)):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO kept VALUES ('key', ?)", (held,))
    with closing(ExtractionCache(path)) as kept:
        assert kept.find("key", chunk()) is None


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else" * 100)
    with pytest.raises(DataError, match=r"extractions\.sqlite cannot be used"):
        ExtractionCache(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match=r"extractions\.sqlite cannot be used"):
        ExtractionCache(path)
