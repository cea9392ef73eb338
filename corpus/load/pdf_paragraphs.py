"""Lines of a PDF -> paragraphs, headings and rows of tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lexloop.corpus.load.hyphens import HYPHEN
from lexloop.corpus.load.pdf_lines import Line, Row, Setting
from lexloop.corpus.load.pdf_segment import Segment
from lexloop.corpus.structure.markers import list_markers, word_marker

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
_MOST_LEVELS = 6


@dataclass(slots=True)
class Paragraph:
    """What becomes one line of the document's text.

    Args:
        cells: The lines of each cell of a row; all its lines as one where it is no row.
        look: The size and weight of a heading; None for other text.
        row: Whether it is a row of a table.
        level: Of a heading, from 1; 0 for other text.
    """

    cells: list[list[Segment]]
    look: tuple[float, bool] | None = None
    row: bool = False
    level: int = 0


@dataclass
class _Flow:
    """Paragraphs in the making.

    Args:
        setting: How the text is set.
    """

    setting: Setting
    done: list[Paragraph] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    notes: list[Paragraph] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    def add_row(self, row: Row) -> None:
        """Add a row; the heads that a table repeats on another page are left out."""
        texts = [" ".join(segment.text for segment in cell) for cell in row.cells]
        goes_on = row.opens and bool(self.done) and self.done[-1].row and not self.notes
        if goes_on and texts == self.heads:
            return
        if row.opens and not goes_on:
            self.heads = texts
        self.settle_notes()
        self.lines = []
        self.done.append(Paragraph(row.cells, row=True))

    def add(self, line: Line) -> None:
        """Add a line to the open paragraph, or open another with it."""
        if self.lines and goes_on(self.lines, line, self.setting):
            # a page's notes stand in front of what goes on behind them
            self.done[-1:-1] = self.notes
            self.notes = []
            self.done[-1].cells[0].append(line.segment)
            self.lines.append(line)
            return
        self.settle_notes()
        heads = self.setting.heads(line.segment)
        look = (line.segment.size, line.segment.bold) if heads else None
        self.done.append(Paragraph([[line.segment]], look))
        self.lines = [line]

    def settle_notes(self) -> None:
        """Put the notes of the page that has ended behind its last paragraph."""
        self.done += self.notes
        self.notes = []


def paragraphs_of(pages: Iterable[Sequence[Line | Row]], setting: Setting) -> list[Paragraph]:
    """The paragraphs of a document; one may go on over columns and pages.

    Args:
        pages: The lines and rows of each page, as they are read.
        setting: How the text is set.
    """
    flow = _Flow(setting)
    for page in pages:
        notes = _notes(page, setting)
        inner = _Flow(setting)
        for place, item in enumerate(page):
            if isinstance(item, Row):
                flow.add_row(item)
            elif place in notes:
                inner.add(item)
            else:
                flow.add(item)
        for paragraph in inner.done:
            paragraph.look = None
        flow.notes += inner.done
    flow.settle_notes()
    looks = sorted({p.look for p in flow.done if p.look}, key=lambda look: (-look[0], not look[1]))
    levels = {look: min(rank, _MOST_LEVELS) for rank, look in enumerate(looks, 1)}
    for paragraph in flow.done:
        paragraph.level = levels[paragraph.look] if paragraph.look else 0
    return flow.done


def _notes(page: Sequence[Line | Row], setting: Setting) -> set[int]:
    """The places of footnotes: small lines at the foot of a column, below its text."""
    found: set[int] = set()
    foot: list[int] = []
    column, small = -1, False
    for place in reversed(range(len(page))):
        item = page[place]
        if isinstance(item, Row):
            small = False
            continue
        if item.column != column:
            column, small, foot = item.column, True, []
        small = small and setting.is_small(item.segment)
        if small:
            foot.append(place)
            if _NOTE.match(item.segment.text):
                found.update(foot)
                foot = []
    body = any(isinstance(item, Line) and not setting.is_small(item.segment) for item in page)
    return found if body else set()


def goes_on(lines: Sequence[Line], line: Line, setting: Setting) -> bool:
    """Whether a line continues a paragraph.

    A line that the margin broke in the middle of a sentence goes on whatever the next begins with.

    Args:
        lines: The paragraph's so far.
        line: What comes next.
        setting: How the text is set.
    """
    last, following = lines[-1].segment, line.segment
    text = last.text
    spacing = _spacing(lines[-1], line, setting)
    sizes = sorted((last.size, following.size))
    if sizes[0] < _SAME_SIZE * sizes[1] or not 0 <= spacing <= _FURTHEST:
        return False
    forced = is_forced(lines[-1], following) or _is_flush(lines, line)
    if text[-1] in (HYPHEN, "-") and text[-2:-1].isalnum():
        return text[-1] == HYPHEN or forced
    small = following.text[0].islower()
    if setting.heads(last) or setting.heads(following):
        alike = setting.heads(last) and setting.heads(following) and last.bold == following.bold
        split = not _ends(text) and spacing <= _CLEARLY_SPACED and (forced or small)
        return split and (small or (alike and not _is_marked(following.text)))
    if forced:
        return _sentence_goes_on(lines, line, spacing)
    paused = _ends(text) or text[-1] in ",—–"
    return small and not (paused or _is_marked(following.text) or spacing > _SPACED)


def _sentence_goes_on(lines: Sequence[Line], line: Line, spacing: float) -> bool:
    """Whether a paragraph goes on behind a line that the margin broke."""
    text, following = lines[-1].segment.text, line.segment.text
    listed, marked = bool(list_markers(following)), _is_marked(following)
    turned = _turned(lines, line, marked)
    if _ends(text):
        # behind a full line "Article 16" is more often a reference than a heading without space
        return not (listed or turned or spacing > _SPACED)
    opens = marked or not following[0].islower()
    if _PAUSED.search(text):
        apart = turned or spacing > _SPACED or _counts_on(lines[0].segment.text, following)
        return not (opens and apart)
    return not (spacing > _CLEARLY_SPACED and (opens or turned))


def _ends(text: str) -> bool:
    """Whether a sentence or a lead-in ends with a line."""
    return _ENDED.search(text) is not None and _ABBREVIATED.search(text) is None


def _is_marked(text: str) -> bool:
    """Whether a line begins as an item or a provision does."""
    return bool(list_markers(text)) or word_marker(text) is not None


def _counts_on(item: str, text: str) -> bool:
    """Whether a line has the number that follows an item's."""
    after = {(marker.style, marker.value + 1) for marker in list_markers(item)}
    return not after.isdisjoint((marker.style, marker.value) for marker in list_markers(text))


