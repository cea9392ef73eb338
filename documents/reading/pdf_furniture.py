"""Running heads, running feet and page numbers, which are no part of a document's text."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lexloop.documents.reading.pdf_page import Segment, Sheet, rows_of
from lexloop.documents.structure.markers import word_marker

_BAND = 0.16
"""Heads and feet lie within this share of the page's height, at its top and bottom."""
_OUTERMOST = 5
_SLOT = 4.0
"""Lines whose distance from the page's edge differs by less, in points, have the same place."""
_RECUR, _FEW_PAGES = 3, 4
_MOST_OF_PLACE = 0.5
_NEARLY_ALL, _OF_PAGES = 0.8, 0.6
_APART = 0.5
"""A place is apart from the text if so many heights of its line lie between."""
_SMALLER = 0.93
_MOST_OF_PAGE = 0.3
_NUMBER = re.compile(r"\d+")
_BARE = re.compile(
    r"[\W_]*(?:page|p\.|pg\.?|seite)?\s*#(?:\s*(?:of|/|von)\s*\d+)?[\W_]*|[\W_]*[ivxlc]{1,7}[\W_]*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Outer:
    """A segment near an edge of its page.

    Args:
        sheet: Its page, from 0.
        side: ``top`` or ``bottom``.
        slot: Its distance from the edge, in units of ``_SLOT``.
        row: The number of lines between it and the edge.
        apart: Whether white space parts it from the text.
        small_head: Whether it stands first on the page, apart from larger text.
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
    found = [outer for n, sheet in enumerate(sheets) for outer in _outer(n, sheet)]
    shift = _shift(found)
    places: dict[tuple[str, int], list[_Outer]] = defaultdict(list)
    for outer in found:
        outer.key = _without_number(outer.key, str(outer.sheet + shift))
        for near in (0, 1):  # a place at the border of two is in both
            places[outer.side, outer.slot + near].append(outer)
    dropped = {
        id(outer.segment) for lines in places.values() for outer in _furniture(lines, sheets)
    }
    for outer in found:
        numbered = "#" in outer.key or shift > 0
        if outer.small_head or (numbered and outer.apart and _BARE.fullmatch(outer.key)):
            dropped.add(id(outer.segment))
    dropped = _outermost(found, dropped)
    kept = [[s for s in sheet.segments if id(s) not in dropped] for sheet in sheets]
    return kept if any(kept) else [sheet.segments for sheet in sheets]


def _outer(number: int, sheet: Sheet) -> Iterator[_Outer]:
    """Yield the outermost lines of a page, as far as they lie in the bands at its edges."""
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
            small = any(largest <= _SMALLER * min(s.size for s in o) for o in following)
            small_head = (side, place) == ("top", 0) and small and apart
            for s in row:
                yield _Outer(number, s, side, int(away / _SLOT), place, apart, small_head, s.text)


def _shift(found: Sequence[_Outer]) -> int:
    """Return the difference between the number printed on a page and its place."""
    votes = Counter(
        int(number) - outer.sheet
        for outer in found
        for number in set(_NUMBER.findall(outer.key))
        if len(number) <= 5 and word_marker(outer.key) is None
    )
    shift, pages = votes.most_common(1)[0] if votes else (1, 0)
    return shift if pages >= _RECUR or (pages == len({o.sheet for o in found}) > 1) else 1


def _without_number(text: str, page: str) -> str:
    """Return a text with a mark for the page's number; "Article 5" is no page's number."""
    marker = word_marker(text)
    begin = marker.end if marker else 0
    return text[:begin] + _NUMBER.sub(
        lambda found: "#" if found[0].lstrip("0") == page else found[0], text[begin:]
    )


def _furniture(lines: Sequence[_Outer], sheets: Sequence[Sheet]) -> Iterator[_Outer]:
    """Yield those of the lines at one place that are furniture."""
    keys = Counter(key for key, _ in {(outer.key, outer.sheet) for outer in lines})
    least = _RECUR if len(sheets) > _FEW_PAGES else 2
    recurring = [o for o in lines if keys[o.key] >= (least if o.apart else _RECUR)]
    held = {outer.sheet for outer in lines}
    share = len({outer.sheet for outer in recurring}) / len(held)
    if share >= _MOST_OF_PLACE:
        yield from recurring
    sizes = {outer.segment.size for outer in recurring}
    if share >= _NEARLY_ALL:
        yield from (outer for outer in lines if outer.segment.size in sizes and outer.apart)
    alone = sum(outer.apart for outer in lines) >= _NEARLY_ALL * len(lines)
    whole = sum(len(segment.text) for n in held for segment in sheets[n].segments)
    few = sum(len(outer.segment.text) for outer in lines) <= _MOST_OF_PAGE * whole
    if alone and few and len(held) >= max(_FEW_PAGES, _OF_PAGES * len(sheets)):
        yield from (outer for outer in lines if _may_run(outer, lines))


def _may_run(outer: _Outer, lines: Sequence[_Outer]) -> bool:
    """Return whether a line that recurs nowhere may be a running head of its page's provisions.

    Such heads change from page to page, but never in size or weight.
    """
    alike = sum(other.font == outer.font for other in lines)
    opens = word_marker(outer.key) is not None and len({o.key for o in lines}) == len(lines)
    return alike >= _NEARLY_ALL * len(lines) and not opens


def _outermost(found: Sequence[_Outer], dropped: set[int]) -> set[int]:
    """Return the segments beyond all the text of their page."""
    furniture: set[int] = set()
    inner: tuple[int, str] | None = None
    for (sheet, side, _), row in groupby(found, lambda o: (o.sheet, o.side, o.row)):
        held = list(row)
        ids = {id(outer.segment) for outer in held}
        # what stands beside a page's number is no text either
        if (sheet, side) != inner and (ids <= dropped or (ids & dropped and held[0].apart)):
            furniture |= ids
        else:
            inner = sheet, side
    return furniture
