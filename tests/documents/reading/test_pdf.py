from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource, boxes_of
from lexloop.documents.reading.pdf import read as read_pdf
from lexloop.documents.reading.source import Limits

MakePdf = Callable[..., bytes]
MISSING = (
    "Reading pictures needs the package lexloop-formats: not installed. Install it: "
    'pip install "lexloop[formats]", or in a checkout pip install ./packages/formats.'
)


@pytest.fixture(autouse=True)
def nothing_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without lexloop-formats, whose tests read pictures of pages."""
    monkeypatch.setattr("lexloop.documents.reading.pdf.recogniser", lambda: None)


def parts(data: bytes) -> tuple[Document, list[SkippedSource]]:
    found = list(read_pdf(data, "law.pdf", Limits()))
    documents = [item for item in found if isinstance(item, Document)]
    assert len(documents) == 1
    return documents[0], [item for item in found if isinstance(item, SkippedSource)]


def test_pages_begin_where_their_text_begins(make_pdf: MakePdf) -> None:
    document, skipped = parts(make_pdf([["First page."], ["Second page.", "Its end."], ["Third."]]))
    assert document.text == "First page.\nSecond page.\nIts end.\nThird.\n"
    assert document.pages == (0, 12, 34)
    pages = [document.page_at(document.text.index(word)) for word in ("First", "end", "Third")]
    assert pages == [1, 2, 3]
    assert skipped == []


def test_pages_that_are_images_are_reported(make_pdf: MakePdf) -> None:
    document, skipped = parts(make_pdf([["Text."], [], ["More."], [], []]))
    assert document.pages == (0, 6, 6, 12, 12)
    reason = f"Pages 2, 4-5 of law.pdf contain no text (images?). {MISSING}"
    assert skipped == [SkippedSource("law.pdf", reason, package="formats")]
    _, skipped = parts(make_pdf([["Text."], []]))
    reason = f"Page 2 of law.pdf contains no text (an image?). {MISSING}"
    assert skipped == [SkippedSource("law.pdf", reason, package="formats")]


def test_what_is_damaged_locked_or_an_image_is_refused(make_pdf: MakePdf) -> None:
    data = make_pdf([["The law."] * 40])
    locked = (Path(__file__).parent / "encrypted.pdf").read_bytes()
    for given, reason in (
        (data[:10], "cut short"),
        (data[: len(data) // 2], "cut short"),
        (data[:-20], "cut short"),
        (b"%PDF-1.4\nnothing\n%%EOF", "damaged"),
        (locked, "encrypted and needs a password"),
        (make_pdf([[], []]), r"None of its 2 pages holds text"),
    ):
        with pytest.raises(CorpusError, match=reason):
            list(read_pdf(given, "law.pdf", Limits()))


def test_what_no_reader_sees_is_left_out_and_boxes_stay_in_place() -> None:
    import matplotlib as mpl
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.add_font("DejaVu", "", Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    pdf.set_font("DejaVu", size=11)
    coded = (
        "The o\ufb03ce of the e\u0301tat keeps Arti\u200bcle 5\u20111\ufeff. \u200b Keepers pay."
    )
    pdf.multi_cell(0, 6, coded)
    data = bytes(pdf.output())
    document, _ = parts(data)
    assert document.text == "The office of the état keeps Article 5-1. Keepers pay.\n"
    with pypdfium2.PdfDocument(data) as read:
        page = read[0].get_textpage()
        for word in ("office", "tat", "keeps", "Keepers"):
            start = document.text.index(word)
            (box,) = boxes_of(document, start, start + len(word))
            edges = (box.x0 + 0.4, box.y0 + 0.4, box.x1 - 0.4, box.y1 - 0.4)
            assert page.get_text_bounded(*edges).strip() == word
