"""Triplets that a model extracts, and those kept by content."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
import records

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


def extracted(*items: tuple[str, str, str, str]) -> list[Triplet]:
    said = [ExtractedTriplet(subject=s, predicate=p, object=o, quote=q) for s, p, o, q in items]

    class Scripted:
        async def ask(self, request: ChatRequest) -> ChatReply:
            return ChatReply("", Extraction(triplets=said))

    return waited(extract_with_model(Scripted(), chunk(500, text=TEXT)))


def test_a_quote_is_found_whatever_its_white_space() -> None:
    [found] = extracted(("An owner", "must pay", "the fee", "pay the fee (40 dollars) within 10"))
    assert found["quote"] == "pay\nthe fee (40 dollars) within  10"
    assert (found["start"], found["end"]) == (514, 549)
    assert TEXT[found["start"] - 500 : found["end"] - 500] == found["quote"]


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
    [found] = extracted((*said, "An owner"))
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
    assert extracted(item) == []


SAID = "The owner “é” must pay \ud800 the fee."


def chunk(start: int = 0, name: str = "law.txt", text: str = SAID) -> Chunk:
    place = {"section": f"§ {start}", "page": start or None}
    return records.chunk(text, document=name, start=start, **place)


def triplet(of: Chunk) -> Triplet:
    place = {"start": of["start"] + 4, "end": of["start"] + 9, "quote": of["text"][4:9]}
    where = {"chunk_id": of["id"], **{key: of[key] for key in ("document", "section", "page")}}
    said = {"subject": "owner “é”", "predicate": "requires", "object": "the fee"}
    return cast("Triplet", {**said, **where, **place})


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
