""".pdf: its paragraphs, headings, tables and pictures of its pages, each character in its place."""

import math
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import CorpusError
from lexloop.core.packages import package_missing
from lexloop.documents.document import CharacterRun, Document, SkippedSource, encode_runs
from lexloop.documents.reading.formats import recogniser
from lexloop.documents.reading.pdf_layout import (
    Page,
    PdfLine,
    Setting,
    TableRow,
    lines_of,
    setting_of,
    without_furniture,
)
from lexloop.documents.reading.pdf_page import (
    HYPHEN,
    Mirror,
    Segment,
    Sheet,
    Turn,
    is_blind,
    opening_mark,
    read_sheet,
)
from lexloop.documents.reading.source import Limits, PageRead
from lexloop.documents.reading.text import printable
from lexloop.documents.reading.title import chosen_title, largest_title
from lexloop.documents.structure.lines import caption
from lexloop.documents.structure.markers import list_markers, word_marker
from lexloop.documents.structure.tree import Hung
from lexloop.documents.text.abbreviations import LISTED
from lexloop.documents.text.tokens import UNBROKEN

if TYPE_CHECKING:
    from PIL.Image import Image

Picture = tuple["Image", tuple[float, float]]
"""The picture of a page, and the width and height of the page in points."""
_END = b"%%EOF"
_TAIL = 4096
_ENCRYPTED = 4
"""PDFium's code for a missing password."""
_PACKAGE = "formats"
"""The package that recognises text in pictures."""
_SCAN_DPI, _POINTS, _AS_MUCH = 250, 72, 0.8
_WORD = re.compile(r"\w+(?:-\w+)*")
_LAST_WORD, _FIRST_WORD = re.compile(r"(?<!\w)\w*$"), re.compile(r"\w*")
_BREAKS = (HYPHEN, "-", "\u2010")
_ENDS = (".", ":", ";", "!", "?")
_JOINTS = ("and", "or", "and/or", "or both")
_PAUSED = (",", "—", "–", *(f"{sign} {word}" for sign in ",;" for word in _JOINTS))
_NOTE_SIGNS = ("*", "†", "‡", "§", "[", "(")
_SAME_SIZE = 0.92
_NARROWEST = 14.0
"""In a narrower column, in multiples of the font size, line ends tell nothing."""
_BLANK = 0.25
_SLACK = 0.6
_FLUSH, _LONG = 0.6, 0.6
"""In points: line ends closer than the first are aligned. A line is long if it fills the second
share of the column.
"""
_SPACED, _CLEARLY_SPACED, _FURTHEST = 1.13, 1.3, 2.2
"""Steps between lines, as multiples of that within a paragraph."""
_USUAL_STEP = 1.2
_MOST_LEVELS = 6
_MOST_PIXELS = 16_000_000
_LONGEST_EDGE = 16_383
"""The longest edge that WebP allows."""


@dataclass(slots=True)
class _Paragraph:
    """A paragraph, heading or table row, which becomes one line of the document's text.

    Args:
        cells: Lines of each cell of a row; otherwise all lines as one cell.
        font: Size and weight of a heading; None for other text.
        row: Whether it is a table row.
        level: Level of a heading, from 1; 0 for other text.
        mark: Mark of a footnote; "" for other text.
    """

    cells: list[list[Segment]]
    font: tuple[float, bool] | None = None
    row: bool = False
    level: int = 0
    mark: str = ""


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource | PageRead]:
    """Yield the document, and the pages that show something but contain no text.

    Raises:
        CorpusError: The file is encrypted, damaged or truncated, or no page contains text.
    """
    with closing(open_pdf(data)) as pdf:
        read_pages = [_sheet(pdf, number) for number in range(len(pdf))]
        title = printable(pdf.get_metadata_dict().get("Title", "")).strip()
        sheets = {number: sheet for number, (sheet, _) in enumerate(read_pages)}
        scans = [number for number, (_, is_blind) in enumerate(read_pages) if is_blind]
        advice, package = (yield from _recognised(pdf, scans, sheets, name)) if scans else ("", "")
    yield from written([*sheets.values()], name, title, advice, package)


