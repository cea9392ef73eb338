"""Laws set as PDFs in several layouts read as their texts do."""

from pathlib import Path

import pytest
from typeset import Placed, Sheet, Style, lines, place, typeset

from lexloop.documents.document import Document
from lexloop.documents.reading.pdf import read as read_pdf
from lexloop.documents.reading.source import Limits

LAWS = Path(__file__).parents[2] / "data" / "laws"
LAYOUTS = {
    "one column": Sheet(head="The Law {page}", foot="{page}", size=(120, 130)),
    "two columns, words broken": Sheet(
        columns=2, head="Law", other_head="{page}   The Laws", hyphens=True, size=(210, 140)
    ),
    "tables without lines": Sheet(rules=False, foot="Page {page}", size=(140, 150)),
}


def read(data: bytes) -> Document:
    *_, document = read_pdf(data, "law.pdf", Limits())
    assert isinstance(document, Document)
    return document


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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("law", ["act", "contract", "directive", "regulations", "standard"])
def test_a_law_has_the_structure_of_its_text(law: str, layout: str) -> None:
    written = Document(law, law, (LAWS / f"{law}.txt").read_text())
    document = read(set_law(written, LAYOUTS[layout]))
    assert units_of(document) == units_of(written)
    for head in ("The Law", "The Laws", "Page"):
        assert head not in document.text.splitlines()


@pytest.mark.parametrize("width", range(90, 200, 9))
def test_where_the_margin_breaks_lines_changes_nothing(width: int) -> None:
    written = Document("law", "law", (LAWS / "directive.txt").read_text())
    data = set_law(written, Sheet(foot="- {page} -", hyphens=True, size=(width, 160)))
    assert units_of(read(data)) == units_of(written)


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


def test_a_running_head_is_left_out_on_every_page() -> None:
    def page(number: int) -> list[Placed]:
        head = f"Boats {number}" if number % 2 else f"{number} Harbour Act § {number // 3}"
        body = lines(*[f"Words of the {n + 40 * number}th line" for n in range(30)])
        return [Placed(60, 40, head, 8), *body, Placed(290, 770, f"- {number} -", 8)]

    for count in (2, 3, 8):
        text = read(place([page(number) for number in range(17, 17 + count)])).text
        assert text.splitlines() == [
            f"Words of the {n}th line" for n in range(680, 680 + 40 * count) if n % 40 < 30
        ]


def test_what_stands_beside_the_number_of_a_page_goes_with_it() -> None:
    names = ("Of boats", "Of harbours", "Of locks", "Of bridges", "Of fees")
    pages = [
        [
            Placed(60, 40, name),
            Placed(500, 40, str(number)),
            *lines(*[f"Words of the {n + 40 * number}th line" for n in range(30)], x=70),
        ]
        for number, name in enumerate(names, 3)
    ]
    text = read(place(pages)).text
    assert not [name for name in names if name in text]
    assert len(text.splitlines()) == 150


def test_a_heading_on_top_of_each_page_is_no_running_head() -> None:
    def page(number: int) -> list[Placed]:
        body = lines(*[f"Words of the {n + 40 * number}th line." for n in range(9)], y=130)
        return [Placed(60, 90, f"Article {number}", 10, bold=True), *body]

    document = read(place([page(number) for number in range(1, 9)]))
    assert [unit.label for unit in document.tree.units if unit.kind == "provision"] == [
        f"Article {number}" for number in range(1, 9)
    ]


def test_numbers_of_pages_are_told_from_numbers() -> None:
    def page(number: int, last: str) -> list[Placed]:
        body = lines(*[f"Words of the {n + 40 * number}th line" for n in range(30)])
        return [*body, Placed(300, 770, last)]

    for first in (1, 5):
        text = read(place([page(n, str(n)) for n in range(first, first + 3)])).text
        assert len(text.splitlines()) == 90
        assert all(line.startswith("Words") for line in text.splitlines())
    years = ("1990", "2004", "1890")
    text = read(place([page(n, year) for n, year in enumerate(years)])).text
    assert [line for line in text.splitlines() if line in years] == list(years)


def test_a_document_of_nothing_but_running_heads_keeps_them() -> None:
    document = read(place([[Placed(60, 40, "The same line")] for _ in range(5)]))
    assert document.text == "The same line\n" * 5


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
