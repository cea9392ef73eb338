"""The lines of a PDF in the order in which they are read, and how its text is set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

from lexloop.corpus.load.pdf_columns import Column, columns
from lexloop.corpus.load.pdf_segment import Segment
from lexloop.corpus.load.pdf_tables import Cells, find_tables

_FEW_LINES = 8
_SAME_MARGIN = 12.0
_SMALLER = 0.95
_LARGER = 1.08
_MOST_BOLD = 0.3
_LEAST_STEP, _MOST_STEP = 0.8, 3.0
_OFTEN, _NEARLY_FULL = 0.1, 0.15
_LONGEST_HEADING = 250
_FEWEST_FLUSH, _FLUSH = 4, 0.2
_OF_LINES = 25
"""Of so many lines one may reach beyond the margin where they are not set flush."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line between the margins of its column.

    Args:
        segment: What stands on it.
        left: Left margin.
        right: Right margin.
        column: Counts the columns of the document.
    """

    segment: Segment
    left: float
    right: float
    column: int

    @property
    def indent(self) -> float:
        """How far from the left margin it begins."""
        return self.segment.left - self.left


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Args:
        cells: The lines of each cell.
        opens: Whether the table begins with it.
    """

    cells: Cells
    opens: bool


@dataclass(frozen=True)
class Setting:
    """How the text of a document is set.

    Args:
        size: Of the font in which most of it is set.
        bold_heads: Whether bold lines stand out.
        steps: How far the lines of a paragraph lie below each other, by the size of their font.
    """

    size: float
    bold_heads: bool
    steps: dict[float, float]

    def step(self, size: float) -> float:
        """How far below each other the lines of a paragraph lie."""
        return self.steps.get(size) or 1.2 * size

    def heads(self, segment: Segment) -> bool:
        """Whether a line looks as headings do: larger than the text, or bold."""
        if len(segment.text) > _LONGEST_HEADING or not any(map(str.isalpha, segment.text)):
            return False
        bold = segment.bold and self.bold_heads and segment.size >= _SMALLER * self.size
        return bold or segment.size >= _LARGER * self.size

    def is_small(self, segment: Segment) -> bool:
        """Whether a line is set smaller than the text, as footnotes are."""
        return segment.size < _SMALLER * self.size


def setting_of(pages: Sequence[Sequence[Line | Row]]) -> Setting:
    """How the text of pages is set, counted over all of it."""
    sizes: Counter[float] = Counter()
    bold = 0
    for page in pages:
        for item in page:
            segments = [item.segment] if isinstance(item, Line) else chain(*item.cells)
            for segment in segments:
                sizes[segment.size] += len(segment.text)
                bold += len(segment.text) if segment.bold else 0
    size = sizes.most_common(1)[0][0] if sizes else 0.0
    return Setting(size, bold <= _MOST_BOLD * sizes.total(), _steps(pages))


def _steps(pages: Sequence[Sequence[Line | Row]]) -> dict[float, float]:
    """The narrowest step that is common below full lines, for each size of font."""
    counts: dict[float, Counter[float]] = {}
    for upper, lower in chain.from_iterable(map(pairwise, pages)):
        if isinstance(upper, Row) or isinstance(lower, Row) or upper.column != lower.column:
            continue
        size = upper.segment.size
        step = upper.segment.bottom - lower.segment.bottom
        full = upper.segment.right >= upper.right - _NEARLY_FULL * (upper.right - upper.left)
        if full and size == lower.segment.size and _LEAST_STEP < step / size < _MOST_STEP:
            counts.setdefault(size, Counter())[round(step * 2) / 2] += 1
    return {
        size: min(step for step, n in found.items() if n >= _OFTEN * max(found.values()))
        for size, found in counts.items()
    }


def lines_of(
    pages: Sequence[Sequence[Segment]], rules: Sequence[Sequence[float]]
) -> Iterator[list[Line | Row]]:
    """The lines and rows of each page, as they are read.

    Args:
        pages: The segments of each page, without its running heads and feet.
        rules: How high drawn lines stand, for each page.
    """
    found = [columns(page) for page in pages]
    widest = _right_margins([column for page in found for column in page])
    number = 0
    for page, drawn in zip(found, rules, strict=True):
        lines: list[Line | Row] = []
        for column in page:
            opens = True
            for item in find_tables(column.segments, drawn):
                if isinstance(item, Segment):
                    lines.append(Line(item, column.left, widest[number], number))
                else:
                    lines.append(Row(item, opens))
                opens = isinstance(item, Segment)
            number += 1
        yield lines


def _right_margins(found: Sequence[Column]) -> list[float]:
    """The right margin of each column; a short one has that of the others that begin where it does.

    Its own lines may all be shorter than the column is wide.
    """
    edges = [_right_margin(column) for column in found]
    margins = []
    for column, own in zip(found, edges, strict=True):
        right = own
        if len(column.segments) < _FEW_LINES:
            beside = [
                edge
                for edge, other in zip(edges, found, strict=True)
                if len(other.segments) >= _FEW_LINES
                and abs(other.left - column.left) < _SAME_MARGIN
            ]
            right = max(right, median(beside)) if beside else right
        margins.append(right)
    return margins


def _right_margin(column: Column) -> float:
    """Where the lines of a column end: the farthest edge that many reach, or nearly the farthest.

    A table or a formula may reach beyond the margin.
    """
    edges = sorted(segment.right for segment in column.segments)
    counts = Counter(round(edge) for edge in edges)
    least = max(_FEWEST_FLUSH, _FLUSH * len(edges))
    flush = [edge for edge in counts if counts[edge] + counts[edge + 1] >= least]
    return max(flush) + 1.0 if flush else edges[-1 - len(edges) // _OF_LINES]
