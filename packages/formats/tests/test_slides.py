from functools import partial
from typing import Any

import pytest
from lxml import etree
from made_files import repacked, saved
from pptx import Presentation
from reading import read_one

from lexloop.core.errors import CorpusError

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


found = partial(read_one, "in/harbour.pptx")


def paragraph(frame: Any, text: str, level: int = 0, kind: str = "", start: int = 0) -> None:
    added = frame.add_paragraph()
    added.text, added.level = text, level
    if kind:
        number = etree.SubElement(added._p.get_or_add_pPr(), f"{DRAWING}{kind.partition(' ')[0]}")
        if kind.startswith("buAutoNum"):
            number.set("type", kind.partition(" ")[2])
        if start:
            number.set("startAt", str(start))


@pytest.fixture
def show() -> Any:
    """A presentation with the slide "Duties", whose list may be gone on with."""
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Duties"
    slide.placeholders[1].text = "The harbour master shall:"
    return made


def lines(show: Any) -> list[str]:
    return found(saved(show))[0].text.splitlines()


def test_lists_have_the_numbers_and_bullets_that_are_shown(show: Any) -> None:
    frame = show.slides[0].placeholders[1].text_frame
    paragraph(frame, "keep a log", 1)
    paragraph(frame, "in ink", 2)
    paragraph(frame, "First", 0, "buAutoNum arabicPeriod")
    paragraph(frame, "of two", 1, "buAutoNum alphaLcParenBoth")
    paragraph(frame, "and two", 1, "buAutoNum alphaLcParenBoth")
    paragraph(frame, "", 0, "buAutoNum arabicPeriod")
    paragraph(frame, "Second", 0, "buAutoNum arabicPeriod")
    paragraph(frame, "again", 1, "buAutoNum alphaLcParenBoth")
    paragraph(frame, "Bare", 0, "buNone")
    paragraph(frame, "Seventh", 0, "buAutoNum romanUcParenR", 7)
    paragraph(frame, "Eighth", 0, "buAutoNum romanUcParenR", 7)
    assert lines(show) == [
        "Slide 1: Duties",
        "• The harbour master shall:",
        "– keep a log",
        "▪ in ink",
        "1. First",
        "(a) of two",
        "(b) and two",
        "2. Second",
        "(a) again",
        "Bare",
        "VII) Seventh",
        "VIII) Eighth",
    ]


def test_tables_groups_and_notes_are_read_and_furniture_is_not(show: Any) -> None:
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Fees\vof 2024"
    table = slide.shapes.add_table(3, 3, 0, 0, 100, 100).table
    rows = (("Vessel", "Fee", "Note"), ("Barge", "40", "x"), ("", "50", ""))
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "In a group."
    within = group.shapes.add_group_shape().shapes.add_textbox(0, 0, 1, 1)
    within.text_frame.text = "In two."
    slide.notes_slide.notes_text_frame.text = "Ask first.\nThen go on."
    document, told = found(saved(show))
    assert document.text.splitlines()[2:] == [
        "Slide 2: Fees of 2024",
        "Vessel | Fee | Note",
        "Barge | 40 | x",
        "Barge | 50 |",
        "In a group.",
        "In two.",
        "Notes to slide 2",
        "Ask first.",
        "Then go on.",
    ]
    assert [level for _, level in document.headings] == [1, 1, 2]
    assert (document.title, told) == ("Duties", [])
    labels = [unit.label for unit in document.tree.units]
    assert {"Slide 1", "Slide 2", "Slide 2, row Barge", "Notes to slide 2"} <= set(labels)


def test_a_hidden_slide_is_told_and_the_others_keep_their_numbers(show: Any) -> None:
    for text in ("A secret.", "Open to all."):
        slide = show.slides.add_slide(show.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, 1, 1).text_frame.text = text
    show.slides[1]._element.set("show", "0")
    document, told = found(saved(show))
    assert document.text.splitlines()[2:] == ["Slide 3", "Open to all."]
    assert told == ["Slide 2 is hidden and was not read."]


SLIDE = "ppt/slides/slide1.xml"


def test_entities_are_not_expanded(show: Any) -> None:
    declared = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><p:sld'

    def with_entity(xml: bytes) -> bytes:
        return xml.replace(b"<p:sld", declared, 1).replace(b"harbour master", b"&b;")

    document, _ = found(repacked(saved(show), SLIDE, with_entity))
    assert "root:" not in document.text


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (lambda data: data[:9000], "damaged presentation"),
        (lambda data: repacked(data, SLIDE, lambda _: b"<a/>"), "damaged presentation"),
        (lambda data: repacked(data, SLIDE, lambda xml: xml + b" " * (40 << 20)), "as a bomb does"),
        (lambda data: saved(Presentation()), "It contains no text"),
    ],
)
def test_what_is_no_sound_presentation_is_refused(show: Any, harm: Any, reason: str) -> None:
    data = harm(saved(show))
    with pytest.raises(CorpusError, match=reason):
        found(data)


def test_the_numbers_of_slides_name_them(show: Any) -> None:
    from lexloop.documents.structure.references import find_references

    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Oil spills"
    slide.placeholders[1].text = "Close the basin."
    tree = found(saved(show))[0].tree
    (reference,) = find_references("What does slide 2 say?")
    assert [tree.units[place].heading for place in tree.find(reference)] == ["Oil spills"]
