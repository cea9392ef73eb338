"""What holds for the chunks of every chunker, on any text."""

from functools import lru_cache
from itertools import pairwise

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
SEPARATE = ("provisions", "semantic", "pattern")


@lru_cache
def chunker(number: int) -> Chunker:
    return chunker_for(SETTINGS[number], load_minilm())


def document(text: str) -> Document:
    middle = len(text) // 2
    pages, headings = (0, middle), ((middle, 2),)
    return Document("d.txt", "A law", text, pages=pages, headings=headings)


def only_headings(source: Document, start: int, end: int) -> bool:
    """Whether nothing but whole headings stands between two offsets, or nothing at all."""
    headings = (range(unit.start, unit.body) for unit in source.tree.units if unit.start >= start)
    headed = set().union(*headings)
    return all(at in headed or source.text[at].isspace() for at in range(start, end))


def overlaps(chunks: list[Chunk]) -> list[str]:
    """What each chunk repeats of the one before it."""
    return [
        after["text"][: max(before["end"] - after["start"], 0)].strip()
        for before, after in pairwise(chunks)
    ]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@settings(deadline=None, max_examples=examples(40))
@given(text=TEXTS)
def test_the_chunks_cover_the_text_in_order_and_none_is_blank(number: int, text: str) -> None:
    source = document(text)
    chunks = chunker(number)(source)
    reached, starts = 0, [chunk["start"] for chunk in chunks]
    assert starts == sorted(set(starts))
    for chunk in chunks:
        assert chunk["start"] <= reached < chunk["end"]
        assert chunk["text"] == text[chunk["start"] : chunk["end"]]
        assert chunk["text"].strip()
        reached = chunk["end"]
    assert reached == (len(text) if text.strip() else 0)
    if SETTINGS[number].method in SEPARATE:
        assert "".join(chunk["text"] for chunk in chunks) == (text if chunks else "")


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@settings(deadline=None, max_examples=examples(20))
@given(text=TEXTS)
def test_a_chunk_says_where_it_stands(number: int, text: str) -> None:
    source = document(text)
    for chunk in chunker(number)(source):
        ink = chunk["end"] - len(chunk["text"].lstrip())
        assert chunk["id"] == f"d.txt#{chunk['start']}"
        assert (chunk["document"], chunk["title"]) == ("d.txt", "A law")
        assert chunk["page"] == (2 if chunk["start"] >= len(text) // 2 else 1)
        stop = chunk["start"] + len(chunk["text"].rstrip())
        holding = [
            unit
            for unit in source.tree.units
            if unit.start < stop <= unit.end and only_headings(source, ink, unit.start)
        ]
        assert chunk["section"] == (holding[-1].label if holding else "")
        assert "version" not in chunk


@settings(deadline=None, max_examples=examples(60))
@given(text=TEXTS)
def test_sentence_chunks_keep_their_tokens_and_their_overlap(text: str) -> None:
    chosen, count = SETTINGS[2], load_minilm().count_tokens
    chunks = chunker(2)(document(text))
    assert all(count(chunk["text"].strip()) <= chosen.tokens for chunk in chunks)
    assert all(count(shared) <= chosen.overlap for shared in overlaps(chunks))


@pytest.mark.parametrize("number", [5, 6])
@settings(deadline=None, max_examples=examples(100))
@given(text=TEXTS)
def test_character_chunks_keep_their_length_and_their_overlap(number: int, text: str) -> None:
    chosen = SETTINGS[number]
    chunks = chunker(number)(document(text))
    assert all(len(chunk["text"].strip()) <= chosen.chars for chunk in chunks)
    assert all(len(shared) <= chosen.chars_overlap for shared in overlaps(chunks))


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_chunk_of_a_dated_document_names_its_version(number: int) -> None:
    metadata = Metadata.from_record({"in_force_from": "2023-07-05"})
    dated = Document("d.txt", "A law", "The fee is due. " * 9, metadata)
    versions = {chunk.get("version") for chunk in chunker(number)(dated)}
    assert versions == {"in force from 2023-07-05"}
