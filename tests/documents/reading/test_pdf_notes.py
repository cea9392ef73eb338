"""Footnotes at the foot of a PDF's page hang on the sentence that has their mark."""

import pytest
from fpdf import FPDF
from reading import read_document

from lexloop.documents.document import Document

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