def written(
    sheets: Sequence[Sheet], name: str, title: str, advice: str, package: str = ""
) -> Iterator[Document | SkippedSource]:
    """Yield the document made of pages, and the pages that show something but contain no text.

    Args:
        sheets: The pages.
        name: The name of the file.
        title: Title in the file's metadata.
        advice: How to read pages that contain no text; "" if there is no way.
        package: Short name of the missing package that could read them; "" if none is missing.

    Raises:
        CorpusError: No page contains text.
    """
    pages = without_furniture(sheets)
    hint = f" {advice}" if advice else ""
    if not any(pages):
        message = f"None of its {len(sheets)} pages holds text (images?)."
        raise CorpusError(
            f"{message}{hint}", "Scan it again, or recognise its text (OCR) first.", package
        )
    images = [n for n, sheet in enumerate(sheets, 1) if sheet.shows and not pages[n - 1]]
    if images:
        yield SkippedSource(name, f"{_without_text(images, name)}{hint}", package=package)
    if aside := [n for n, sheet in enumerate(sheets, 1) if sheet.aside]:
        message = f"Text that is sideways or askew was left out on {_listed(aside)}."
        yield SkippedSource(name, message)
    text = _Text(_words_of(pages), [sheet.turn for sheet in sheets])
    lines = list(lines_of(pages, [sheet.rules for sheet in sheets]))
    for paragraph in _paragraphs(lines, setting_of(lines)):
        text.add(paragraph)
    full_text = "".join(text.parts)
    begun, headings = text.pages(len(sheets)), tuple(text.headings)
    text_title = largest_title(full_text, headings)
    title = chosen_title(title, text_title, full_text, PurePosixPath(name).stem)
    places = encode_runs(text.runs)
    yield Document(
        name, title, full_text, pages=begun, headings=headings, notes=text.notes(), places=places
    )


