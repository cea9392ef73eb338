"""Paragraphs, headings and table rows, made of the lines of a PDF."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexloop.documents.reading.pdf_lines import Page, PdfLine, Setting, TableRow
from lexloop.documents.reading.pdf_page import HYPHEN, Segment
from lexloop.documents.structure.markers import list_markers, word_marker

_ENDED = re.compile(r"[.:;!?][\"”’)\]]*$")
_ABBREVIATED = re.compile(
    r"(?:\b(?:No|Nos|Art|Arts|art|arts|Sec|sec|para|paras|Para|pp?|cf|vs?|vol|ch|reg|cl|Sch|"
    r"ss?|Stat|Reg|Dr|Mr|Mrs|Ms|St|Co|Inc|Ltd|al|ca|approx)|\b[A-Z]|[eE]\.g|i\.e)\.$"
)
_PAUSED = re.compile(r"(?:[,—–]|[,;] (?:and|or|and/or|or both))$")
_NOTE = re.compile(r"[\d*†‡§\[(]")
_SAME_SIZE = 0.92
_NARROWEST = 14.0
"""A column narrower than so many sizes of its font tells nothing about why its lines end."""
_BLANK = 0.25
_SLACK = 0.6
_FLUSH, _LONG = 0.6, 0.6
"""Lines that end within so many points of each other, and fill so much of the column."""
_SPACED, _CLEARLY_SPACED, _FURTHEST = 1.13, 1.3, 2.2
"""Steps between lines, as multiples of that within a paragraph."""
_USUAL_STEP = 1.2
_MOST_LEVELS = 6


@dataclass(slots=True)
class Paragraph:
    """A paragraph, heading or row, which becomes one line of the document's text.

    Args:
        cells: The lines of each cell of a row; all its lines as one where it is no row.
        font: The size and weight of a heading; None for other text.
        row: Whether it is a row of a table.
        level: Of a heading, from 1; 0 for other text.
    """

    cells: list[list[Segment]]
    font: tuple[float, bool] | None = None
    row: bool = False
    level: int = 0


class _Flow:
    """Paragraphs, made of lines one after the other."""

    def __init__(self, setting: Setting) -> None:
        self.done: list[Paragraph] = []
        self.notes: list[Paragraph] = []
        self._setting = setting
        self._lines: list[PdfLine] = []
        self._heads: list[str] = []

    def add_row(self, row: TableRow) -> None:
        """Add a row; the heads that a table repeats on another page are left out."""
        texts = [" ".join(segment.text for segment in cell) for cell in row.cells]
        goes_on = row.opens and bool(self.done) and self.done[-1].row and not self.notes
        if goes_on and texts == self._heads:
            return
        if row.opens and not goes_on:
            self._heads = texts
        self.settle_notes()
        self._lines = []
        self.done.append(Paragraph(row.cells, row=True))

    def add(self, line: PdfLine) -> None:
        """Add a line to the open paragraph, or open another with it."""
        segment = line.segment
        if self._lines and _goes_on(self._lines, line, self._setting):
            # a page's notes stand in front of what goes on behind them
            self.done[-1:-1] = self.notes
            self.notes = []
            self.done[-1].cells[0].append(segment)
            self._lines.append(line)
            return
        self.settle_notes()
        font = (segment.size, segment.bold) if self._setting.heads(segment) else None
        self.done.append(Paragraph([[segment]], font))
        self._lines = [line]

    def settle_notes(self) -> None:
        """Put the notes of the page that has ended behind its last paragraph."""
        self.done += self.notes
        self.notes = []


def paragraphs_of(pages: Iterable[Page], setting: Setting) -> list[Paragraph]:
    """Return the paragraphs of a document's lines; one may go on over columns and pages."""
    flow = _Flow(setting)
    for page in pages:
        notes = _notes(page, setting)
        inner = _Flow(setting)
        for place, item in enumerate(page):
            if isinstance(item, TableRow):
                flow.add_row(item)
            else:
                (inner if place in notes else flow).add(item)
        for paragraph in inner.done:
            paragraph.font = None
        flow.notes += inner.done
    flow.settle_notes()
    fonts = sorted({p.font for p in flow.done if p.font}, key=lambda font: (-font[0], not font[1]))
    levels = {font: min(rank, _MOST_LEVELS) for rank, font in enumerate(fonts, 1)}
    for paragraph in flow.done:
        paragraph.level = levels[paragraph.font] if paragraph.font else 0
    return flow.done


