"""The layout of a PDF: its lines in reading order, including table rows, without furniture.

Furniture is running heads, running feet and page numbers, which are not part of the text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, chain, groupby, pairwise
from statistics import median

from lexloop.documents.reading.pdf_page import GAP, LIST_MARK, Segment, Sheet, rows_of
from lexloop.documents.structure.markers import page_numbers, word_marker

_BAND = 0.16
"""Heads and feet are within this share of the page's height, at its top and bottom."""
_OUTERMOST = 5
_SLOT = 4.0
"""In points. Lines closer than this, in distance from the page's edge, have the same place."""
_RECUR, _FEW_PAGES = 3, 4
_MOST_OF_PLACE = 0.5
_NEARLY_ALL, _OF_PAGES = 0.8, 0.6
_APART = 0.5
"""A place is apart from the text if the gap is this many line heights."""
_SMALL_HEAD = 0.93
_MOST_OF_PAGE = 0.3
_NUMBER = re.compile(r"\d+")
_BARE = re.compile(
    r"(?=[^#]*#)[\W_]*|[\W_]*+(?:page|p\.|pg\.?|seite)\s*#(?:\s*(?:of|/|von)\s*\d+)?[\W_]*"
    r"|[\W_]*#\s*(?:of|/|von)\s*\d+[\W_]*|[\W_]*+[ivxlc]{1,7}[\W_]*",
    re.IGNORECASE,
)
_FEWEST_ROWS = 2
_BARE_NUMBER = re.compile(r"\d{1,3}[A-Z]{0,2}")
_NEAR, _NEAR_CELLS = 0.6, 2.2
"""The largest gap, in line heights, above a lone cell, and above several cells; it may be wider if
a rule is drawn there.
"""
_FURTHEST_RULED = 6.0
_MOST_ROWS = 200
"""The most rows of a table on one page, since each row may begin another table."""
_WIDER_STEP = 1.2
"""White space between rows is at least this many times that between lines of a cell."""
_WIDE_STEP = 1.4
"""Lines of a cell are closer than this many line heights."""
_FEWEST_RULED = 3
_SLACK = 1.0
_LEAST_BLANK = 0.35

_Row = list[Segment]
_Span = tuple[float, float]
"""The left and the right edge of a table's column."""
_Cells = list[list[Segment]]
"""The lines of each cell of a row."""
_NARROWEST_GUTTER = 6.0
_FEWEST_LINES = 3
_LEAST_WIDTH = 0.15
"""The least width of a column, as a share of the text's width; narrower ones are item numbers."""
_SHORTEST_LINE = 12
_FEW_SWITCHES = 0.25
_FULL, _MOSTLY, _FEWEST_FULL = 0.8, 0.6, 8
_MOST_COLUMNS = 4
_FEW_LINES = 8
_SAME_MARGIN = 12.0
_FEWEST_FLUSH, _FLUSH = 4, 0.2
_OF_LINES = 25
"""One line in this many may extend beyond the margin in a column that is not justified."""
_SMALLER, _LARGER = 0.95, 1.08
_MOST_BOLD = 0.3
_LEAST_STEP, _MOST_STEP = 0.8, 3.0
_OFTEN, _NEARLY_FULL = 0.1, 0.15
_LONGEST_HEADING = 250


@dataclass(slots=True)
class _Outer:
    """A segment near an edge of its page.

    Args:
        sheet: Its page, from 0.
        side: ``top`` or ``bottom``.
        slot: Its distance from the edge, in units of ``_SLOT``.
        row: The number of lines between it and the edge.
        apart: Whether white space separates it from the text.
        small_head: Whether it is the first on the page, in a smaller size and apart from the text.
        key: Its text without the number of the page.
    """

    sheet: int
    segment: Segment
    side: str
    slot: int
    row: int
    apart: bool
    small_head: bool
    key: str

    @property
    def font(self) -> tuple[float, bool]:
        """The size and weight of its font."""
        return self.segment.size, self.segment.bold


