"""In which order the lines of a page are read: one column after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from lexloop.corpus.load.pdf_segment import Segment

_NARROWEST_GUTTER = 6.0
_FEWEST_LINES = 3
_LEAST_WIDTH = 0.15
"""Of the page's text; what is narrower is the numbers in front of items."""
_SHORTEST_LINE = 12
_FEW_SWITCHES = 0.25
_FULL, _MOSTLY, _FEWEST_FULL = 0.8, 0.6, 8
_MOST_COLUMNS = 4


@dataclass(slots=True)
class Column:
    """Lines below each other, and the margins between which they are set.

    Args:
        segments: From top to bottom; those on one line from left to right.
        left: The left margin.
        right: The right margin.
    """

    segments: list[Segment]
    left: float
    right: float


def columns(segments: Sequence[Segment]) -> list[Column]:
    """The columns of a page in the order in which they are read.

    What crosses a gutter divides the page: the columns above it come before those below.

    Args:
        segments: In the order in which the file draws them.
    """
    return _split(list(enumerate(segments)), _MOST_COLUMNS)


def _split(placed: list[tuple[int, Segment]], most: int) -> list[Column]:
    gutter = _gutter(placed) if most > 1 else None
    if gutter is None:
        return [_column(placed)] if placed else []
    found: list[Column] = []
    for band in _bands(placed, gutter):
        left = [p for p in band if p[1].right <= gutter]
        right = [p for p in band if p[1].left >= gutter]
        across = [p for p in band if p[1].left < gutter < p[1].right]
        if across:
            found.append(_column(across))
        for side in (left, right):
            found += _split(side, most - 1)
    return _joined(found)


def _column(placed: Sequence[tuple[int, Segment]]) -> Column:
    segments = [segment for _, segment in placed]
    left, right = min(s.left for s in segments), max(s.right for s in segments)
    return Column(_by_line(segments), left, right)


def _by_line(segments: Sequence[Segment]) -> list[Segment]:
    """From top to bottom, and from left to right on each line."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (-(s.top + s.bottom), s.left)):
        if rows and rows[-1][0].level_with(segment):
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return [segment for row in rows for segment in sorted(row, key=lambda s: s.left)]


def _bands(placed: Sequence[tuple[int, Segment]], gutter: float) -> list[list[tuple[int, Segment]]]:
    """The page parted where something crosses the gutter: that comes alone, then what is below."""
    bands: list[list[tuple[int, Segment]]] = [[]]
    crossing = False
    for item in sorted(placed, key=lambda p: -(p[1].top + p[1].bottom)):
        crosses = item[1].left < gutter < item[1].right
        if bands[-1] and crosses != crossing:
            bands.append([])
        crossing = crosses
        bands[-1].append(item)
    return bands


def _joined(found: Sequence[Column]) -> list[Column]:
    """Columns without the borders between bands that only one column has."""
    joined: list[Column] = []
    for column in found:
        last = joined[-1] if joined else None
        if last is not None and (last.left, last.right) == (column.left, column.right):
            last.segments += column.segments
        else:
            joined.append(column)
    return joined


def _gutter(placed: Sequence[tuple[int, Segment]]) -> float | None:
    """The middle of the white space between two columns; None where there is but one."""
    if len(placed) < 2 * _FEWEST_LINES:
        return None
    segments = [segment for _, segment in placed]
    first = min(s.left for s in segments)
    width = int(max(s.right for s in segments) - first) + 2
    if not 0 < width < 100_000:
        return None
    crossing = _coverage(segments, first, width)
    best: tuple[float, float] | None = None
    for most in sorted(set(crossing[width // 6 : -width // 6]))[:3]:
        for begin, end in _stretches(crossing, most):
            middle = first + (begin + end) / 2
            if end - begin < _NARROWEST_GUTTER or not _are_columns(placed, middle, most):
                continue
            if best is None or end - begin > best[0]:
                best = (end - begin, middle)
        if best is not None:
            return best[1]
    return None


def _coverage(segments: Sequence[Segment], first: float, width: int) -> list[int]:
    """How many segments lie over each point of the page's width."""
    steps = [0] * (width + 1)
    for segment in segments:
        steps[max(0, int(segment.left - first))] += 1
        steps[min(width, int(segment.right - first) + 1)] -= 1
    covered, found = 0, []
    for step in steps[:-1]:
        covered += step
        found.append(covered)
    return found


def _stretches(crossing: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Where at most so many segments lie, as spans."""
    found: list[tuple[int, int]] = []
    begin: int | None = None
    for place, count in enumerate([*crossing, most + 1]):
        if count <= most and begin is None:
            begin = place
        elif count > most and begin is not None:
            found.append((begin, place))
            begin = None
    return [span for span in found if span[0] > 0 and span[1] < len(crossing)]


def _are_columns(placed: Sequence[tuple[int, Segment]], gutter: float, crossing: int) -> bool:
    """Whether the two sides are columns of text, and not cells of a table or items' numbers.

    Files draw a column from its top to its bottom, and a table row by row. Where a file draws
    lines across both columns, these are told by the lines that reach their margins.
    """
    left = [(n, s) for n, s in placed if s.right <= gutter]
    right = [(n, s) for n, s in placed if s.left >= gutter]
    if min(len(left), len(right)) < _FEWEST_LINES or crossing > 2 * min(len(left), len(right)):
        return False
    whole = max(s.right for _, s in placed) - min(s.left for _, s in placed)
    for side in (left, right):
        wide = max(s.right for _, s in side) - min(s.left for _, s in side)
        if wide < _LEAST_WIDTH * whole or median(len(s.text) for _, s in side) < _SHORTEST_LINE:
            return False
    sides = sorted([(n, 0) for n, _ in left] + [(n, 1) for n, _ in right])
    switches = sum(a[1] != b[1] for a, b in pairwise(sides))
    if switches <= max(1, _FEW_SWITCHES * min(len(left), len(right))):
        return True
    return all(_is_filled([s for _, s in side]) for side in (left, right))


def _is_filled(side: Sequence[Segment]) -> bool:
    """Whether most lines reach from margin to margin."""
    wide = max(s.right for s in side) - min(s.left for s in side)
    full = sum(s.right - s.left >= _FULL * wide for s in side)
    return len(side) >= _FEWEST_FULL and full >= _MOSTLY * len(side)
