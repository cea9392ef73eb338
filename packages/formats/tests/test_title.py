"""What documents of these formats are called."""

from collections.abc import Callable

import pptx
import pytest
from made_files import saved, zipped
from reading import read_document


def title_of(name: str, data: str | bytes) -> str:
    return read_document(name, data).title


def odt(said: str) -> bytes:
    office = "urn:oasis:names:tc:opendocument:xmlns"
    names = f'xmlns:office="{office}:office:1.0" xmlns:text="{office}:text:1.0"'
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {names}><office:body><office:text>"
        "<text:h>Lease of the pier</text:h><text:p>The rent is 5 euros.</text:p>"
        "</office:text></office:body></office:document-content>",
        "meta.xml": f'<office:document-meta {names} xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<office:meta><dc:title>{said}</dc:title></office:meta></office:document-meta>",
    }
    return zipped(parts)


def rtf(said: str) -> bytes:
    head = rf"{{\rtf1\ansi{{\info{{\title {said}}}}}"
    return rf"{head} Lease of the pier\par The rent is 5 euros.\par}}".encode()


@pytest.mark.parametrize(("name", "made"), [("x.odt", odt), ("x.rtf", rtf)])
def test_every_format_goes_by_the_same_evidence(name: str, made: Callable[[str], bytes]) -> None:
    for said in ("", "lease-final.docx", "Untitled 1", "Invoice template"):
        assert title_of(name, made(said)) == "Lease of the pier"
    assert title_of(name, made("Rent of the pier")) == "Rent of the pier"


def test_slides_are_called_by_the_first_or_by_what_their_text_bears_out() -> None:
    def show(said: str, first: str) -> bytes:
        made = pptx.Presentation()
        made.core_properties.title = said
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = first
        slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Boats moor at the pier."
        return saved(made)

    assert title_of("a_pier.pptx", show("PowerPoint Presentation", "")) == "a pier"
    assert title_of("a_pier.pptx", show("Boats", "")) == "Boats"
    assert title_of("a_pier.pptx", show("Boats", "Oil spills")) == "Oil spills"


def test_a_message_without_a_subject_is_called_by_whom_and_when_it_is() -> None:
    head = "From: Ann <ann@x.org>\nDate: Tue, 5 Mar 2024 14:02:00 +0100\n"
    assert title_of("x.eml", f"{head}\nThe boiler leaks.\n".encode()) == (
        "Message from Ann, 2024-03-05"
    )
    named = f"{head}Subject: boiler.pdf\n\nThe boiler leaks.\n".encode()
    assert title_of("x.eml", named) == "boiler.pdf"  # a person wrote it
