"""What documents are called: by their own heading, or by metadata that their text bears out."""

from collections.abc import Callable

import docx
import pytest
from fpdf import FPDF
from made_files import saved
from reading import read_document
from sets import rows

from lexloop.documents.reading.title import chosen_title, largest_title, own_title

OWN = "MUTUAL NON-DISCLOSURE AGREEMENT"
TEXT = (
    f"{OWN}\nThis agreement is made between Quay Bakery Ltd and Pier Foods Inc. It is about the "
    "document and the letters that the parties send to acme.com, and all that is in them.\n"
)


@pytest.mark.parametrize(("said", "title"), rows("titles"))  # fmt: skip
def test_metadata_is_a_title_if_the_text_bears_it_out(said: str, title: str) -> None:
    assert chosen_title(said, own_title(TEXT), TEXT, "scan_0001") == title


@pytest.mark.parametrize(("said", "title"), rows("titles_without"))
def test_of_a_text_without_a_title_metadata_counts_sooner(said: str, title: str) -> None:
    text = "Every owner, whoever it is, keeps to this bylaw,\n"
    assert own_title(text) == ""
    assert chosen_title(said, "", text, "scan_0001") == title


def test_an_empty_text_has_the_name_of_its_file() -> None:
    assert chosen_title("", own_title(""), "", "lease-2024") == "lease 2024"
    assert largest_title("", ()) == ""


def pdf(said: str, *sized: tuple[str, int]) -> bytes:
    paper = FPDF()
    paper.set_title(said)
    paper.add_page()
    for text, size in sized:
        paper.set_font("times", size=size)
        paper.multi_cell(0, None, text, new_x="LMARGIN", new_y="NEXT")
        paper.ln(6)
    return bytes(paper.output())


BODY = ("The parties keep to themselves whatever they are told by each other. " * 6, 10)


def test_a_pdf_is_called_by_its_line_in_the_largest_type() -> None:
    sheet = (("Private and confidential", 10), ("Mutual non-disclosure agreement", 20), BODY)
    for said in ("nda.html", "Microsoft Word - nda.doc", "untitled", "Letter template", ""):
        assert read_document("x.pdf", pdf(said, *sheet)).title == "Mutual non-disclosure agreement"
    said = "Non-disclosure agreement of the parties"
    assert read_document("x.pdf", pdf(said, *sheet)).title == said


def word(said: str) -> bytes:
    document = docx.Document()
    document.core_properties.title = said
    document.add_heading("Lease of the pier", 1)
    document.add_paragraph("The rent is 5 euros.")
    return saved(document)


def page(said: str) -> bytes:
    body = "<h1>Lease of the pier</h1><p>The rent is 5 euros.</p>"
    return f"<html><head><title>{said}</title></head><body>{body}</body></html>".encode()


@pytest.mark.parametrize(("name", "made"), [("x.docx", word), ("x.html", page)])
def test_every_format_goes_by_the_same_evidence(name: str, made: Callable[[str], bytes]) -> None:
    for said in ("", "lease-final.docx", "Untitled 1", "Invoice template"):
        assert read_document(name, made(said)).title == "Lease of the pier"
    assert read_document(name, made("Rent of the pier")).title == "Rent of the pier"


def test_what_stands_above_the_largest_line_is_no_title() -> None:
    text = "3 May 2024\nOffice of the harbour\nHarbour bylaw\n1. Fees\n"
    assert largest_title(text, [(33, 1), (47, 2)]) == "Harbour bylaw"
    assert largest_title(text, [(47, 2)]) == "3 May 2024"


@pytest.mark.parametrize("stamp", ["Exhibit 10.5", "EXHIBIT 4.25", "[LOGO]", "3", "(Seal)"])
def test_a_stamp_is_a_title_only_if_no_line_is_a_better_one(stamp: str) -> None:
    assert own_title(f"{stamp}\nService agreement\nThe parties agree.\n") == "Service agreement"
    assert own_title(f"{stamp}\nThe parties agree.\n") == stamp
    assert own_title(f"# {stamp}\nPets may enter\n") == stamp


@pytest.mark.parametrize("line", ["Lease", "House rules 2024", "L 1/2024 on rafts", "保护法"])
def test_a_short_title_is_no_stamp(line: str) -> None:
    assert own_title(f"{line}\nof the pier\n") == line
