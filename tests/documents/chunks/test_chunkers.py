"""Chunks of every chunker, and of long tables."""

import time
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import Letters
from laws import examples

from lexloop.core.errors import SettingsError
from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    BySentences,
    Chunking,
)
from lexloop.core.types import Chunk
from lexloop.documents.chunks.chunkers import (
    MAX_CHARS,
    Chunker,
    chunk_by_characters,
    chunk_by_meaning,
    chunk_by_pattern,
    chunk_by_sentences,
    chunk_document,
    chunker_for,
    chunker_name,
    compile_pattern,
    is_divided,
)
from lexloop.documents.chunks.long_tables import long_tables_of
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import sentence_spans
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.writer import build_collection

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
]


@lru_cache
def chunker(number: int) -> Chunker:
    chosen = SETTINGS[number]
    # where topics change is the embedder's; what holds for all chunks does not depend on it
    return chunker_for(chosen, Letters() if chosen.method == "semantic" else load_minilm())


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


# indexes on users' disks are told apart by these names: they may not change
NAMES: dict[str, Chunking] = {
    "auto(tokens=300, overlap=50)": BySentences(tokens=300, overlap=50),
    "provisions()": ByProvisions(),
    "semantic(dissimilarity=0.8, buffer=2)": ByMeaning(dissimilarity=0.8, buffer=2),
    "pattern(pattern='^Article')": ByPattern(pattern="^Article"),
    "characters(chars=900, chars_overlap=90)": ByCharacters(chars=900, chars_overlap=90),
}


def test_a_chunkers_name_holds_what_it_reads() -> None:
    assert [chunker_name(chosen) for chosen in NAMES.values()] == list(NAMES)


@pytest.mark.parametrize(
    ("text", "headings", "divided"),
    [
        ("§ 1 Fees\nDue.\n§ 2 Appeals\nNone.", (), True),
        ("Fees\nDue.\nAppeals\nNone.", ((0, 1), (10, 1)), True),
        ("# One\n" + "Text. " * 10_000 + "\n# Two\n", (), False),
    ],
)
def test_auto_takes_provisions_where_a_document_is_divided(
    text: str, headings: tuple[tuple[int, int], ...], divided: bool
) -> None:
    document = Document("d.txt", "A law", text, headings=headings)
    assert is_divided(document) is divided
    auto = chunker_for(BySentences(), load_minilm())(document)
    sentence = chunker_for(BySentences(method="sentence"), load_minilm())(document)
    assert auto == (chunk_document(document) if divided else sentence)


def cut(text: str, pattern: str) -> list[str]:
    return [chunk["text"] for chunk in chunk_by_pattern(Document("d", "A law", text), pattern)]


def test_what_stands_above_a_chunk_is_its_context_and_nothing_of_its_own_is() -> None:
    law = "Chapter I\nDues\n\nArticle 1\nFees\n1. It must state:\n(a) the name;\n(b) fees.\n"
    chunks = chunk_by_pattern(Document("d", "A law", law), r"^(?:Article|\(b)")
    assert [chunk.get("context") for chunk in chunks] == [
        None,
        "Dues",
        "Dues\nFees\n1. It must state:",
    ]


@pytest.mark.parametrize("pattern", ["(", r"(?=a)", "a*", "\ud800"])
def test_a_pattern_that_cannot_be_used_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(SettingsError) as refused:
        compile_pattern(pattern)
    assert repr(pattern) in refused.value.what


@pytest.mark.parametrize("pattern", ["(a+)+$", "(.*a){20}b"])
def test_a_catastrophic_pattern_runs_in_linear_time(pattern: str) -> None:
    text = "a" * 200_000 + "!"
    began = time.process_time()
    assert sum(map(len, cut(text, pattern))) == len(text)
    assert time.process_time() - began < 5.0


def test_a_pattern_that_looks_ahead_again_and_again_is_refused() -> None:
    with pytest.raises(SettingsError, match="looking far ahead"):
        cut("a" * 150_000, r"a(?s:.*b)?")


def law(text: str) -> Document:
    return Document("d.txt", "A law", text)


@given(TEXTS)
def test_only_a_long_sentence_makes_a_chunk_longer_than_the_maximum(text: str) -> None:
    for chunk in chunk_document(law(text)):
        body = chunk["text"].strip()
        flat = body.replace("\n", " ")
        longest = max((end - start for start, end in sentence_spans(flat)), default=0)
        assert len(body) <= MAX_CHARS + longest


def test_a_list_stays_with_the_clause_that_introduces_it() -> None:
    before = "The owner pays a fee for each berth that the owner holds. " * 3
    items = [f"({letter}) the {letter * 30} of the vessel;\n" for letter in "abcdef"]
    text = f"§ 1 Fees\n{before}\nThe notice must state:\n{''.join(items)}{before}\n{before}\n"
    holding = [c["text"] for c in chunk_document(law(text)) if "must state:" in c["text"]]
    assert len(holding) == 1
    assert all(item in holding[0] for item in items)