def without_furniture(sheets: Sequence[Sheet]) -> list[list[Segment]]:
    """Return the segments of each page without running heads, feet and page numbers.

    A document that would lose all its text keeps it.
    """
    outers = [outer for n, sheet in enumerate(sheets) for outer in _outer_lines(n, sheet)]
    shift = _page_shift(outers)
    places: dict[tuple[str, int], list[_Outer]] = defaultdict(list)
    for outer in outers:
        outer.key = _without_number(outer.key, str(outer.sheet + shift))
        for near in (0, 1):  # a place at the border of two is in both
            places[outer.side, outer.slot + near].append(outer)
    dropped = {
        id(outer.segment) for lines in places.values() for outer in _furniture(lines, sheets)
    }
    for outer in outers:
        numbered = "#" in outer.key or shift > 0
        if outer.small_head or (numbered and outer.apart and _BARE.fullmatch(outer.key)):
            dropped.add(id(outer.segment))
    dropped = _outermost(outers, dropped) | _numbers_within(sheets)
    kept = [[s for s in sheet.segments if id(s) not in dropped] for sheet in sheets]
    return kept if any(kept) else [sheet.segments for sheet in sheets]


def _numbers_within(sheets: Sequence[Sheet]) -> set[int]:
    """Return the segments with page numbers of an earlier printing within the text."""
    rows = [
        row
        for sheet in sheets
        for row in rows_of(sorted(sheet.segments, key=lambda s: (-s.top, s.left)))
    ]
    lines = [row[0].text if len(row) == 1 else " ".join(s.text for s in row) for row in rows]
    return {id(rows[place][0]) for place in page_numbers(lines) if len(rows[place]) == 1}


def _outer_lines(number: int, sheet: Sheet) -> Iterator[_Outer]:
    """Yield the outermost lines of a page within the bands at its edges."""
    rows = rows_of(sorted(sheet.segments, key=lambda s: -s.top))
    for side, ordered in (("top", rows), ("bottom", rows[::-1])):
        for place, row in enumerate(ordered[:_OUTERMOST]):
            first = row[0]
            away = sheet.height - first.top if side == "top" else first.bottom
            if away > _BAND * sheet.height:
                break
            following = ordered[place + 1 : place + 2]
            gaps = [max(first.bottom - o[0].top, o[0].bottom - first.top) for o in following]
            apart = all(gap > _APART * first.height for gap in gaps)
            largest = max(s.size for s in row)
            small = any(largest <= _SMALL_HEAD * min(s.size for s in o) for o in following)
            small_head = (side, place) == ("top", 0) and small and apart
            for s in row:
                yield _Outer(number, s, side, int(away / _SLOT), place, apart, small_head, s.text)


def _page_shift(outers: Sequence[_Outer]) -> int:
    """Return the difference between the number printed on a page and its place."""
    votes = Counter(
        int(number) - outer.sheet
        for outer in outers
        for number in set(_NUMBER.findall(outer.key))
        if len(number) <= 5 and word_marker(outer.key) is None
    )
    shift, pages = votes.most_common(1)[0] if votes else (1, 0)
    return shift if pages >= _RECUR or (pages == len({o.sheet for o in outers}) > 1) else 1


def _without_number(text: str, page: str) -> str:
    """Return a text with "#" for its page number; the 5 of "Article 5" is not a page number."""
    marker = word_marker(text)
    begin = marker.end if marker else 0
    return text[:begin] + _NUMBER.sub(
        lambda match: "#" if match[0].lstrip("0") == page else match[0], text[begin:]
    )


def _furniture(lines: Sequence[_Outer], sheets: Sequence[Sheet]) -> Iterator[_Outer]:
    """Yield the lines at one place that are furniture."""
    keys = Counter(key for key, _ in {(outer.key, outer.sheet) for outer in lines})
    least = _RECUR if len(sheets) > _FEW_PAGES else 2
    recurring = [o for o in lines if keys[o.key] >= (least if o.apart else _RECUR)]
    pages = {outer.sheet for outer in lines}
    share = len({outer.sheet for outer in recurring}) / len(pages)
    if share >= _MOST_OF_PLACE:
        yield from recurring
    sizes = {outer.segment.size for outer in recurring}
    if share >= _NEARLY_ALL:
        yield from (outer for outer in lines if outer.segment.size in sizes and outer.apart)
    alone = sum(outer.apart for outer in lines) >= _NEARLY_ALL * len(lines)
    chars = sum(len(segment.text) for n in pages for segment in sheets[n].segments)
    few = sum(len(outer.segment.text) for outer in lines) <= _MOST_OF_PAGE * chars
    if alone and few and len(pages) >= max(_FEW_PAGES, _OF_PAGES * len(sheets)):
        yield from (outer for outer in lines if _may_be_running_head(outer, lines))


def _may_be_running_head(outer: _Outer, lines: Sequence[_Outer]) -> bool:
    """Return whether a line that recurs nowhere may be a running head of its page's provisions.

    Such heads differ from page to page, but not in size or weight.
    """
    alike = sum(other.font == outer.font for other in lines)
    opens = word_marker(outer.key) is not None and len({o.key for o in lines}) == len(lines)
    return alike >= _NEARLY_ALL * len(lines) and not opens


