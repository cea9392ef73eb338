"""Tables in a column: rows of cells that stand below each other."""

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise

from lexloop.documents.reading.pdf_page import LIST_MARK, Segment

_FEWEST_ROWS = 2
_BARE_NUMBER = re.compile(r"\d{1,3}[A-Z]{0,2}")
_NEAR, _NEAR_CELLS = 0.6, 2.2
"""So many heights of a line, at most, lie above a lone cell, and above several; more if a rule lies
there."""
_FURTHEST_RULED = 6.0
_LARGER = 1.2
"""White space between rows is at least so many times that between lines of a cell."""
_WIDE_STEP = 1.4
"""Lines of a cell lie closer together than so many of their heights."""
_FEWEST_RULED = 3
_SLACK = 1.0
_LEAST_BLANK = 0.35

_Row = list[Segment]
_Span = tuple[float, float]
"""The left and the right edge of a table's column."""
Cells = list[list[Segment]]
"""The lines of each cell of a row."""


def find_tables(segments: Sequence[Segment], rules: Sequence[float]) -> Iterator[Segment | Cells]:
    """Yield the lines of a column in order; those of a table as rows of cells.

    The segments come from top to bottom, and from left to right on one line; ``rules`` say how
    high drawn lines stand on the page.
    """
    rows: list[_Row] = []
    for segment in segments:
        if rows and rows[-1][0].level_with(segment) and segment.left > rows[-1][-1].left:
            rows[-1].append(segment)
        else:
            rows.append([segment])
    begin = number = 0
    while number < len(rows):
        spans, end = _extent(rows, number, rules) if len(rows[number]) > 1 else ([], 0)
        if not _is_table(rows[number:end], spans):
            number += 1
            continue
        first = _upwards(rows, begin, number, spans, rules)
        yield from (reduce(Segment.followed_by, row) for row in rows[begin:first])
        for group in _logical(rows[first:end], spans, rules):
            held = [(segment, _place(segment, spans)) for row in group for segment in row]
            yield [[s for s, place in held if place == i] for i in range(len(spans))]
        begin = number = end
    yield from (reduce(Segment.followed_by, row) for row in rows[begin:])


def _extent(rows: list[_Row], begin: int, rules: Sequence[float]) -> tuple[list[_Span], int]:
    """Return the columns of a table that begins at a row, and its end."""
    spans = [(s.left, s.right) for s in rows[begin]]
    end = last = begin + 1
    while end < len(rows) and _near(rows[end - 1], rows[end], rules):
        row = [part for segment in rows[end] for part in _by_columns(segment, spans)]
        widened = _widened(spans, row)
        if widened is None:
            break
        spans, rows[end] = widened, row
        end += 1
        # a rule closes the last row of a table drawn with lines from below
        low, middle = row[0].middle - 1.5 * row[0].height, row[0].middle
        ruled = any(low < rule < middle for rule in rules)
        if ruled or len(row) > 1 or _place(row[0], spans) != 0:
            last = end
    return spans, last


def _near(upper: _Row, lower: _Row, rules: Sequence[float]) -> bool:
    height, between = lower[0].height, upper[0].bottom - lower[0].top
    gap = _NEAR_CELLS if len(lower) > 1 else _NEAR
    return between <= gap * height or (
        between <= _FURTHEST_RULED * height and _is_parted(upper, lower, rules)
    )


def _is_parted(upper: _Row, lower: _Row, rules: Sequence[float]) -> bool:
    """Return whether a rule lies between two rows."""
    return any(lower[0].middle < rule < upper[0].middle for rule in rules)


def _by_columns(segment: Segment, spans: Sequence[_Span]) -> list[Segment]:
    """Return a segment split where a wider blank lies and the next column begins.

    Where a cell is full its words almost touch those of the next.
    """
    for begin, _ in spans[1:]:
        if not segment.left < begin < segment.right:
            continue
        for at in range(2, len(segment.text)):
            if segment.text[at - 1] == " " and abs(segment.edges[at] - begin) <= _SLACK:
                blank = segment.edges[at] - segment.edges[at - 1]
                if blank >= _LEAST_BLANK * segment.height:
                    first, rest = segment.parted(at)
                    return [first, *_by_columns(rest, spans)]
    return [segment]


def _widened(spans: Sequence[_Span], row: _Row) -> list[_Span] | None:
    """Return the columns widened by another row; None where a cell of it would lie in two."""
    found = list(spans)
    for segment in row:
        met = [span for span in found if segment.left < span[1] and span[0] < segment.right]
        if len(met) > 1 or (not met and len(row) == 1):
            return None
        begin, end = segment.left, segment.right
        if met:
            found.remove(met[0])
            begin, end = min(met[0][0], begin), max(met[0][1], end)
        found.append((begin, end))
    found.sort(key=lambda span: span[0])
    return found if all(a[1] < b[0] for a, b in pairwise(found)) else None


def _place(segment: Segment, spans: Sequence[_Span]) -> int | None:
    """Return the column in which a segment lies."""
    for place, (begin, end) in enumerate(spans):
        if segment.left >= begin - _SLACK and segment.right <= end + _SLACK:
            return place
    return None


def _is_table(rows: Sequence[_Row], spans: Sequence[_Span]) -> bool:
    """Return whether rows are a table, not a list whose numbers stand far from its words."""
    firsts = [row[0].text for row in rows if len(row) > 1]
    if len(firsts) < _FEWEST_ROWS:
        return False
    numbered = [_BARE_NUMBER.fullmatch(text) or LIST_MARK.fullmatch(text) for text in firsts]
    return len(spans) > 2 or not all(numbered)


def _upwards(
    rows: Sequence[_Row], least: int, first: int, spans: Sequence[_Span], rules: Sequence[float]
) -> int:
    """Return where the first row begins: its lowest cell may stand alone above the others."""
    above = min((rule for rule in rules if rule >= rows[first][0].middle), default=None)
    while first > least and above is not None:
        row = rows[first - 1]
        if row[0].middle > above or any(_place(s, spans) is None for s in row):
            break
        first -= 1
    return first


def _logical(
    rows: Sequence[_Row], spans: Sequence[_Span], rules: Sequence[float]
) -> list[list[_Row]]:
    """Return the lines of a table by its rows.

    Drawn rules part the rows if there are more than one below the heads; else wider white space
    does; else a line that begins in the first column opens a row.
    """
    groups = _parts(rows, [_is_parted(upper, lower, rules) for upper, lower in pairwise(rows)])
    if len(groups) >= _FEWEST_RULED:
        return groups
    found: list[list[_Row]] = []
    for group in groups:
        steps = [upper[0].middle - lower[0].middle for upper, lower in pairwise(group)]
        least = min(steps, default=0.0)
        wide = least > _WIDE_STEP * group[0][0].height
        opens = [wide or step > _LARGER * least for step in steps]
        if not any(opens):
            opens = [len(row) > 1 and _place(row[0], spans) == 0 for row in group[1:]]
        found += _parts(group, opens)
    return found


def _parts(rows: Sequence[_Row], opens: Sequence[bool]) -> list[list[_Row]]:
    """Return rows, split in front of those that open another part; the first is not asked."""
    borders = [0, *(place for place, begins in enumerate(opens, 1) if begins), len(rows)]
    return [list(rows[begin:end]) for begin, end in pairwise(borders)]
