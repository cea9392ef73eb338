""".pdf: the text of its pages, and where each begins."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.cleaning import printable
from lexloop.corpus.load.document import Document, Skipped
from lexloop.corpus.load.paragraphs import HYPHEN, rejoin_hyphens, rejoin_lines
from lexloop.corpus.load.titles import title_of

_END = b"%%EOF"
_TAIL = 4096
_ENCRYPTED = 4
"""PDFium's code for a missing password."""
_NO_TITLE = re.compile(
    r"(?:Microsoft \w+ - .*|.*\.(?:docx?|pdf|rtf|txt|indd|qxd)|untitled\W*)$", re.IGNORECASE
)
_WORD = re.compile(r"\w+(?:-\w+)*")
_LINE_HYPHEN = re.compile(r"[\x02\ufffe](?:\r?\n)?")


def read_pdf(data: bytes, name: str) -> Iterator[Document | Skipped]:
    """The document, and its pages that show something but hold no text.

    Raises:
        CorpusError: It is encrypted, damaged or cut short, or no page holds text.
    """
    with closing(_opened(data)) as pdf:
        texts, images = [], []
        for number in range(len(pdf)):
            text, shows = _page(pdf, number)
            texts.append(text)
            if shows and not text:
                images.append(number + 1)
        title = printable(pdf.get_metadata_dict().get("Title", "")).strip()
    if not any(texts):
        what = f"None of its {len(texts)} pages holds text (images?)."
        raise CorpusError(what, "Recognise its text (OCR) first.")
    if images:
        yield Skipped(name, _without_text(images, name))
    text, pages = _whole(texts)
    if not title or _NO_TITLE.match(title):
        title = title_of(text, PurePosixPath(name).stem)
    yield Document(name, title, text, pages=pages)


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


def _page(pdf: Any, number: int) -> tuple[str, bool]:
    """A page's text with broken lines rejoined, and whether the page shows anything at all.

    Raises:
        CorpusError: The page is damaged.
    """
    import pypdfium2

    try:
        page = pdf[number]
        with closing(page), closing(page.get_textpage()) as content:
            text = content.get_text_range()
            shows = pypdfium2.raw.FPDFPage_CountObjects(page) > 0
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number + 1} is damaged ({error}).", "Save it anew.") from error
    marked = _LINE_HYPHEN.sub(HYPHEN, text.replace(HYPHEN, ""))
    return rejoin_lines(printable(marked)), shows


def _whole(texts: list[str]) -> tuple[str, tuple[int, ...]]:
    """The pages' texts as one, with the hyphens at line ends settled over the whole of it."""
    words: set[str] = set()
    if any(HYPHEN in text for text in texts):
        words = {word for text in texts for word in _WORD.findall(text.lower())}
    pages, parts, length = [], [], 0
    for text in texts:
        pages.append(length)
        part = rejoin_hyphens(text, words) if HYPHEN in text else text
        if part:
            parts.append(part + "\n")
            length += len(part) + 1
    return "".join(parts), tuple(pages)


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
