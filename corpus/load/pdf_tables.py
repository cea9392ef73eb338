"""Tables among the lines of a column: rows of cells that stand below each other."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lexloop.corpus.load.pdf_page import LIST_MARK
from lexloop.corpus.load.pdf_segment import Segment

_FEWEST_ROWS = 2
_BARE_NUMBER = re.compile(r"\d{1,3}[A-Z]{0,2}")
_NEAR, _NEAR_CELLS = 0.6, 2.2
"""So many heights of a line, at most, lie above a lone cell, and above several; more if a rule lies
there."""
_FURTHEST_RULED = 6.0
_LARGER = 1.2
"""Where rows are set apart by white space, it is so many times that between lines of a cell."""
_WIDE_STEP = 1.4
"""Lines of a cell lie closer together than so many of their heights."""
_FEWEST_RULED = 3
_SLACK = 1.0
_LEAST_BLANK = 0.35

Row = list[Segment]
Cells = list[list[Segment]]
"""The lines of each cell of a row."""


@dataclass(frozen=True, slots=True)
class _Span:
    left: float
    right: float


def find_tables(segments: Sequence[Segment], rules: Sequence[float]) -> Iterator[Segment | Cells]:
    """The lines of a column in order; those of a table as rows of cells.

    Args:
        segments: From top to bottom, and from left to right.
        rules: How high drawn lines stand on the page.
    """
    rows = _rows(segments)
    begin = number = 0
    while number < len(rows):
        spans, end = _extent(rows, number, rules) if len(rows[number]) > 1 else ([], 0)
        if not _is_table(rows[number:end], spans):
            number += 1
            continue
        first = _upwards(rows, begin, number, spans, rules)
        yield from map(_one_line, rows[begin:first])
        for group in _logical(rows[first:end], spans, rules):
            yield [[s for row in group for s in row if _place(s, spans) == i] for i in spans]
        begin = number = end
    yield from map(_one_line, rows[begin:])


def _rows(segments: Sequence[Segment]) -> list[Row]:
    rows: list[Row] = []
    for segment in segments:
        if rows and rows[-1][0].level_with(segment) and segment.left > rows[-1][-1].left:
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return rows


def _one_line(row: Row) -> Segment:
    """A row that is none of a table, as one line."""
    line = row[0]
    for segment in row[1:]:
        line = line.followed_by(segment)
    return line


def _extent(rows: list[Row], begin: int, rules: Sequence[float]) -> tuple[list[_Span], int]:
    """The columns of a table that begins at a row, and where it ends."""
    spans = [_Span(s.left, s.right) for s in rows[begin]]
    end = last = begin + 1
    while end < len(rows) and _near(rows[end - 1], rows[end], rules):
        row = [part for segment in rows[end] for part in _by_columns(segment, spans)]
        widened = _widened(spans, row)
        if widened is None:
            break
        spans, rows[end] = widened, row
        end += 1
        closed = len(rows[end - 1]) > 1 or _place(rows[end - 1][0], spans) is not spans[0]
        if closed or _ruled_below(rows, end - 1, rules):
            last = end
    return spans, last


def _near(upper: Row, lower: Row, rules: Sequence[float]) -> bool:
    height = lower[0].top - lower[0].bottom
    between = upper[0].bottom - lower[0].top
    gap = _NEAR_CELLS if len(lower) > 1 else _NEAR
    return between <= gap * height or (
        between <= _FURTHEST_RULED * height and _parted(upper, lower, rules)
    )


def _parted(upper: Row, lower: Row, rules: Sequence[float]) -> bool:
    """Whether a rule lies between two rows."""
    high, low = _middle(upper), _middle(lower)
    return any(low < rule < high for rule in rules)


def _middle(row: Row) -> float:
    return (row[0].top + row[0].bottom) / 2


def _ruled_below(rows: Sequence[Row], number: int, rules: Sequence[float]) -> bool:
    """Whether a rule closes a row from below, as the last of a table drawn with lines."""
    height = rows[number][0].top - rows[number][0].bottom
    middle = _middle(rows[number])
    return any(middle - 1.5 * height < rule < middle for rule in rules)


def _by_columns(segment: Segment, spans: Sequence[_Span]) -> list[Segment]:
    """A segment parted where a wider blank lies and the next column begins.

    Where a cell is full its words almost touch those of the next.
    """
    for span in spans[1:]:
        if not segment.left < span.left < segment.right:
            continue
        for at in range(2, len(segment.text)):
            if segment.text[at - 1] == " " and abs(segment.edges[at] - span.left) <= _SLACK:
                blank = segment.edges[at] - segment.edges[at - 1]
                if blank >= _LEAST_BLANK * (segment.top - segment.bottom):
                    first, rest = segment.parted(at)
                    return [first, *_by_columns(rest, spans)]
    return [segment]


def _widened(spans: Sequence[_Span], row: Row) -> list[_Span] | None:
    """The columns with another row in them; None where a cell of it would lie in two."""
    found = list(spans)
    for segment in row:
        met = [s for s in found if segment.left < s.right and s.left < segment.right]
        if len(met) > 1:
            return None
        span = _Span(segment.left, segment.right)
        if met:
            found.remove(met[0])
            span = _Span(min(met[0].left, span.left), max(met[0].right, span.right))
        elif len(row) == 1:
            return None
        found.append(span)
    found.sort(key=lambda s: s.left)
    apart = all(a.right < b.left for a, b in pairwise(found))
    return found if apart else None


def _place(segment: Segment, spans: Sequence[_Span]) -> _Span | None:
    """The column in which a segment lies."""
    return next(
        (s for s in spans if segment.left >= s.left - _SLACK and segment.right <= s.right + _SLACK),
        None,
    )


def _is_table(rows: Sequence[Row], spans: Sequence[_Span]) -> bool:
    """Whether rows are a table, and no list whose numbers stand far from its words."""
    wide = [row for row in rows if len(row) > 1]
    if len(wide) < _FEWEST_ROWS:
        return False
    numbered = sum(
        (_BARE_NUMBER.fullmatch(row[0].text) or LIST_MARK.fullmatch(row[0].text)) is not None
        for row in wide
    )
    return len(spans) > 2 or numbered < len(wide)


def _upwards(
    rows: Sequence[Row], least: int, first: int, spans: Sequence[_Span], rules: Sequence[float]
) -> int:
    """Where the first row begins: its lowest cell may stand alone above the others."""
    above = min((r for r in rules if r >= _middle(rows[first])), default=None)
    while first > least and above is not None:
        row = rows[first - 1]
        if _middle(row) > above or any(_place(s, spans) is None for s in row):
            break
        first -= 1
    return first


def _logical(
    rows: Sequence[Row], spans: Sequence[_Span], rules: Sequence[float]
) -> list[list[Row]]:
    """The lines of a table by its rows.

    Drawn rules part the rows if there are more than one below the heads; else wider white space
    does; else a line that begins in the first column opens a row.
    """
    groups = _parts(rows, [_parted(upper, lower, rules) for upper, lower in pairwise(rows)])
    if len(groups) >= _FEWEST_RULED:
        return groups
    found: list[list[Row]] = []
    for group in groups:
        steps = [_middle(upper) - _middle(lower) for upper, lower in pairwise(group)]
        least = min(steps, default=0.0)
        wide = least > _WIDE_STEP * (group[0][0].top - group[0][0].bottom)
        opens = [wide or step > _LARGER * least for step in steps]
        if not any(opens):
            opens = [len(row) > 1 and _place(row[0], spans) is spans[0] for row in group[1:]]
        found += _parts(group, opens)
    return found


def _parts(rows: Sequence[Row], opens: Sequence[bool]) -> list[list[Row]]:
    parts = [[rows[0]]]
    for row, begins in zip(rows[1:], opens, strict=True):
        if begins:
            parts.append([row])
        else:
            parts[-1].append(row)
    return parts