def _outermost(outers: Sequence[_Outer], dropped: set[int]) -> set[int]:
    """Return the segments beyond all the text of their page."""
    furniture: set[int] = set()
    inner: tuple[int, str] | None = None
    for (sheet, side, _), row in groupby(outers, lambda o: (o.sheet, o.side, o.row)):
        line = list(row)
        ids = {id(outer.segment) for outer in line}
        # text beside a page number is furniture too
        if (sheet, side) != inner and (ids <= dropped or (ids & dropped and line[0].apart)):
            furniture |= ids
        else:
            inner = sheet, side
    return furniture


def _find_tables(segments: Sequence[Segment], rules: Sequence[float]) -> Iterator[Segment | _Cells]:
    """Yield the lines of a column in order, with the rows of tables as cells.

    The segments are sorted from top to bottom, then from left to right; ``rules`` are the heights
    of drawn lines.
    """
    rows: list[_Row] = []
    for segment in segments:
        if rows and rows[-1][0].level_with(segment) and segment.left > rows[-1][-1].left:
            rows[-1].append(segment)
        else:
            rows.append([segment])
    for place, other in (
        *_neighbours(range(len(rows) - 1), 1),
        *_neighbours(range(len(rows))[:0:-1], -1),
    ):
        rows[other] = _split_like(rows[other], rows[place])
    begin = number = 0
    while number < len(rows):
        spans, end = _extent(rows, number, rules) if len(rows[number]) > 1 else ([], 0)
        if not _is_table(rows[number:end], spans):
            number += 1
            continue
        first = _first_row(rows, begin, number, spans, rules)
        yield from (reduce(Segment.followed_by, row) for row in rows[begin:first])
        for group in _logical(rows[first:end], spans, rules):
            placed = [(segment, _column_of(segment, spans)) for row in group for segment in row]
            yield [[s for s, place in placed if place == i] for i in range(len(spans))]
        begin = number = end
    yield from (reduce(Segment.followed_by, row) for row in rows[begin:])


def _neighbours(places: Iterable[int], step: int) -> Iterator[tuple[int, int]]:
    return ((place, place + step) for place in places)


def _split_like(row: _Row, other: _Row) -> _Row:
    """Return a row split at its gaps, if its parts then match the cells of the next row.

    Column heads of one word each may be as close to each other as words of a justified line.
    """
    if len(row) >= len(other):
        return row
    parts = [part for segment in row for part in _by_gaps(segment)]
    fits = len(parts) == len(other) and all(
        a.left < b.right and b.left < a.right for a, b in zip(parts, other, strict=True)
    )
    return parts if fits else row


def _by_gaps(segment: Segment) -> Iterator[Segment]:
    """Yield the parts of a segment between gaps that are wider than blanks."""
    least, at = GAP * segment.height, 2
    while at < len(segment.text):
        if segment.text[at - 1] == " " and segment.edges[at] - segment.edges[at - 1] >= least:
            first, segment = segment.parted(at)
            yield first
            at = 1
        at += 1
    yield segment


def _extent(rows: list[_Row], begin: int, rules: Sequence[float]) -> tuple[list[_Span], int]:
    """Return the columns of a table that begins at a row, and its end."""
    spans = [(s.left, s.right) for s in rows[begin]]
    end = last = begin + 1
    most = min(len(rows), begin + _MOST_ROWS)
    while end < most and _is_near(rows[end - 1], rows[end], rules):
        row = [part for segment in rows[end] for part in _by_columns(segment, spans)]
        widened = _widened(spans, row)
        if widened is None:
            break
        spans, rows[end] = widened, row
        end += 1
        # a rule closes the last row of a table drawn with lines from below
        low, middle = row[0].middle - 1.5 * row[0].height, row[0].middle
        ruled = any(low < rule < middle for rule in rules)
        if ruled or len(row) > 1 or _column_of(row[0], spans) != 0:
            last = end
    return spans, last


def _is_near(upper: _Row, lower: _Row, rules: Sequence[float]) -> bool:
    height, between = lower[0].height, upper[0].bottom - lower[0].top
    gap = _NEAR_CELLS if len(lower) > 1 else _NEAR
    return between <= gap * height or (
        between <= _FURTHEST_RULED * height and _rule_between(upper, lower, rules)
    )