def test_each_of_many_definitions_is_a_chunk_below_its_lead_in() -> None:
    terms = [
        f"({n}) ‘{letter * 9}’ means {letter} boat of the harbour;\n"
        for n, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 1)
    ]
    first = "Article 1\nSubject\n\nBoats are moored.\n\n"
    text = f"{first}Article 2\nDefinitions\n\nFor this Act:\n{''.join(terms)}"
    lead, *defined = [c for c in chunk_document(law(text)) if c["section"] != "Article 1"]
    assert lead["text"].split("\n") == ["Article 2", "Definitions", "", "For this Act:", ""]
    assert [chunk["text"].strip() for chunk in defined] == [term.strip() for term in terms]
    assert defined[1]["section"] == "Article 2(2)"
    assert defined[1]["context"] == "Definitions\nFor this Act:"


def count_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def by_tokens(text: str, tokens: int, overlap: int) -> list[str]:
    found = chunk_by_sentences(Document("d.txt", "A law", text), tokens, overlap, count_words)
    return [chunk["text"] for chunk in found]


SENTENCES = "One two three. Four five. Six seven eight. Nine ten. "


def test_neighbours_share_the_sentences_that_fit_the_overlap() -> None:
    assert by_tokens(SENTENCES, 5, 2) == [
        "One two three. Four five. ",
        "Four five. Six seven eight. ",
        "Nine ten. ",  # "Six seven eight." has three words, more than may be shared
    ]
    assert by_tokens(SENTENCES, 8, 3) == [
        "One two three. Four five. Six seven eight. ",
        "Six seven eight. Nine ten. ",
    ]


BOATS = ["The boat is moored in the harbour.", "The ship lies at the quay of the port."]
BREAD = ["Bread is baked from flour and yeast.", "The baker kneads the dough for the loaf."]
TEXT = " ".join(BOATS + BREAD)


def by_meaning(text: str, dissimilarity: float, buffer: int) -> list[str]:
    source = Document("d.txt", "A text", text)
    found = chunk_by_meaning(source, dissimilarity, buffer, load_minilm())
    return [chunk["text"].strip() for chunk in found]


def test_the_text_is_cut_where_the_topic_changes() -> None:
    # three distances; the quantile 0.5 is the middle one, and only the greatest lies above it
    assert by_meaning(TEXT, 0.5, 0) == [" ".join(BOATS), " ".join(BREAD)]


def by_characters(text: str, chars: int, overlap: int) -> list[str]:
    found = chunk_by_characters(Document("d.txt", "A law", text), chars, overlap)
    return [chunk["text"] for chunk in found]


def test_a_chunk_ends_with_the_last_sentence_of_its_second_half() -> None:
    first, second = "The fee is due. ", "The owner pays it at once. "  # 16 and 27 characters
    assert by_characters((first + second) * 2, 50, 0) == [first + second, first + second]
    # within 40 characters the first sentence ends in the first half, so the last word ends it
    assert by_characters(first + second, 40, 0) == [
        "The fee is due. The owner pays it at ",
        "once. ",
    ]


def _table(rows: int, more: str = "") -> Document:
    lines = [f"| R-{n:03d} | rope {n % 9} | {n % 40} m{more} |" for n in range(rows)]
    head = ["# Ropes", "", "| Number | Kind | Length |", "|---|---|---|"]
    return Document("ropes.md", "Ropes", "\n".join([*head, *lines]), headings=((0, 1),))


@pytest.mark.parametrize(
    ("document", "heads"),
    [
        (_table(301), ["Ropes\nNumber; Kind; Length"]),
        (_table(300), []),
        (_table(301, " and is kept dry" * 15), []),
    ],
)
def test_a_long_table_has_many_short_rows(document: Document, heads: list[str]) -> None:
    assert [table.head for table in long_tables_of(document)] == heads


def test_rows_of_a_long_table_share_a_vector_and_are_found_by_their_words() -> None:
    collection = build_collection([_table(301)], tools_for(Settings(), load_minilm()))
    view = collection.seen_by(Filters())
    made = [view.statements(chunk["id"]) for chunk in view.every_chunk()]
    assert len({one.start for found, _ in made for one in found}) == 301
    assert all(len(found) == len(vectors) for found, vectors in made)
    assert len({row.tobytes() for _, vectors in made for row in vectors}) == 1
    (hits,) = view.search_lexical(["R-257"], 1)
    assert "R-257" in view.chunks([hits[0].chunk_id])[0]["text"]
