""".pdf: its paragraphs, headings and tables, and where every character of them stands."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.boxes import encode_runs
from lexloop.corpus.load.document import Document, Skipped, title_of
from lexloop.corpus.load.encoding import printable
from lexloop.corpus.load.pdf_furniture import without_furniture
from lexloop.corpus.load.pdf_lines import lines_of, setting_of
from lexloop.corpus.load.pdf_page import read_sheet
from lexloop.corpus.load.pdf_paragraphs import paragraphs_of
from lexloop.corpus.load.pdf_segment import Segment, Sheet
from lexloop.corpus.load.pdf_text import Text, words_of

_END = b"%%EOF"
_TAIL = 4096
_ENCRYPTED = 4
"""PDFium's code for a missing password."""
_NO_TITLE = re.compile(
    r"(?:Microsoft \w+ - .*|.*\.(?:docx?|pdf|rtf|txt|indd|qxd)|untitled\W*)$", re.IGNORECASE
)


def read_pdf(data: bytes, name: str) -> Iterator[Document | Skipped]:
    """The document, and its pages that show something but hold no text.

    Raises:
        CorpusError: It is encrypted, damaged or cut short, or no page holds text.
    """
    with closing(_opened(data)) as pdf:
        sheets = [_sheet(pdf, number) for number in range(len(pdf))]
        title = printable(pdf.get_metadata_dict().get("Title", "")).strip()
    pages = without_furniture(sheets)
    if not any(pages):
        what = f"None of its {len(sheets)} pages holds text (images?)."
        raise CorpusError(what, "Recognise its text (OCR) first.")
    images = [n for n, sheet in enumerate(sheets, 1) if sheet.shows and not pages[n - 1]]
    if images:
        yield Skipped(name, _without_text(images, name))
    text = _text(pages, [sheet.rules for sheet in sheets])
    whole = text.whole
    if not title or _NO_TITLE.match(title):
        title = title_of(whole, PurePosixPath(name).stem)
    yield Document(
        name,
        title,
        whole,
        pages=text.pages(len(sheets)),
        headings=tuple(text.headings),
        boxes=encode_runs(text.runs),
    )


def _opened(data: bytes) -> Any:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _ENCRYPTED:
            what, hint = "It is encrypted and needs a password.", "Save it without one."
        elif _END not in data[-_TAIL:]:
            what, hint = "It is cut short: its end is missing.", "Fetch it again."
        else:
            what, hint = f"It is a damaged PDF ({error}).", "Save it anew."
        raise CorpusError(what, hint) from error
    if _END not in data[-_TAIL:]:
        pdf.close()
        raise CorpusError("It is cut short: its end is missing.", "Fetch it again.")
    return pdf


def _sheet(pdf: Any, number: int) -> Sheet:
    """What a page shows.

    Raises:
        CorpusError: The page is damaged.
    """
    import pypdfium2

    try:
        page = pdf[number]
        with closing(page), closing(page.get_textpage()) as content:
            return read_sheet(page, content, number)
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number + 1} is damaged ({error}).", "Save it anew.") from error


def _text(pages: Sequence[Sequence[Segment]], rules: Sequence[Sequence[float]]) -> Text:
    """The pages' text, paragraph by paragraph."""
    text = Text(words_of(pages))
    lines = list(lines_of(pages, rules))
    for paragraph in paragraphs_of(lines, setting_of(lines)):
        text.add(paragraph)
    return text


def _without_text(pages: list[int], name: str) -> str:
    if len(pages) == 1:
        return f"Page {pages[0]} of {name} holds no text (an image?)."
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:20]]
    rest = f" and {len(runs) - 20} more places" if len(runs) > 20 else ""
    return f"Pages {', '.join(shown)}{rest} of {name} hold no text (images?)."