def _rule_between(upper: _Row, lower: _Row, rules: Sequence[float]) -> bool:
    """Return whether a rule is drawn between two rows."""
    return any(lower[0].middle < rule < upper[0].middle for rule in rules)


def _by_columns(segment: Segment, spans: Sequence[_Span]) -> list[Segment]:
    """Return a segment split at the wide blanks where columns begin.

    The text of a full cell almost touches the next cell.
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
    """Return the columns widened by another row; None if a cell would be in two columns."""
    widened = list(spans)
    for segment in row:
        met = [span for span in widened if segment.left < span[1] and span[0] < segment.right]
        if len(met) > 1 or (not met and len(row) == 1):
            return None
        begin, end = segment.left, segment.right
        if met:
            widened.remove(met[0])
            begin, end = min(met[0][0], begin), max(met[0][1], end)
        widened.append((begin, end))
    widened.sort(key=lambda span: span[0])
    return widened if all(a[1] < b[0] for a, b in pairwise(widened)) else None


def _column_of(segment: Segment, spans: Sequence[_Span]) -> int | None:
    """Return the column that contains a segment, or None."""
    for place, (begin, end) in enumerate(spans):
        if segment.left >= begin - _SLACK and segment.right <= end + _SLACK:
            return place
    return None


def _is_table(rows: Sequence[_Row], spans: Sequence[_Span]) -> bool:
    """Return whether rows are a table, not a list whose numbers are far from its text."""
    firsts = [row[0].text for row in rows if len(row) > 1]
    if len(firsts) < _FEWEST_ROWS:
        return False
    numbered = [_BARE_NUMBER.fullmatch(text) or LIST_MARK.fullmatch(text) for text in firsts]
    return len(spans) > 2 or not all(numbered)


def _first_row(
    rows: Sequence[_Row], least: int, first: int, spans: Sequence[_Span], rules: Sequence[float]
) -> int:
    """Return where the first row begins: its lowest cell may be alone above the others."""
    above = min((rule for rule in rules if rule >= rows[first][0].middle), default=None)
    while first > least and above is not None:
        row = rows[first - 1]
        if row[0].middle > above or any(_column_of(s, spans) is None for s in row):
            break
        first -= 1
    return first


def _logical(
    rows: Sequence[_Row], spans: Sequence[_Span], rules: Sequence[float]
) -> list[list[_Row]]:
    """Return the lines of a table by its rows.

    Rows are separated by drawn rules if there is more than one below the heads, otherwise by wider
    white space, otherwise by lines that begin in the first column.
    """
    groups = _split_before(
        rows, [_rule_between(upper, lower, rules) for upper, lower in pairwise(rows)]
    )
    if len(groups) >= _FEWEST_RULED:
        return groups
    logical: list[list[_Row]] = []
    for group in groups:
        steps = [upper[0].middle - lower[0].middle for upper, lower in pairwise(group)]
        least = min(steps, default=0.0)
        wide = least > _WIDE_STEP * group[0][0].height
        opens = [wide or step > _WIDER_STEP * least for step in steps]
        if not any(opens):
            opens = [len(row) > 1 and _column_of(row[0], spans) == 0 for row in group[1:]]
        logical += _split_before(group, opens)
    return logical


def _split_before(rows: Sequence[_Row], opens: Sequence[bool]) -> list[list[_Row]]:
    """Return rows in groups, split before each row that opens one; the first is not checked."""
    borders = [0, *(place for place, begins in enumerate(opens, 1) if begins), len(rows)]
    return [list(rows[begin:end]) for begin, end in pairwise(borders)]


@dataclass(slots=True)
class _Column:
    """Lines below each other, with their margins.

    ``segments`` are sorted from top to bottom, and on one line from left to right.
    """

    segments: list[Segment]
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line between the margins of its column."""

    segment: Segment
    column: _Column

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
    """A table row; ``opens`` is true for the first one."""

    cells: _Cells
    opens: bool


Page = list[PdfLine | TableRow]


