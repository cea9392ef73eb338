"""Where quotes stand in small real files of each format, each place counted by hand in the file."""

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import saved
from reading import read_document, read_parts
from sets import rows

from lexloop.core.types import At
from lexloop.documents.document import Document
from lexloop.documents.structure.place import at_of

RULES = (  # line 3 is blank, the fee stands on line 7
    "House rules\n\n\nDogs are kept on a lead at all\ntimes in the yard.\n\n"
    "The deposit for a dog is 75 euros.\n"
)


def place(name: str, data: bytes | str, quote: str) -> At:
    """Return where the one document of a file that has a quote has it."""
    (found,) = (one for one in read_parts(name, data)[0] if quote in one.text)
    start = found.text.index(quote)
    return at_of(found, start, start + len(quote))


def word() -> bytes:
    """A title, a table, two paragraphs with an empty one between; a heading, a list, a table."""
    document = docx.Document()
    document.add_paragraph("Cleaning agreement of the parties")
    table = document.add_table(2, 2)
    for row, cells in zip(table.rows, (("Item", "Fee"), ("Mop", "5 euros")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("The cleaner cleans each Monday.")
    document.add_paragraph("")
    document.add_paragraph("The fee is 40 euros an hour.")
    document.add_heading("Keys", 1)
    document.add_paragraph("The cleaner keeps one key.")
    document.add_paragraph("for the lock", style="List Bullet")
    document.add_paragraph("A lost key costs 90 euros.")
    return saved(document)


@pytest.mark.parametrize(("name", "written", "quote", "line"), rows("place_lines"))
def test_text_has_the_line_that_an_editor_shows(
    name: str, written: str, quote: str, line: int
) -> None:
    assert place(name, written, quote) == {"line": line}


def test_utf_16_has_lines_too() -> None:
    assert place("rules.txt", RULES.encode("utf-16"), "The deposit") == {"line": 7}


def test_a_record_of_json_has_the_line_of_the_file() -> None:
    written = '{"id": "x", "text": "A ferry is 9 euros."}\n\n{"id": "y", "text": "A\\nbus is 2."}\n'
    assert place("fares.jsonl", written, "bus") == {"line": 3}


@pytest.mark.parametrize(("quote", "there"), rows("place_paragraphs"))
def test_word_has_the_paragraph_below_the_heading(quote: str, there: At) -> None:
    assert place("a.docx", word(), quote) == there


def test_a_numbered_provision_needs_no_paragraph() -> None:
    page = "<h2>Article 5 Fees</h2><p>1. A dog is 9 euros.</p><p>2. A cat is 4 euros.</p>"
    assert place("fees.html", page, "A cat is") == {}


def test_a_page_has_paragraphs_below_its_heading() -> None:
    page = (
        "<title>x</title><h1>Parking</h1><p>Visitors park for free.</p>"
        "<table><tr><td>Day</td><td>Fee</td></tr><tr><td>Monday</td><td>2 euros</td></tr></table>"
        "<p>Residents pay 15 euros.</p><h2>Bikes</h2><p>Bikes park for free.</p>"
    )
    assert place("parking.html", page, "Residents") == {"paragraph": 2}
    assert place("parking.html", page, "Bikes park") == {"paragraph": 1}


def test_a_page_number_needs_nothing_beside_it() -> None:
    assert at_of(Document("a.pdf", "", "Some words.", pages=(0,)), 0, 4) == {}


def test_nothing_is_counted_of_a_passage_alone() -> None:
    text = "The fee is due.\n"
    alone = Document("a.html", "", f"{' ' * 39}\n{text}")
    assert at_of(alone, 40, 43) == {}
    assert at_of(Document("a.html", "", text), 0, 3) == {"paragraph": 1}
    assert at_of(Document("a.html", "", ""), 0, 0) == {}


ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(st.sampled_from(["", "a b", "# A", "- b", "**c**", "é\xad"]), ENDS)))
def test_each_word_is_on_the_line_that_it_is_told_to_be_on(lines: list[tuple[str, str]]) -> None:
    """Each line gets a word of its own, which is looked for on the line of that number."""
    written = "".join(f"{text} word{n:03}x{end}" for n, (text, end) in enumerate(lines, 1))
    for name in ("a.txt", "a.md") if written else ():
        found = read_document(name, written)
        for number in range(1, len(lines) + 1):
            start = found.text.index(f"word{number:03}x")
            assert at_of(found, start, start + 8) == {"line": number}
