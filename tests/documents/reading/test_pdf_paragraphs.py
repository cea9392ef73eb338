"""Which lines of a page are one paragraph, which are headings, and which are rows of a table."""

import pytest
from typeset import Placed, Sheet, Style, lines, place, typeset

from lexloop.documents.document import Document
from lexloop.documents.reading.pdf import read as read_pdf
from lexloop.documents.reading.source import Limits

FULL = "The words of this line fill the column up to its margin"
LONGER = "The words of this line fill the column up to its margin,"


def read(data: bytes) -> Document:
    *_, document = read_pdf(data, "law.pdf", Limits())
    assert isinstance(document, Document)
    return document


def lines_of(*texts: str) -> list[str]:
    """What the reader makes of lines below each other."""
    return read(place([lines(*texts)])).text.splitlines()


@pytest.mark.parametrize(
    "begin",
    [
        "Article 16",
        "20. It",
        "(a) and",
        "Section 5 of",
        "2. of",
        "- and",
        "§ 12 of",
        "Annex I",
        "I",
    ],
)
def test_a_line_that_the_margin_broke_goes_on_whatever_it_begins_with(begin: str) -> None:
    goes_on = f"{begin} follows here"
    assert lines_of("It begins.", FULL, goes_on) == ["It begins.", f"{FULL} {goes_on}"]
    (unit,) = [u for u in read(place([lines(FULL, goes_on)])).tree.units if u.parent == -1]
    assert (unit.kind, unit.number) == ("text", "")


@pytest.mark.parametrize("begin", ["20. It", "(a) The", "• The", "1.2 The"])
def test_a_marker_behind_a_full_sentence_begins_an_item(begin: str) -> None:
    assert lines_of(FULL, f"{FULL}.", f"{begin} item") == [f"{FULL} {FULL}.", f"{begin} item"]


def test_a_reference_behind_a_full_sentence_is_no_heading() -> None:
    assert lines_of(FULL, f"{FULL}.", "Article 8 of the Charter applies.") == [
        f"{FULL} {FULL}. Article 8 of the Charter applies."
    ]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert lines_of(FULL, f"{FULL} No.", "20. It") == [f"{FULL} {FULL} No. 20. It"]


@pytest.mark.parametrize("first", [0, 20, -20])
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


def test_white_space_parts_paragraphs_that_fill_their_lines() -> None:
    first, second = lines(FULL, FULL, f"{FULL}."), lines(FULL, f"{FULL}.", y=142)
    assert read(place([first + second])).text.splitlines() == [
        f"{FULL} {FULL} {FULL}.",
        f"{FULL} {FULL}.",
    ]


def test_numbers_far_in_front_of_their_words_belong_to_them() -> None:
    words = [
        *[Placed(60, y, number) for y, number in ((100, "1."), (112, "(a)"), (136, "(b)"))],
        Placed(100, 100, "The keeper shall, before the boat leaves,"),
        *lines("moor it, and shall look for everything that may be", "loose;", x=100, y=112),
        Placed(100, 136, "tell the inspector."),
    ]
    assert read(place([words])).text.splitlines() == [
        "1. The keeper shall, before the boat leaves,",
        "(a) moor it, and shall look for everything that may be loose;",
        "(b) tell the inspector.",
    ]


def test_a_comment_in_a_manual_is_no_heading() -> None:
    document = read(place([lines("# install the tool", "run tool", "# start it", "start tool")]))
    assert [u.kind for u in document.tree.units if u.kind in ("part", "provision")] == []


def test_headings_have_levels_by_size_and_weight() -> None:
    page = [
        Placed(60, 80, "A law of boats", 20),
        Placed(60, 120, "General matters", 14),
        Placed(60, 136, "and others", 14),
        *lines(FULL, "and ends.", y=160),
        Placed(60, 200, "Who keeps boats", bold=True),
        *lines(FULL, "and ends.", y=214),
        Placed(60, 260, "Last matters", 14),
        *lines(FULL, "and ends.", y=280),
    ]
    document = read(place([page]))
    found = [(level, document.text[at:].split("\n")[0]) for at, level in document.headings]
    assert found == [
        (1, "A law of boats"),
        (2, "General matters and others"),
        (3, "Who keeps boats"),
        (2, "Last matters"),
    ]


def test_a_text_that_is_bold_throughout_has_no_bold_headings() -> None:
    bold = [Placed(60, 100 + 30 * n, f"Words of the line {n}", bold=True) for n in range(9)]
    assert read(place([bold])).headings == ()


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


def test_a_table_goes_on_over_pages_with_its_heads_once() -> None:
    rows = [f"{n} | Boat number {n} of the list | {3 * n} euros" for n in range(1, 31)]
    law = "\n".join(["Number | Name of the boat | Fee", *rows])
    sheet = Sheet(head="Rules", foot="{page}", size=(150, 120))
    document = read(typeset(law, lambda _: Style(), sheet))
    assert len(document.pages) > 2
    assert document.text == law + "\n"


def test_empty_cells_keep_their_columns() -> None:
    law = ["Name | Fee | Place", "Rafts |  | Wharf", "Boats | 10 | Lock", "|  | 15 | Quay |"]
    cells = [["Name", "Fee", "Place"], ["Rafts", "", "Wharf"], ["Boats", "10", "Lock"]]
    cells.append(["", "15", "Quay"])
    words = [
        Placed(60 + 120 * column, 100 + 20 * row, cell)
        for row, held in enumerate(cells)
        for column, cell in enumerate(held)
        if cell
    ]
    assert read(place([words])).text.splitlines() == law