@dataclass(frozen=True)
class Setting:
    """Font size, weight and line spacing of a document's text.

    Args:
        size: Font size of most of the text.
        bold_heads: Whether bold lines are headings.
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
        size: min(step for step, n in distances.items() if n >= _OFTEN * max(distances.values()))
        for size, distances in counts.items()
    }


def lines_of(
    pages: Sequence[Sequence[Segment]], rules: Sequence[Sequence[float]]
) -> Iterator[Page]:
    """Yield the lines and rows of each page in reading order.

    The pages have no running heads and feet; ``rules`` are the heights of the lines drawn on each.
    """
    laid_out = [_columns(page, _MOST_COLUMNS) for page in pages]
    _widen([column for page in laid_out for column in page])
    for page, drawn in zip(laid_out, rules, strict=True):
        lines: Page = []
        for column in page:
            opens = True
            for item in _find_tables(column.segments, drawn):
                lines.append(
                    PdfLine(item, column) if isinstance(item, Segment) else TableRow(item, opens)
                )
                opens = isinstance(item, Segment)
        yield lines


def _widen(columns: Sequence[_Column]) -> None:
    """Set each column's right margin; columns with the same left margin share the widest.

    All lines of a short column may be narrower than the column.
    """
    long = [column for column in columns if len(column.segments) >= _FEW_LINES]
    for column in columns:
        column.right = _right_margin(column)
    for column in columns:
        if len(column.segments) < _FEW_LINES:
            beside = [o.right for o in long if abs(o.left - column.left) < _SAME_MARGIN]
            column.right = max(column.right, median(beside or [column.right]))


def _right_margin(column: _Column) -> float:
    """Return the farthest edge that many lines of a column reach, or nearly the farthest.

    A table or a formula may reach beyond the margin.
    """
    edges = sorted(segment.right for segment in column.segments)
    counts = Counter(round(edge) for edge in edges)
    least = max(_FEWEST_FLUSH, _FLUSH * len(edges))
    flush = [edge for edge in counts if counts[edge] + counts[edge + 1] >= least]
    return max(flush) + 1.0 if flush else edges[-1 - len(edges) // _OF_LINES]


def _columns(segments: Sequence[Segment], most: int) -> list[_Column]:
    """Return the columns of a page, or of a part of one, in reading order.

    A line across a gutter divides the page: the columns above it come before those below.
    """
    gutter = _gutter(segments) if most > 1 else None
    if gutter is None:
        return [_column(segments)] if segments else []
    columns: list[_Column] = []
    downwards = sorted(segments, key=lambda s: -s.middle)
    for crosses, band in groupby(downwards, lambda s: s.left < gutter < s.right):
        members = list(band)
        if crosses:
            columns.append(_column(members))
            continue
        columns += _columns([s for s in members if s.right <= gutter], most - 1)
        columns += _columns([s for s in members if s.left >= gutter], most - 1)
    joined: list[_Column] = []  # without the borders between bands that only one column has
    for column in columns:
        if joined and (joined[-1].left, joined[-1].right) == (column.left, column.right):
            joined[-1].segments += column.segments
        else:
            joined.append(column)
    return joined


def _column(segments: Sequence[Segment]) -> _Column:
    rows = rows_of(sorted(segments, key=lambda s: (-s.middle, s.left)))
    ordered = [segment for row in rows for segment in sorted(row, key=lambda s: s.left)]
    return _Column(ordered, min(s.left for s in segments), max(s.right for s in segments))


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Return the middle of the white space between two columns; None if there is only one."""
    if len(segments) < 2 * _FEWEST_LINES:
        return None
    first = min(s.left for s in segments)
    width = int(max(s.right for s in segments) - first) + 2
    if not 0 < width < 100_000:
        return None
    crossing = _coverage(segments, first, width)
    for most in sorted(set(crossing[width // 6 : -width // 6]))[:3]:
        gutters = [
            (begin, end)
            for begin, end in _stretches(crossing, most)
            if end - begin >= _NARROWEST_GUTTER
            and _are_columns(segments, first + (begin + end) / 2, most)
        ]
        if gutters:
            begin, end = max(gutters, key=lambda span: span[1] - span[0])
            return first + (begin + end) / 2
    return None


def _coverage(segments: Sequence[Segment], first: float, width: int) -> list[int]:
    """Return how many segments cover each point of the page's width."""
    steps = [0] * (width + 1)
    for segment in segments:
        steps[max(0, int(segment.left - first))] += 1
        steps[min(width, int(segment.right - first) + 1)] -= 1
    return list(accumulate(steps[:-1]))


def _stretches(crossing: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield the spans covered by at most some segments that do not touch a margin."""
    end = 0
    for few, counts in groupby(crossing, lambda count: count <= most):
        begin, end = end, end + len(list(counts))
        if few and begin > 0 and end < len(crossing):
            yield begin, end


def _are_columns(segments: Sequence[Segment], gutter: float, crossing: int) -> bool:
    """Return whether the two sides are columns of text, not a table or items' numbers.

    Files draw a column from top to bottom, and a table row by row. If a file draws lines across
    both columns, these are recognised by the lines that reach their margins.
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
