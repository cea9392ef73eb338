"""Texts in many layouts, each with the outline that a lawyer would give it, by its numbers."""

import pytest
from sets import DATA, blocks

from lexloop.documents.document import Document

OUTLINES = blocks("outlines")
NAMED = ("provision", "definition", "table", "note")


@pytest.mark.parametrize("title", OUTLINES)
def test_every_provision_has_its_label_and_its_heading(title: str) -> None:
    text, outline = OUTLINES[title]
    if text.startswith("laws/"):
        text = (DATA / text.strip()).read_text("utf-8")
    assert [
        f"{unit.label} | {unit.heading}" if unit.heading not in unit.label else unit.label
        for unit in Document("d.txt", "d", text).tree.units
        if unit.label and (unit.number or unit.kind in NAMED)
    ] == outline
