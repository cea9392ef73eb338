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
