"""Turned pages of PDFs, and lines that are read from the right."""

import re
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fpdf import FPDF
from reading import read_one
from sets import rows

from lexloop.documents.document import Document, boxes_of
from lexloop.documents.reading.pdf_leftward import is_leftward, reading_order

_LAW = (
    "\u05d7\u05d5\u05e7 \u05d4\u05e1\u05d9\u05e8\u05d5\u05ea",
    "1. \u05d1\u05e2\u05dc \u05e1\u05d9\u05e8\u05d4 \u05d9\u05e9\u05dc\u05dd 25 "
    "\u05e9\u05e7\u05dc\u05d9\u05dd \u05d1\u05db\u05dc \u05e9\u05e0\u05d4.",
)
"""Hebrew: "The Boats Law", "1. The owner of a boat pays 25 shekels each year."."""


@pytest.fixture(scope="module")
def font(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A font in which each letter is a box."""
    pen = TTGlyphPen(None)
    for number, corner in enumerate([(60, 0), (60, 600), (440, 600), (440, 0)]):
        (pen.lineTo if number else pen.moveTo)(corner)
    pen.closePath()
    box, blank = pen.glyph(), TTGlyphPen(None).glyph()
    codes = {*map(ord, "".join(_LAW)), *range(33, 127)} - {32}
    names = {code: f"u{code:04X}" for code in sorted(codes)}
    order = [".notdef", "space", *names.values()]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap({32: "space", **names})
    builder.setupGlyf({name: blank if name == "space" else box for name in order})
    builder.setupHorizontalMetrics(dict.fromkeys(order, (500, 60)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200)
    builder.setupPost()
    file = tmp_path_factory.mktemp("font") / "boxes.ttf"
    builder.save(file)
    return file


def _parts(pdf: FPDF) -> tuple[Document, list[str]]:
    return read_one("law.pdf", bytes(pdf.output()))


def _paper() -> FPDF:
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.add_page()
    pdf.set_font("times", size=11)
    return pdf


def test_hebrew_is_read_from_the_right(font: Path) -> None:
    pdf = _paper()
    pdf.add_font("boxes", fname=font)
    pdf.set_font("boxes", size=10)
    for number, line in enumerate(_LAW):  # drawn as it shows: numbers alone run to the right
        shown = re.sub(r"\d+", lambda digits: digits[0][::-1], line[::-1])
        pdf.text(550 - 5 * len(shown), 100 + 40 * number, shown)
    document, reasons = _parts(pdf)
    assert (document.text.split("\n")[:2], reasons) == ([*_LAW], [])
    at = _LAW[1].index("25")  # characters of 5 points from the right margin
    start = document.text.index("25")
    (box,) = boxes_of(document, start, start + 2)
    assert (round(box.x0), round(box.x1)) == (550 - 5 * (at + 2), 550 - 5 * at)


def test_text_on_its_side_is_left_out_and_told() -> None:
    pdf = _paper()
    pdf.text(72, 100, "The fee for a berth is due within thirty days.")
    with pdf.rotation(90, x=40, y=500):
        pdf.text(40, 500, "Printed in May")
    with pdf.rotation(45, x=300, y=500):
        pdf.text(300, 500, "DRAFT")
    document, reasons = _parts(pdf)
    assert document.text == "The fee for a berth is due within thirty days.\n"
    assert reasons == ["Text that is sideways or askew was left out on page 1."]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_on_its_side_is_turned(angle: int) -> None:
    pdf = _paper()
    with pdf.rotation(angle, x=300, y=400):
        pdf.text(300, 400, "The fee for a berth is due.")
        pdf.text(300, 430, "It is paid at the office.")
    document, reasons = _parts(pdf)
    assert document.text == "The fee for a berth is due.\nIt is paid at the office.\n"
    assert reasons == []
    (box,) = boxes_of(document, 0, 3)
    x, y = {90: (295, 400), 180: (292, 395), 270: (305, 392)}[angle]
    assert (abs((box.x0 + box.x1) / 2 - x), abs((box.y0 + box.y1) / 2 - y)) < (12, 12)


_NAMES = {"A": "\u05d0", "B": "\u05d1", "C": "\u05d2", "L": "\u0644", "F": "\u0627"}


def _letters(text: str) -> str:
    return "".join(_NAMES.get(char, char) for char in text)


def _read(drawn: str, given: str) -> str:
    """Read a line of letters 10 points wide as it is drawn from right to left, given in an order.

    Letters stand for those of scripts that run to the left, small ones for Latin.
    """
    places: dict[str, list[int]] = {}
    for place, char in enumerate(drawn):
        places.setdefault(char, []).append(10 * place)
    left = [float(places[char].pop(0)) for char in given]
    right = [edge + (0 if char == " " else 10) for edge, char in zip(left, given, strict=True)]
    return reading_order(_letters(given), left, right, 12.0)[0].rstrip()


@pytest.mark.parametrize(("drawn", "given", "read"), rows("leftward"))
def test_a_line_is_read_from_the_right(drawn: str, given: str, read: str) -> None:
    assert _read(drawn, given) == _letters(read)


def test_one_glyph_of_two_letters_is_read_as_written() -> None:
    said, order, names = reading_order(_letters("FL"), [0.0, 0.0], [10.0, 10.0], 12.0)
    assert (said, order, names) == (_letters("LF"), [1, 0], [])


@pytest.mark.parametrize(("text", "leftward"), [("", False), ("A b c", False), ("AB c", True)])
def test_most_letters_tell(text: str, leftward: bool) -> None:
    assert is_leftward(_letters(text)) is leftward