def open_pdf(data: bytes) -> Any:
    """Return PDFium's document; the caller closes it.

    Raises:
        CorpusError: The file is encrypted, damaged or truncated.
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
            message, hint = "It is encrypted and needs a password.", "Save it without one."
            raise CorpusError(message, hint) from error
        if is_whole:
            raise CorpusError(f"It is a damaged PDF ({error}).", "Save it again.") from error
    raise CorpusError("It is cut short: its end is missing.", "Fetch it again.")


def draw_page(pdf: Any, number: int, scale: float) -> Picture:
    """Return the picture of a page, from 1, reduced if it would be too large, and its size.

    Args:
        pdf: Document from ``open_pdf``.
        number: Page number.
        scale: Pixels a point.

    Raises:
        CorpusError: The page does not exist, or cannot be drawn.
    """
    width, height = size = page_size(pdf, number)
    most = min(
        math.sqrt(_MOST_PIXELS / (width * height)), _LONGEST_EDGE / max(width, height) * 0.99
    )
    try:
        with closing(_page(pdf, number)) as page:
            return page.render(scale=min(scale, most)).to_pil(), size
    except (RuntimeError, ValueError, OSError) as error:
        raise CorpusError(f"Page {number} cannot be drawn ({error}).", "Save it again.") from error


def _opens_note(text: str) -> bool:
    return text.startswith(_NOTE_SIGNS) or text[:1].isdecimal()


def _sheet(pdf: Any, number: int) -> tuple[Sheet, bool]:
    """Return the text of a page, and whether the page shows more than its text."""
    import pypdfium2

    try:
        page = pdf[number]
        with closing(page), closing(page.get_textpage()) as content:
            sheet = read_sheet(page, content, number)
            return sheet, is_blind(page, content, sheet)
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number + 1} is damaged ({error}).", "Save it again.") from error


def _recognised(
    pdf: Any, scans: Sequence[int], sheets: dict[int, Sheet], name: str
) -> Generator[SkippedSource | PageRead, None, tuple[str, str]]:
    """Add the recognised text of pages to ``sheets``, and return advice and a missing package."""
    scan = recogniser()
    if scan is None:
        return str(package_missing("Reading pictures", _PACKAGE)), _PACKAGE
    scanned: dict[int, Sheet] = {}
    yield from scan.read_scans(scans, lambda n: _picture(pdf, n), name, scanned)
    sheets |= {n: sheet for n, sheet in scanned.items() if _has_more_text(sheet, sheets[n])}
    scan.even([*sheets.values()])
    return str(scan.advice(len(sheets))), ""


def _picture(pdf: Any, number: int) -> Picture:
    """Return the picture of a page, as fine as a good scan, and the size of the page."""
    drawn, size = draw_page(pdf, number + 1, _SCAN_DPI / _POINTS)
    return drawn.convert("L"), size


def _has_more_text(scan: Sheet, page: Sheet) -> bool:
    """Return whether a scan is read instead of the little, or the garbled, text of its page."""
    chars, chars_before = (sum(len(s.text) for s in sheet.segments) for sheet in (scan, page))
    return chars > _AS_MUCH * chars_before


def _without_text(pages: list[int], name: str) -> str:
    if len(pages) == 1:
        return f"Page {pages[0]} of {name} contains no text (an image?)."
    return f"Pages {_runs(pages)} of {name} contain no text (images?)."


def _listed(pages: list[int]) -> str:
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {_runs(pages)}"


def _runs(pages: list[int]) -> str:
    runs = [
        [page for _, page in run] for _, run in groupby(enumerate(pages), lambda p: p[1] - p[0])
    ]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:20]]
    rest = f" and {len(runs) - 20} more places" if len(runs) > 20 else ""
    return f"{', '.join(shown)}{rest}"


def _words_of(pages: Sequence[Sequence[Segment]]) -> frozenset[str]:
    """Return the lower-case words of the pages, if a line of theirs ends in a hyphen."""
    texts = [segment.text for page in pages for segment in page]
    if not any(text[-1] in _BREAKS for text in texts):
        return frozenset()
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


class _Text:
    """A document's text, written paragraph by paragraph.

    ``words``, the document's words in lower case, decide about hyphens at line ends; ``turns`` says
    how each page was turned before it was read.
    """

    def __init__(self, words: frozenset[str], turns: Sequence[Turn | Mirror | None]) -> None:
        self._words, self._turns = words, turns
        self._length = 0
        self._pages: dict[int, int] = {}
        self.parts: list[str] = []
        self.headings: list[tuple[int, int]] = []
        self.runs: list[CharacterRun] = []
        self._marks: dict[tuple[int, str], int] = {}  # where the marks of each page were
        self._notes: dict[tuple[int, str], tuple[int, int]] = {}

    def add(self, paragraph: _Paragraph) -> None:
        """Write a paragraph as one line."""
        if paragraph.level:
            self.headings.append((self._length, paragraph.level))
        # bars at both ends keep empty cells at the ends of a row
        barred = paragraph.row and not (paragraph.cells[0] and paragraph.cells[-1])
        self._write("| " if barred else f"[{paragraph.mark}] " if paragraph.mark else "")
        start = self._length
        for number, cell in enumerate(paragraph.cells):
            self._write(" | " if number else "")
            self._add_lines(cell)
        if paragraph.mark:
            self._notes[paragraph.cells[0][0].page, paragraph.mark] = start, self._length
        self._write(" |\n" if barred else "\n")

    def notes(self) -> tuple[Hung, ...]:
        """Return the offset of each footnote's mark, and the span of its text."""
        return tuple((self._marks[key], *span) for key, span in self._notes.items())

    def pages(self, count: int) -> tuple[int, ...]:
        """Return the offset of each page; a page without text begins where the next one does."""
        starts, following = [], self._length
        for page in reversed(range(count)):
            following = min(self._pages.get(page, following), following)
            starts.append(following)
        return (0, *starts[-2::-1]) if starts else ()

    def _add_lines(self, lines: Sequence[Segment]) -> None:
        """Write lines as one text, and record their places."""
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
            for at, mark in segment.notes:
                self._marks.setdefault((segment.page, mark), self._length + at)
            if text:
                self.runs += self._placed(segment, text)
                self._write(text.replace(HYPHEN, "-"))

    def _placed(self, segment: Segment, text: str) -> Iterator[CharacterRun]:
        """Yield the places of a segment's text, word by word on pages whose lines are not level."""
        start, page, bottom, top = self._length, segment.page, segment.bottom, segment.top
        turn = self._turns[page]
        if turn is None:
            edges = segment.edges[: len(text) + 1]
            yield CharacterRun(start, page + 1, bottom, top, edges, segment.sure)
            return
        for word in UNBROKEN.finditer(text):
            begin, end = word.span()
            left, right = segment.edges[begin], segment.edges[end]
            x0, y0, x1, y1 = turn.box(left, bottom, right, top)
            step = (x1 - x0) / (end - begin)
            steps = [x0 + n * step for n in range(end - begin + 1)]
            yield CharacterRun(start + begin, page + 1, y0, y1, steps, segment.sure)

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)


