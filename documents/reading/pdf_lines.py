"""The lines of a PDF in reading order, and its typographic settings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, groupby, pairwise
from statistics import median

from lexloop.documents.reading.pdf_page import Segment, rows_of
from lexloop.documents.reading.pdf_tables import Cells, find_tables

_NARROWEST_GUTTER = 6.0
_FEWEST_LINES = 3
_LEAST_WIDTH = 0.15
"""The least width of a column, as a share of the text's; narrower ones are items' numbers."""
_SHORTEST_LINE = 12
_FEW_SWITCHES = 0.25
_FULL, _MOSTLY, _FEWEST_FULL = 0.8, 0.6, 8
_MOST_COLUMNS = 4
_FEW_LINES = 8
_SAME_MARGIN = 12.0
_FEWEST_FLUSH, _FLUSH = 4, 0.2
_OF_LINES = 25
"""One in so many lines may reach beyond the margin where they are not set flush."""
_SMALLER, _LARGER = 0.95, 1.08
_MOST_BOLD = 0.3
_LEAST_STEP, _MOST_STEP = 0.8, 3.0
_OFTEN, _NEARLY_FULL = 0.1, 0.15
_LONGEST_HEADING = 250


@dataclass(slots=True)
class Column:
    """Lines below each other, and the margins between which they are set.

    ``segments`` stand from top to bottom; those on one line from left to right.
    """

    segments: list[Segment]
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line between the margins of its column."""

    segment: Segment
    column: Column

    @property
    def indent(self) -> float:
        """Its distance from the left margin."""
        return self.segment.left - self.column.left

    @property
    def room(self) -> float:
        """Its distance from the right margin."""
        return self.column.right - self.segment.right


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table; ``opens`` marks the first one."""

    cells: Cells
    opens: bool


Page = list[PdfLine | TableRow]


@dataclass(frozen=True)
class Setting:
    """Font size, weight and line spacing of a document's text.

    Args:
        size: Of the font in which most of it is set.
        bold_heads: Whether bold lines stand out.
        steps: The distance between the lines of a paragraph, by the size of their font.
    """

    size: float
    bold_heads: bool
    steps: dict[float, float]

    def heads(self, segment: Segment) -> bool:
        """Return whether a line looks as headings do: larger than the text, or bold."""
        if len(segment.text) > _LONGEST_HEADING or not any(map(str.isalpha, segment.text)):
            return False
        bold = segment.bold and self.bold_heads and segment.size >= _SMALLER * self.size
        return bold or segment.size >= _LARGER * self.size

    def is_small(self, segment: Segment) -> bool:
        """Return whether a line is set smaller than the text, as footnotes are."""
        return segment.size < _SMALLER * self.size


def setting_of(pages: Sequence[Page]) -> Setting:
    """Return the setting of pages, counted over all their text."""
    sizes: Counter[float] = Counter()
    bold = 0
    for item in chain.from_iterable(pages):
        for segment in [item.segment] if isinstance(item, PdfLine) else chain(*item.cells):
            sizes[segment.size] += len(segment.text)
            bold += len(segment.text) if segment.bold else 0
    size = sizes.most_common(1)[0][0] if sizes else 0.0
    return Setting(size, bold <= _MOST_BOLD * sizes.total(), _steps(pages))


def _steps(pages: Sequence[Page]) -> dict[float, float]:
    """Return the narrowest step that is common below full lines, for each size of font."""
    counts: dict[float, Counter[float]] = {}
    for upper, lower in chain.from_iterable(map(pairwise, pages)):
        if (
            isinstance(upper, TableRow)
            or isinstance(lower, TableRow)
            or upper.column is not lower.column
        ):
            continue
        size, column = upper.segment.size, upper.column
        step = upper.segment.bottom - lower.segment.bottom
        full = upper.segment.right >= column.right - _NEARLY_FULL * (column.right - column.left)
        if full and size == lower.segment.size and _LEAST_STEP < step / size < _MOST_STEP:
            counts.setdefault(size, Counter())[round(step * 2) / 2] += 1
    return {
        size: min(step for step, n in found.items() if n >= _OFTEN * max(found.values()))
        for size, found in counts.items()
    }


def lines_of(
    pages: Sequence[Sequence[Segment]], rules: Sequence[Sequence[float]]
) -> Iterator[Page]:
    """Yield the lines and rows of each page in reading order.

    The pages come without running heads and feet; ``rules`` say how high lines are drawn on each.
    """
    found = [_columns(page, _MOST_COLUMNS) for page in pages]
    _widen([column for page in found for column in page])
    for page, drawn in zip(found, rules, strict=True):
        lines: Page = []
        for column in page:
            opens = True
            for item in find_tables(column.segments, drawn):
                lines.append(
                    PdfLine(item, column) if isinstance(item, Segment) else TableRow(item, opens)
                )
                opens = isinstance(item, Segment)
        yield lines


def _widen(columns: Sequence[Column]) -> None:
    """Set each column's right margin; a short one takes that of those with the same left margin.

    Its own lines may all be shorter than the column is wide.
    """
    long = [column for column in columns if len(column.segments) >= _FEW_LINES]
    for column in columns:
        column.right = _right_margin(column)
    for column in columns:
        if len(column.segments) < _FEW_LINES:
            beside = [o.right for o in long if abs(o.left - column.left) < _SAME_MARGIN]
            column.right = max(column.right, median(beside or [column.right]))


def _right_margin(column: Column) -> float:
    """Return the farthest edge that many lines of a column reach, or nearly the farthest.

    A table or a formula may reach beyond the margin.
    """
    edges = sorted(segment.right for segment in column.segments)
    counts = Counter(round(edge) for edge in edges)
    least = max(_FEWEST_FLUSH, _FLUSH * len(edges))
    flush = [edge for edge in counts if counts[edge] + counts[edge + 1] >= least]
    return max(flush) + 1.0 if flush else edges[-1 - len(edges) // _OF_LINES]


def _columns(segments: Sequence[Segment], most: int) -> list[Column]:
    """Return the columns of a page, or of a part of one, in reading order.

    What crosses a gutter divides the page: the columns above it come before those below.
    """
    gutter = _gutter(segments) if most > 1 else None
    if gutter is None:
        return [_column(segments)] if segments else []
    found: list[Column] = []
    downwards = sorted(segments, key=lambda s: -s.middle)
    for crosses, band in groupby(downwards, lambda s: s.left < gutter < s.right):
        held = list(band)
        if crosses:
            found.append(_column(held))
            continue
        found += _columns([s for s in held if s.right <= gutter], most - 1)
        found += _columns([s for s in held if s.left >= gutter], most - 1)
    joined: list[Column] = []  # without the borders between bands that only one column has
    for column in found:
        if joined and (joined[-1].left, joined[-1].right) == (column.left, column.right):
            joined[-1].segments += column.segments
        else:
            joined.append(column)
    return joined


def _column(segments: Sequence[Segment]) -> Column:
    rows = rows_of(sorted(segments, key=lambda s: (-s.middle, s.left)))
    ordered = [segment for row in rows for segment in sorted(row, key=lambda s: s.left)]
    return Column(ordered, min(s.left for s in segments), max(s.right for s in segments))


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Return the middle of the white space between two columns; None where there is but one."""
    if len(segments) < 2 * _FEWEST_LINES:
        return None
    first = min(s.left for s in segments)
    width = int(max(s.right for s in segments) - first) + 2
    if not 0 < width < 100_000:
        return None
    crossing = _coverage(segments, first, width)
    for most in sorted(set(crossing[width // 6 : -width // 6]))[:3]:
        found = [
            (begin, end)
            for begin, end in _stretches(crossing, most)
            if end - begin >= _NARROWEST_GUTTER
            and _are_columns(segments, first + (begin + end) / 2, most)
        ]
        if found:
            begin, end = max(found, key=lambda span: span[1] - span[0])
            return first + (begin + end) / 2
    return None


def _coverage(segments: Sequence[Segment], first: float, width: int) -> list[int]:
    """Return how many segments lie over each point of the page's width."""
    steps = [0] * (width + 1)
    for segment in segments:
        steps[max(0, int(segment.left - first))] += 1
        steps[min(width, int(segment.right - first) + 1)] -= 1
    return list(accumulate(steps[:-1]))


def _stretches(crossing: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield the spans in which at most so many segments lie and that touch no margin."""
    end = 0
    for few, counts in groupby(crossing, lambda count: count <= most):
        begin, end = end, end + len(list(counts))
        if few and begin > 0 and end < len(crossing):
            yield begin, end


def _are_columns(segments: Sequence[Segment], gutter: float, crossing: int) -> bool:
    """Return whether the two sides are columns of text, not a table or items' numbers.

    Files draw a column from its top to its bottom, and a table row by row. Where a file draws
    lines across both columns, these are told by the lines that reach their margins.
    """
    sides = [s for s in segments if s.right <= gutter], [s for s in segments if s.left >= gutter]
    fewest = min(map(len, sides))
    if fewest < _FEWEST_LINES or crossing > 2 * fewest:
        return False
    measured = [(side, _width(side)) for side in sides]
    least = _LEAST_WIDTH * _width(segments)
    for side, width in measured:
        if width < least or median(len(s.text) for s in side) < _SHORTEST_LINE:
            return False
    drawn = sorted((s.order, number) for number, side in enumerate(sides) for s in side)
    switches = sum(a[1] != b[1] for a, b in pairwise(drawn))
    if switches <= max(1, _FEW_SWITCHES * fewest):
        return True
    full = [[s.right - s.left >= _FULL * width for s in side] for side, width in measured]
    return fewest >= _FEWEST_FULL and all(sum(f) >= _MOSTLY * len(f) for f in full)


def _width(segments: Sequence[Segment]) -> float:
    return max(s.right for s in segments) - min(s.left for s in segments)