def _spacing(upper: Line, lower: Line, setting: Setting) -> float:
    """How far a line lies below the one before, in steps within a paragraph; 1 in a new column."""
    if upper.column != lower.column:
        return 1.0
    step = upper.segment.bottom - lower.segment.bottom
    return step / setting.step(upper.segment.size)


def is_forced(line: Line, following: Segment) -> bool:
    """Whether the margin broke a line: the next word would not have fitted on it.

    Args:
        line: It, with its margins.
        following: What comes next.
    """
    segment = line.segment
    if line.right - line.left < _NARROWEST * segment.size:
        return False
    room = line.right - segment.right
    if abs(line.indent - room) < segment.size:  # it is centred
        room += line.indent
    word = following.text.find(" ")
    width = following.edges[word if word > 0 else -1] - following.left
    return width + _BLANK * segment.size > room - 1.0


def _is_flush(lines: Sequence[Line], line: Line) -> bool:
    """Whether a line ends where its neighbours do: they are set between margins of their own."""
    last = lines[-1]
    right = last.segment.right
    beside = [line.segment.right, *(upper.segment.right for upper in lines[-2:-1])]
    long = right - last.segment.left >= _LONG * (last.right - last.left)
    wide = right - last.segment.left >= _NARROWEST * last.segment.size
    return long and wide and any(abs(right - edge) <= _FLUSH for edge in beside)


def _turned(lines: Sequence[Line], line: Line, marked: bool) -> bool:
    """Whether a line is not indented as the paragraph's next line would be."""
    last = lines[-1]
    slack = _SLACK * last.segment.size
    if len(lines) > 1:
        return abs(line.indent - last.indent) > slack
    hang = _hang(last)
    if hang is None:
        return line.indent > slack and line.indent >= last.indent - slack
    return marked and abs(line.indent - hang) > slack and line.indent >= last.indent - slack


def _hang(line: Line) -> float | None:
    """How far the words behind an item's number are indented; None where a line has no number."""
    segment = line.segment
    if segment.hang > segment.left:
        return segment.hang - line.left
    markers = list_markers(segment.text)
    if not markers:
        return None
    end = markers[0].end
    end += len(segment.text[end:]) - len(segment.text[end:].lstrip())
    return segment.edges[end] - line.left
