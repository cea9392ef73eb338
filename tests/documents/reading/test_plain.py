"""Plain texts: their encodings, front matter, rules and headings."""

from datetime import date
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_document
from sets import whole_text

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.documents.reading.plain import without_boxes, without_rules
from lexloop.documents.reading.text import decode

BOXED = whole_text("boxed.txt")
MANUAL = whole_text("manual.txt")


FRONT = "---\ntitle: Act\ntags: [staff]\nin_force_from: 2023-01-01\nlayout: x\n---\nThe law.\n"


plain = partial(read_document, "a.txt")


def test_front_matter_is_taken_out_of_the_text() -> None:
    document = plain(FRONT)
    assert document.text == "The law.\n"
    assert document.metadata == Metadata(
        title="Act", tags=("staff",), in_force_from=date(2023, 1, 1)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\ntags: secret\nTags:\n---\nThe law.", "tags is given twice"),
        ("---\na: &x [1]\ntags: *x\n---\nThe law.", "refers to itself"),
        ("---\ntitle: !!python/object/apply:os.getcwd []\n---\nThe law.", "not YAML"),
        ("---\ntags: secret\nThe law.", "has no end"),
    ],
)
def test_a_document_whose_front_matter_is_malformed_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        plain(text)


def test_rules_and_boxes_are_blank_and_nothing_moves() -> None:
    found = plain(BOXED).text
    assert len(found) == len(BOXED)
    assert [line.strip() for line in found.splitlines() if line.strip()] == [
        "3. Berths",
        "Berth  Price",
        "-----  -----",
        "4. Liability",
        "The harbour pays",
        "nothing.",
        "* no box",
        "*",
        "# a note  #",
    ]
    assert found.index("The harbour pays") == BOXED.index("The harbour pays")


def test_a_rule_that_came_up_into_its_paragraph_is_blanked() -> None:
    text = "1. Term.  The term shall          ----- last a year, from 3 ---- 5 May -- at most."
    gone = "1. Term.  The term shall                last a year, from 3 ---- 5 May -- at most."
    assert without_rules(text) == gone
    assert without_rules("| Berth | ---- | Price |") == "| Berth | ---- | Price |"


@given(st.text(alphabet="*#-= a\n\t", max_size=200))
def test_what_is_drawn_alone_is_blanked(text: str) -> None:
    found = without_rules(without_boxes(text))
    assert len(found) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, found, strict=True))
    assert [c for c in found if c == "a"] == [c for c in text if c == "a"]


def test_an_underlined_heading_heads_and_the_signs_rank_as_they_come() -> None:
    document = plain(MANUAL)
    headed = [(MANUAL[at : at + 6], level) for at, level in document.headings]
    assert headed[:3] == [("Harbou", 1), ("1. Moo", 1), ("1.1. L", 2)]
    tree = document.tree
    assert tree.units[tree.at(MANUAL.index("nine"))].label == "Section 1.1"
    assert tree.units[tree.at(MANUAL.index("* 1.1."))].kind == "contents"


POLISH = "Pracodawca jest zobowiązany uiścić opłatę w ciągu trzydziestu dni od doręczenia decyzji. "


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("“The employer” shall pay 40 € – within 30 days’ notice.", "cp1252"),
        (POLISH * 2, "cp1250"),
        ("Größe § 1", "utf-16"),
        ("Größe § 1 und so weiter", "utf-16-le"),
    ],
)
def test_the_encoding_is_told_by_the_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"The law \xed\xa0\x80 applies", "lone surrogates"),
        ("雇主应当缴纳费用。".encode("gb18030"), "cannot be determined"),
        (bytes(range(128, 256)) * 3, "cannot be determined"),
    ],
)
def test_what_is_no_text_of_one_encoding_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        decode(data)


def test_a_page_may_name_its_encoding() -> None:
    text = "Работодатель"
    assert decode(text.encode("koi8-r"), "koi8-r") == text
    assert decode("§ 1 Maß".encode("latin-1"), "no-such-encoding") == "§ 1 Maß"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode()) == text


@given(st.binary(max_size=60))
def test_any_bytes_give_a_text_or_a_reason(data: bytes) -> None:
    try:
        text = decode(data)
    except CorpusError:
        return
    assert not any("\ud800" <= char <= "\udfff" for char in text)
