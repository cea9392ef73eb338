"""Laws set as PDFs in many layouts, and the footnotes of PDFs."""

from functools import partial
from pathlib import Path

import pytest
from fpdf import FPDF
from reading import read_document
from typeset import Placed, Sheet, Style, lines, place, typeset

from lexloop.documents.document import Document

LAWS = Path(__file__).parents[2] / "data" / "laws"

LAYOUTS = {
    "one column": Sheet(head="The Law {page}", foot="{page}", size=(120, 130)),
    "two columns, words broken": Sheet(
        columns=2, head="Law", other_head="{page}   The Laws", hyphens=True, size=(210, 140)
    ),
    "tables without lines": Sheet(rules=False, foot="Page {page}", size=(140, 150)),
}


read = partial(read_document, "law.pdf")


def units_of(document: Document) -> list[tuple[str, str, str]]:
    """Kind, label and words of each unit."""
    text = document.text
    return [
        (unit.kind, unit.label, " ".join(text[unit.start : unit.end].split()))
        for unit in document.tree.units
    ]


def set_law(written: Document, sheet: Sheet) -> bytes:
    """A law as a PDF, its headings bold."""
    heads = {
        written.text[unit.start : unit.end].split("\n")[0]
        for unit in written.tree.units
        if unit.kind in ("part", "provision", "annex") and unit.heading
    }

    def style(line: str) -> Style:
        if line in heads:
            return Style(12 if line.isupper() else 10, bold=True, align="L", space=1.5)
        return Style(first=4, space=1.5)

    return typeset(written.text, style, sheet)


@pytest.mark.parametrize(
    ("law", "layout"),
    [
        ("directive", "one column"),
        ("contract", "two columns, words broken"),
        ("standard", "tables without lines"),
    ],
)
def test_a_law_has_the_structure_of_its_text(law: str, layout: str) -> None:
    written = Document(law, law, (LAWS / f"{law}.txt").read_text())
    document = read(set_law(written, LAYOUTS[layout]))
    assert units_of(document) == units_of(written)
    for head in ("The Law", "The Laws", "Page"):
        assert head not in document.text.splitlines()


def test_columns_are_read_one_after_the_other_below_what_stands_across() -> None:
    left = lines(*[f"Line {n} on the left goes on to the margin" for n in range(8)], y=160)
    right = lines(*[f"Line {n} on the right goes on to the end." for n in range(8)], x=320, y=160)
    title = [Placed(60, 100, "A title that stands across both columns of the page here", 18)]
    row_by_row = [words for pair in zip(left, right, strict=True) for words in pair]
    for drawn in (title + left + right, title + row_by_row, right + left + title):
        text = read(place([drawn])).text
        assert text.startswith("A title")
        sides = [word for word in text.split() if word in ("left", "right")]
        assert sides == ["left"] * 8 + ["right"] * 8


def test_a_paragraph_goes_on_in_the_next_column_and_on_the_next_page() -> None:
    full = "every line of this text reaches the margin of"
    first = lines(*[full] * 6) + lines(*[full] * 6, x=320)
    second = lines(*[full] * 5, "its column.") + lines(*["Another sentence stands here."], y=190)
    document = read(place([first, second]))
    whole, other = document.text.splitlines()
    assert whole == " ".join([full] * 17 + ["its column."])
    assert other == "Another sentence stands here."
    assert document.pages == (0, len(full) * 12 + 12)
    assert document.text[document.pages[1] :].startswith("every")


def test_footnotes_are_kept_and_break_no_sentence() -> None:
    full = "every line of this text reaches the margin of its page"
    note = [Placed(60, 740, "1 A note of the page.", 8), Placed(60, 750, "2 Another note.", 8)]
    first = lines(*["It begins here."], y=80) + lines(*[full] * 6) + note
    document = read(place([first, lines(full, "and ends here.")]))
    assert document.text.splitlines() == [
        "It begins here.",
        "1 A note of the page.",
        "2 Another note.",
        " ".join([full] * 7 + ["and ends here."]),
    ]
    assert document.page_at(document.text.index("Another note")) == 1
    assert document.page_at(document.text.index("and ends")) == 2


FULL = "The words of this line fill the column up to its margin"

LONGER = "The words of this line fill the column up to its margin,"


def lines_of(*texts: str) -> list[str]:
    """What the reader makes of lines below each other."""
    return read(place([lines(*texts)])).text.splitlines()


@pytest.mark.parametrize("begin", ["Article 16", "20. It"])
def test_a_line_that_the_margin_broke_goes_on_whatever_it_begins_with(begin: str) -> None:
    goes_on = f"{begin} follows here"
    assert lines_of("It begins.", FULL, goes_on) == ["It begins.", f"{FULL} {goes_on}"]
    (unit,) = [u for u in read(place([lines(FULL, goes_on)])).tree.units if u.parent == -1]
    assert (unit.kind, unit.number) == ("text", "")


@pytest.mark.parametrize("first", [20, -20])
def test_items_are_told_by_their_indentation(first: int) -> None:
    body, item = " " * max(0, -first), " " * max(0, first)
    opened = "(a) Words that fill the line up to the margin of a column too"
    one = [f"{item}{opened}", f"{body}{LONGER} or"]
    two = [f"{item}(b) Other words do not", f"{item}(c) nor do these."]
    assert lines_of(*one, *two) == [
        f"{opened} {LONGER} or",
        "(b) Other words do not",
        "(c) nor do these.",
    ]