def keeps_hyphen(left: str, right: str, words: frozenset[str]) -> bool:
    """Return whether a word that a line end broke is written with a hyphen.

    The other words of the document decide. The hyphen goes if the joined word occurs, and stays if
    only the hyphenated word occurs. If neither occurs, it goes before a lower-case letter.
    """
    if f"{left}{right}".lower() in words:
        return False
    return f"{left}-{right}".lower() in words or not right[:1].islower()


class _Flow:
    """Builder of paragraphs from consecutive lines."""

    def __init__(self, setting: Setting) -> None:
        self.done: list[_Paragraph] = []
        self.notes: list[_Paragraph] = []
        self._setting = setting
        self._lines: list[PdfLine] = []
        self._heads: list[str] = []

    def add_row(self, row: TableRow) -> None:
        """Add a row, except a table's heads that are repeated on the next page."""
        texts = [" ".join(segment.text for segment in cell) for cell in row.cells]
        goes_on = row.opens and bool(self.done) and self.done[-1].row and not self.notes
        if goes_on and texts == self._heads:
            return
        if row.opens and not goes_on:
            self._heads = texts
            self._split_caption()
        self.settle_notes()
        self._lines = []
        self.done.append(_Paragraph(row.cells, row=True))

    def _split_caption(self) -> None:
        """Split the caption of a table from the end of the paragraph above it."""
        lines = [] if not self.done or self.done[-1].row else self.done[-1].cells[0]
        for place in range(1, len(lines)):
            if caption(lines[place].text) and _ends_sentence(lines[place - 1].text):
                self.done.append(_Paragraph([lines[place:]]))
                del lines[place:]
                return

    def add(self, line: PdfLine) -> None:
        """Add a line to the open paragraph, or start a new one."""
        segment = line.segment
        if self._lines and _continues(self._lines, line, self._setting):
            # notes of the page come before text that continues on the next
            self.done[-1:-1] = self.notes
            self.notes = []
            self.done[-1].cells[0].append(segment)
            self._lines.append(line)
            return
        self.settle_notes()
        font = (segment.size, segment.bold) if self._setting.heads(segment) else None
        self.done.append(_Paragraph([[segment]], font))
        self._lines = [line]

    def settle_notes(self) -> None:
        """Put the notes of the finished page after its last paragraph."""
        self.done += self.notes
        self.notes = []


def _paragraphs(pages: Iterable[Page], setting: Setting) -> list[_Paragraph]:
    """Return the paragraphs of a document; one may continue over columns and pages."""
    flow = _Flow(setting)
    for marked in pages:
        notes = _notes(marked, setting)
        page, marks = _without_marks(marked, notes)
        inner = _Flow(setting)
        for place, item in enumerate(page):
            if isinstance(item, TableRow):
                flow.add_row(item)
            else:
                (inner if place in notes else flow).add(item)
        for paragraph in inner.done:
            paragraph.font = None
            _take_mark(paragraph, marks)
        flow.notes += inner.done
    flow.settle_notes()
    for paragraph in flow.done:
        if paragraph.font and _is_bold_sentence(paragraph.cells[0], setting):
            paragraph.font = None
    fonts = sorted({p.font for p in flow.done if p.font}, key=lambda font: (-font[0], not font[1]))
    levels = {font: min(rank, _MOST_LEVELS) for rank, font in enumerate(fonts, 1)}
    for paragraph in flow.done:
        paragraph.level = levels[paragraph.font] if paragraph.font else 0
    return flow.done