def _notes(page: Page, setting: Setting) -> set[int]:
    """Return the places of footnotes: small lines at the foot of a column, below its text."""
    found: set[int] = set()
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
            if _NOTE.match(item.segment.text):
                found.update(foot)
                foot = []
    return found if body else set()


def _goes_on(lines: Sequence[PdfLine], line: PdfLine, setting: Setting) -> bool:
    """Return whether a line continues the paragraph that the lines so far are.

    A line that the margin broke in the middle of a sentence goes on whatever the next begins with.
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
        split = not _ends(text) and spacing <= _CLEARLY_SPACED and (forced or small)
        return split and (small or (alike and not _is_marked(following.text)))
    if forced:
        return _sentence_goes_on(lines, line, spacing)
    paused = _ends(text) or text[-1] in ",—–"
    return small and not (paused or _is_marked(following.text) or spacing > _SPACED)


def _sentence_goes_on(lines: Sequence[PdfLine], line: PdfLine, spacing: float) -> bool:
    """Return whether a paragraph goes on behind a line that the margin broke."""
    text, following = lines[-1].segment.text, line.segment.text
    marked = _is_marked(following)
    turned = _turned(lines, line, marked)
    if _ends(text):
        # behind a full line "Article 16" is more often a reference than a heading without space
        return not (list_markers(following) or turned or spacing > _SPACED)
    opens = marked or not following[0].islower()
    if _PAUSED.search(text):
        apart = turned or spacing > _SPACED or _counts_on(lines[0].segment.text, following)
        return not (opens and apart)
    return not (spacing > _CLEARLY_SPACED and (opens or turned))


def _ends(text: str) -> bool:
    """Return whether a sentence or a lead-in ends with a line."""
    return _ENDED.search(text) is not None and _ABBREVIATED.search(text) is None


def _is_marked(text: str) -> bool:
    """Return whether a line begins as an item or a provision does."""
    return bool(list_markers(text)) or word_marker(text) is not None


def _counts_on(item: str, text: str) -> bool:
    """Return whether a line has the number that follows an item's."""
    after = {(marker.style, marker.value + 1) for marker in list_markers(item)}
    return not after.isdisjoint((marker.style, marker.value) for marker in list_markers(text))


def _is_forced(line: PdfLine, following: Segment) -> bool:
    """Return whether the margin broke a line: the next word would not have fitted on it."""
    segment, room = line.segment, line.room
    if line.column.right - line.column.left < _NARROWEST * segment.size:
        return False
    if abs(line.indent - room) < segment.size:  # it is centred
        room += line.indent
    word = following.text.find(" ")
    width = following.edges[word if word > 0 else -1] - following.left
    return width + _BLANK * segment.size > room - 1.0


def _is_flush(lines: Sequence[PdfLine], line: PdfLine) -> bool:
    """Return whether a line ends where its neighbours do, at a margin of their own."""
    last, column = lines[-1].segment, lines[-1].column
    beside = [line.segment.right, *(upper.segment.right for upper in lines[-2:-1])]
    width = last.right - last.left
    long = width >= _LONG * (column.right - column.left) and width >= _NARROWEST * last.size
    return long and any(abs(last.right - edge) <= _FLUSH for edge in beside)


def _turned(lines: Sequence[PdfLine], line: PdfLine, marked: bool) -> bool:
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
    """Return the indent of the words behind an item's number; None where a line has no number."""
    segment, left = line.segment, line.column.left
    if segment.hang > segment.left:
        return segment.hang - left
    markers = list_markers(segment.text)
    if not markers:
        return None
    behind = segment.text[markers[0].end :]
    return segment.edges[len(segment.text) - len(behind.lstrip())] - left
