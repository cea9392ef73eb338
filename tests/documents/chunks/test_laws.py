"""What holds for the chunks of every chunker, on any text."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.metadata import Metadata
from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    BySentences,
)
from lexloop.core.types import Chunk
from lexloop.documents.chunks.chunkers import Chunker, chunker_for
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm

WORDS = ["x" * 80, " word" * 60, *"The| duty applies|§ 1-2 Scope|# Head|(a) |法。|😀".split("|")]
MARKS = ["\n" * 90, *". |.|: |! |?\n|\n|\n\n| |\t|\x1c|\u2028|\u00a0".split("|")]
MADE = st.lists(st.sampled_from([*WORDS, *MARKS, "a" * 300, "é̀"]), max_size=30)
TEXTS = st.one_of(MADE.map("".join), st.text(max_size=300), st.text("ab. \n§", max_size=300))
SETTINGS = [
    BySentences(tokens=16, overlap=6),
    ByProvisions(),
    BySentences(method="sentence", tokens=24, overlap=20),
    ByMeaning(dissimilarity=0.5, buffer=1),
    ByPattern(pattern=r"\n§"),
    ByCharacters(chars=60, chars_overlap=20),
    ByCharacters(chars=50, chars_overlap=49),
]


@lru_cache
def chunker(number: int) -> Chunker:
    return chunker_for(SETTINGS[number], load_minilm())


DATED = Metadata.from_record({"in_force_from": "2023-07-05"})


def document(text: str) -> Document:
    middle = len(text) // 2
    pages, headings = (0, middle), ((middle, 2),)
    return Document("d.txt", "A law", text, DATED, pages=pages, headings=headings)


def section_of(source: Document, chunk: Chunk) -> str:
    """The last unit that holds a chunk, from its first word on or behind whole headings alone."""
    ink, stop = chunk["end"] - len(chunk["text"].lstrip()), len(chunk["text"].rstrip())
    headed: set[int] = set()
    found = ""
    for unit in source.tree.units:
        if unit.start >= ink:
            headed |= set(range(unit.start, unit.body))
    for unit in source.tree.units:
        if unit.start < chunk["start"] + stop <= unit.end and all(
            at in headed or source.text[at].isspace() for at in range(ink, unit.start)
        ):
            found = unit.label
    return found


def check_bounds(chosen: Any, chunks: list[Chunk]) -> None:
    """What a chunker by tokens or characters promises of lengths and of what neighbours share."""
    shared = [
        after["text"][: max(before["end"] - after["start"], 0)].strip()
        for before, after in pairwise(chunks)
    ]
    texts = [chunk["text"].strip() for chunk in chunks]
    if chosen.method == "characters":
        assert max(map(len, texts), default=0) <= chosen.chars
        assert max(map(len, shared), default=0) <= chosen.chars_overlap
    elif chosen.method == "sentence":
        count = load_minilm().count_tokens
        assert all(count(text) <= chosen.tokens for text in texts)
        assert all(count(text) <= chosen.overlap for text in shared)
    elif chosen.method != "auto":
        assert not any(shared)


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@settings(deadline=None, max_examples=examples(50))
@given(text=TEXTS)
def test_the_chunks_cover_the_text_in_order_and_say_where_they_stand(
    number: int, text: str
) -> None:
    source = document(text)
    chunks = chunker(number)(source)
    reached, starts = 0, [chunk["start"] for chunk in chunks]
    assert starts == sorted(set(starts))
    for chunk in chunks:
        assert chunk["start"] <= reached < chunk["end"]
        assert chunk["text"] == text[chunk["start"] : chunk["end"]]
        assert chunk["text"].strip()
        reached = chunk["end"]
        assert chunk["id"] == f"d.txt#{chunk['start']}"
        assert (chunk["document"], chunk["title"]) == ("d.txt", "A law")
        assert chunk["page"] == (2 if chunk["start"] >= len(text) // 2 else 1)
        assert chunk["section"] == section_of(source, chunk)
        assert chunk["version"] == "in force from 2023-07-05"
    assert reached == (len(text) if text.strip() else 0)
    check_bounds(SETTINGS[number], chunks)