def _is_bold_sentence(lines: Sequence[Segment], setting: Setting) -> bool:
    """Return whether bold text is a sentence of several lines, not a heading."""
    usual = lines[0].size <= setting.size and not _is_marked(lines[0].text)
    return usual and len(lines) > 1 and lines[-1].text[-1] == "."


def _notes(page: Page, setting: Setting) -> set[int]:
    """Return the places of footnotes: small lines at the foot of a column, below its text."""
    places: set[int] = set()
    foot: list[int] = []
    column, small, body = None, False, False
    for place, item in reversed(list(enumerate(page))):
        if isinstance(item, TableRow):
            small = False
            continue
        if item.column is not column:
            column, small, foot = item.column, True, []
        is_small = setting.is_small(item.segment)
        small, body = small and is_small, body or not is_small
        if small:
            foot.append(place)
            if _opens_note(item.segment.text):
                places.update(foot)
                foot = []
    return places if body else set()


def _without_marks(page: Page, notes: Collection[int]) -> tuple[Page, set[str]]:
    """Return a page's lines without the marks of its footnotes, and the marks."""
    lines = [page[place] for place in notes]
    marks = {opening_mark(note.segment.text)[0] for note in lines if isinstance(note, PdfLine)}
    if not marks:
        return page, marks
    hung = set[str]()

    def taken(segment: Segment) -> Segment:
        without = segment.without_marks(marks - hung)
        hung.update(mark for _, mark in without.notes)
        return without

    cleaned: Page = []
    for place, item in enumerate(page):
        if isinstance(item, TableRow):
            cleaned.append(replace(item, cells=[[*map(taken, cell)] for cell in item.cells]))
        else:
            noted = item if place in notes else replace(item, segment=taken(item.segment))
            cleaned.append(noted)
    return cleaned, hung


def _take_mark(note: _Paragraph, marks: set[str]) -> None:
    """Move the mark of a footnote from its text to ``note.mark``, if its page has the mark."""
    first = note.cells[0][0]
    mark, end = opening_mark(first.text)
    if mark not in marks or end == len(first.text):
        return
    marks.remove(mark)
    note.mark = mark
    note.cells[0][0] = replace(first, text=first.text[end:], edges=first.edges[end:])


def _continues(lines: Sequence[PdfLine], line: PdfLine, setting: Setting) -> bool:
    """Return whether a line continues the paragraph of the lines before it.

    If the margin broke a line within a sentence, the next line continues it however it begins.
    """
    last, following = lines[-1].segment, line.segment
    text = last.text
    spacing = 1.0  # in steps within a paragraph, and in a new column
    if lines[-1].column is line.column:
        step = setting.steps.get(last.size) or _USUAL_STEP * last.size
        spacing = (last.bottom - following.bottom) / step
    sizes = sorted((last.size, following.size))
    if sizes[0] < _SAME_SIZE * sizes[1] or not 0 <= spacing <= _FURTHEST:
        return False
    forced = _is_forced(lines[-1], following) or _is_flush(lines, line)
    if text[-1] in (HYPHEN, "-") and text[-2:-1].isalnum():
        return text[-1] == HYPHEN or forced
    small = following.text[0].islower()
    heads = setting.heads(last), setting.heads(following)
    if any(heads):
        alike = all(heads) and last.bold == following.bold
        # a heading may be a list of topics: "Warranties; Limitation of liability; ..."
        ended = _ends_sentence(text) and text[-1] != ";"
        split = not ended and spacing <= _CLEARLY_SPACED and (forced or small)
        return split and (small or (alike and not _is_marked(following.text)))
    if forced:
        return _sentence_continues(lines, line, spacing)
    paused = _ends_sentence(text) or text[-1] in ",—–"
    return small and not (paused or _is_marked(following.text) or spacing > _SPACED)