FEES = [
    "Kind of boat | Fee per year in euros | Who pays",
    "Small boats of wood or of another material that floats on the river | 10 | The keeper",
    "Large boats | 20 | The keeper or, where there is none in the district, the boat's owner",
    "Rafts | 5 | Nobody",
]


@pytest.mark.parametrize("rules", [True, False])
def test_a_row_is_quoted_with_the_names_of_its_columns(rules: bool) -> None:
    law = ["The fees of the year are set out here.", "Table 2 Fees of boats", *FEES, "It ends."]
    document = read(typeset("\n".join(law), lambda _: Style(), Sheet(rules=rules)))
    assert document.text.splitlines() == law
    (table,) = [unit for unit in document.tree.units if unit.kind == "table"]
    assert (table.number, table.heading) == ("2", "Fees of boats")
    (columns,) = [unit for unit in document.tree.units if unit.kind == "columns"]
    assert document.text[columns.start : columns.end] == FEES[0]


def test_a_caption_goes_with_the_table_below_it_and_not_with_what_stands_above() -> None:
    above = "What a boat of the river costs in every year is set out below."
    rows = [[f"{name} of wood", f"{fee} euros a year"] for name, fee in (("Raft", 5), ("Ship", 20))]
    drawn = lines(above, "Table 2-1. Fees of boats")
    for number, (left, right) in enumerate([["Boat of the river", "What it costs"], *rows]):
        drawn += [
            Placed(x, 132 + 12 * number, words, 10) for x, words in ((60, left), (300, right))
        ]
    document = read(place([drawn]))
    assert document.text.splitlines()[:2] == [above, "Table 2-1. Fees of boats"]
    assert [u.label for u in document.tree.units if u.kind == "table"] == ["Table 2-1"]


def test_a_table_goes_on_over_pages_with_its_heads_once() -> None:
    rows = [f"{n} | Boat number {n} of the list | {3 * n} euros" for n in range(1, 31)]
    law = "\n".join(["Number | Name of the boat | Fee", *rows])
    sheet = Sheet(head="Rules", foot="{page}", size=(150, 120))
    document = read(typeset(law, lambda _: Style(), sheet))
    assert len(document.pages) > 2
    assert document.text == law + "\n"


def test_a_bold_sentence_is_no_heading_and_a_heading_goes_on_behind_a_semicolon() -> None:
    heading = "4. What each of the parties warrants to the other and to its customers; Limits"
    sentence = "Each party waives all that it may have against the other in any court of this land."
    text = f"{heading}\n{sentence}\nWe say more of it.\n5. Term\nIt ends on 3 May.\n"

    def style(line: str) -> Style:
        size = 14 if line == heading else 10
        return Style(size, bold=line in (heading, sentence, "5. Term"), align="L", space=1.5)

    document = read(typeset(text, style, Sheet(size=(120, 130))))
    assert document.text.splitlines() == text.splitlines()
    heads = [unit.heading for unit in document.tree.units if unit.heading]
    assert heads == [heading[3:], "Term"]


def test_heads_of_one_word_each_name_the_columns() -> None:
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.add_page()
    pdf.set_font("helvetica", size=10)
    rows = [("Length", "Winter", "Summer"), ("under 6 m", "120", "240"), ("6 to 9 m", "180", "360")]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            pdf.text(72 + 55 * column, 100 + 16 * number, cell)
    assert read(bytes(pdf.output())).text.split("\n")[0] == "Length | Winter | Summer"


_BODY = "Children under eight must be with an adult who can swim and stays with them. " * 4


def _read(parts: list[str], notes: str) -> Document:
    """Read a page of text in which every other part is raised, with small notes at its foot."""
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.add_page()
    pdf.set_margins(72, 72)
    pdf.set_xy(72, 72)
    pdf.set_font("times", size=11)
    for number, part in enumerate(parts):
        pdf.char_vpos = "SUP" if number % 2 else "LINE"
        pdf.write(16, part)
    pdf.char_vpos = "LINE"
    pdf.set_font("times", size=8)
    pdf.set_xy(72, 700)
    pdf.write(10, notes)
    return read_document("rules.pdf", bytes(pdf.output()))


@pytest.mark.parametrize(
    ("parts", "note"),
    [
        ([f"{_BODY}No glass.", "1", " Shower first."], "1 Bottles are allowed."),
        ([f"{_BODY}No glass (", "1", "). Shower first."], "(1) Bottles are allowed."),
        ([f"{_BODY}No glass", "*", ". Shower first."], "* Bottles are allowed."),
    ],
)
def test_a_footnote_hangs_on_its_sentence(parts: list[str], note: str) -> None:
    document = _read(parts, note)
    ((at, start, end),) = document.notes
    assert document.text[start:end] == "Bottles are allowed."
    assert document.text[:at].endswith(("No glass.", "No glass"))
    assert "No glass. Shower first." in document.text


def test_a_unit_and_a_mark_without_a_note_stay() -> None:
    parts = [f"{_BODY}The pool has 250 m", "2", " of water.", "3", " Shower first."]
    document = _read(parts, "2 Bottles are allowed.")
    assert document.notes == ()
    assert "250 m2 of water.3 Shower" in document.text.replace(". 3", ".3")
