""".pdf: its paragraphs, headings and tables, and the place of every character."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import CharacterRun, Document, SkippedSource, encode_runs, title_of
from lexloop.documents.reading.pdf_furniture import without_furniture
from lexloop.documents.reading.pdf_lines import lines_of, setting_of
from lexloop.documents.reading.pdf_page import HYPHEN, Segment, Sheet, read_sheet
from lexloop.documents.reading.pdf_paragraphs import Paragraph, paragraphs_of
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import printable

_END = b"%%EOF"
_TAIL = 4096
_ENCRYPTED = 4
"""PDFium's code for a missing password."""
_NO_TITLE = re.compile(
    r"(?:Microsoft \w+ - .*|.*\.(?:docx?|pdf|rtf|txt|indd|qxd)|untitled\W*)$", re.IGNORECASE
)
_WORD = re.compile(r"\w+(?:-\w+)*")
_LAST_WORD, _FIRST_WORD = re.compile(r"\w*$"), re.compile(r"\w*")
_BREAKS = (HYPHEN, "-", "\u2010")


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Yield the document, and the pages that show something but hold no text.

    Raises:
        CorpusError: It is encrypted, damaged or cut short, or no page holds text.
    """
    with closing(open_pdf(data)) as pdf:
        sheets = [_sheet(pdf, number) for number in range(len(pdf))]
        title = printable(pdf.get_metadata_dict().get("Title", "")).strip()
    pages = without_furniture(sheets)
    if not any(pages):
        what = f"None of its {len(sheets)} pages holds text (images?)."
        raise CorpusError(what, "Recognise its text (OCR) first.")
    images = [n for n, sheet in enumerate(sheets, 1) if sheet.shows and not pages[n - 1]]
    if images:
        yield SkippedSource(name, _without_text(images, name))
    text = _Text(_words_of(pages))
    lines = list(lines_of(pages, [sheet.rules for sheet in sheets]))
    for paragraph in paragraphs_of(lines, setting_of(lines)):
        text.add(paragraph)
    whole = "".join(text.parts)
    if not title or _NO_TITLE.match(title):
        title = title_of(whole, PurePosixPath(name).stem)
    begun, headings = text.pages(len(sheets)), tuple(text.headings)
    boxes = encode_runs(text.runs)
    yield Document(name, title, whole, pages=begun, headings=headings, boxes=boxes)


def open_pdf(data: bytes) -> Any:
    """Return PDFium's document; whoever opens it closes it.

    Raises:
        CorpusError: It is encrypted, damaged or cut short.
    """
    import pypdfium2

    is_whole = _END in data[-_TAIL:]
    try:
        pdf = pypdfium2.PdfDocument(data)
        if is_whole:
            return pdf
        pdf.close()
    except pypdfium2.PdfiumError as error:
        if error.err_code == _ENCRYPTED:
            what, hint = "It is encrypted and needs a password.", "Save it without one."
            raise CorpusError(what, hint) from error
        if is_whole:
            raise CorpusError(f"It is a damaged PDF ({error}).", "Save it anew.") from error
    raise CorpusError("It is cut short: its end is missing.", "Fetch it again.")


def _sheet(pdf: Any, number: int) -> Sheet:
    import pypdfium2

    try:
        page = pdf[number]
        with closing(page), closing(page.get_textpage()) as content:
            return read_sheet(page, content, number)
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number + 1} is damaged ({error}).", "Save it anew.") from error


def _without_text(pages: list[int], name: str) -> str:
    if len(pages) == 1:
        return f"Page {pages[0]} of {name} holds no text (an image?)."
    runs = [
        [page for _, page in run] for _, run in groupby(enumerate(pages), lambda p: p[1] - p[0])
    ]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:20]]
    rest = f" and {len(runs) - 20} more places" if len(runs) > 20 else ""
    return f"Pages {', '.join(shown)}{rest} of {name} hold no text (images?)."


def _words_of(pages: Sequence[Sequence[Segment]]) -> frozenset[str]:
    """Return the lower-case words of the pages, if a line of theirs ends in a hyphen."""
    texts = [segment.text for page in pages for segment in page]
    if not any(text[-1] in _BREAKS for text in texts):
        return frozenset()
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


class _Text:
    """A document's text, written paragraph by paragraph.

    ``words``, the document's own in lower case, settle hyphens at the ends of lines.
    """

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._length = 0
        self._pages: dict[int, int] = {}
        self.parts: list[str] = []
        self.headings: list[tuple[int, int]] = []
        self.runs: list[CharacterRun] = []

    def add(self, paragraph: Paragraph) -> None:
        """Write a paragraph as one line."""
        if paragraph.level:
            self.headings.append((self._length, paragraph.level))
        # a bar at both ends keeps empty cells there from being taken for none
        barred = paragraph.row and not (paragraph.cells[0] and paragraph.cells[-1])
        self._write("| " if barred else "")
        for number, cell in enumerate(paragraph.cells):
            self._write(" | " if number else "")
            self._add_lines(cell)
        self._write(" |\n" if barred else "\n")

    def pages(self, count: int) -> tuple[int, ...]:
        """Return where each page begins; a page without text where the next one does."""
        starts, following = [], self._length
        for page in reversed(range(count)):
            following = min(self._pages.get(page, following), following)
            starts.append(following)
        return (0, *starts[-2::-1]) if starts else ()

    def _add_lines(self, lines: Sequence[Segment]) -> None:
        """Write lines as one text, and record where each stands."""
        glue = ""
        for number, segment in enumerate(lines):
            self._write(glue)
            text, glue = segment.text, " "
            if text[-1] in _BREAKS and text[-2:-1].isalnum() and number + 1 < len(lines):
                left, right = (
                    _LAST_WORD.search(text[:-1]),
                    _FIRST_WORD.match(lines[number + 1].text),
                )
                assert left is not None
                assert right is not None
                kept = keeps_hyphen(left[0], right[0], self._words)
                text, glue = text[:-1] + ("-" if kept else ""), ""
            self._pages.setdefault(segment.page, self._length)
            if text:
                edges = segment.edges[: len(text) + 1]
                run = CharacterRun(
                    self._length, segment.page + 1, segment.bottom, segment.top, edges
                )
                self.runs.append(run)
                self._write(text.replace(HYPHEN, "-"))

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)


def keeps_hyphen(left: str, right: str, words: frozenset[str]) -> bool:
    """Return whether a word that a line end broke is written with a hyphen.

    The document's other words decide: it goes if they hold the word without it, and stays if they
    only hold the word with it. If they hold neither, it goes in front of a small letter.
    """
    if f"{left}{right}".lower() in words:
        return False
    return f"{left}-{right}".lower() in words or not right[:1].islower()