def _sentence_continues(lines: Sequence[PdfLine], line: PdfLine, spacing: float) -> bool:
    """Return whether a paragraph continues after a line that the margin broke."""
    text, following = lines[-1].segment.text, line.segment.text
    marked = _is_marked(following)
    turned = _changes_indent(lines, line, marked)
    if _ends_sentence(text):
        # after a full line, "Article 16" is more often a reference than a heading without space
        return not (list_markers(following) or turned or spacing > _SPACED)
    opens = marked or not following[0].islower()
    if text.endswith(_PAUSED):
        apart = turned or spacing > _SPACED or _has_next_number(lines[0].segment.text, following)
        return not (opens and apart)
    return not (spacing > _CLEARLY_SPACED and (opens or turned))


def _ends_sentence(text: str) -> bool:
    """Return whether a sentence or a lead-in ends with a line."""
    last = text.rpartition(" ")[2].lstrip('(["“')
    initial = len(last) == 2 and last[0].isupper()
    shortened = last.endswith(".") and (initial or last[:-1].lower() in LISTED)
    return text.rstrip('"”’)]').endswith(_ENDS) and not shortened


def _is_marked(text: str) -> bool:
    """Return whether a line begins as an item or a provision does."""
    return bool(list_markers(text)) or word_marker(text) is not None


def _has_next_number(item: str, text: str) -> bool:
    """Return whether a line has the number that follows an item's."""
    after = {(marker.style, marker.value + 1) for marker in list_markers(item)}
    return not after.isdisjoint((marker.style, marker.value) for marker in list_markers(text))


def _is_forced(line: PdfLine, following: Segment) -> bool:
    """Return whether the margin broke a line: the next word would not have fitted on it."""
    segment, room = line.segment, line.room
    if line.column.right - line.column.left < _NARROWEST * segment.size:
        return False
    if abs(line.indent - room) < segment.size:  # a centred line
        room += line.indent
    word = following.text.find(" ")
    width = following.edges[word if word > 0 else -1] - following.left
    return width + _BLANK * segment.size > room - 1.0


def _is_flush(lines: Sequence[PdfLine], line: PdfLine) -> bool:
    """Return whether a line ends at the same margin as its neighbours."""
    last, column = lines[-1].segment, lines[-1].column
    beside = [line.segment.right, *(upper.segment.right for upper in lines[-2:-1])]
    width = last.right - last.left
    long = width >= _LONG * (column.right - column.left) and width >= _NARROWEST * last.size
    return long and any(abs(last.right - edge) <= _FLUSH for edge in beside)


def _changes_indent(lines: Sequence[PdfLine], line: PdfLine, marked: bool) -> bool:
    """Return whether a line is not indented as the paragraph's next line would be."""
    last = lines[-1]
    slack = _SLACK * last.segment.size
    if len(lines) > 1:
        return abs(line.indent - last.indent) > slack
    hang = _hang(last)
    if hang is None:
        return line.indent > slack and line.indent >= last.indent - slack
    return marked and abs(line.indent - hang) > slack and line.indent >= last.indent - slack


def _hang(line: PdfLine) -> float | None:
    """Return the indent of the text after an item's number; None if the line has no number."""
    segment, left = line.segment, line.column.left
    if segment.hang > segment.left:
        return segment.hang - left
    markers = list_markers(segment.text)
    if not markers:
        return None
    behind = segment.text[markers[0].end :]
    return segment.edges[len(segment.text) - len(behind.lstrip())] - left


def _page(pdf: Any, number: int) -> Any:
    import pypdfium2

    if not 1 <= number <= len(pdf):
        raise CorpusError(f"It has {len(pdf)} pages, and no page {number}.", "Name another.")
    try:
        return pdf[number - 1]
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number} is damaged ({error}).", "Save it again.") from error


def page_size(pdf: Any, number: int) -> tuple[float, float]:
    """Return the width and height of a page, from 1, as it shows: cropped and turned.

    Raises:
        CorpusError: The page does not exist, or has no valid size.
    """
    with closing(_page(pdf, number)) as page:
        width, height = page.get_size()
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise CorpusError(f"The page is {width} by {height} points.", "Save it again.")
    return width, height
