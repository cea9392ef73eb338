"""What one page of a PDF shows: words put together to segments, and rules."""

import ctypes
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from lexloop.corpus.load.pdf_characters import MARKS_OF_BREAK, Characters, Word
from lexloop.corpus.load.pdf_segment import SAME_LINE, Segment, Sheet

LIST_MARK = re.compile(
    r"(?:\(\w{1,5}\)){1,3}|\d{1,3}[.)]|[a-zA-Z][.)]|[ivx]{1,5}[.)]|\d+(?:\.\d+){1,4}\.?|[–—•·▪◦●*○-]"
    r"|§§?\s?\w+(?:\.\w+)*\.?"
)
_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufffe\uffff]+(?:[\x02\ufffe]|\xad(?=\s|$))?")
_GAP, _WIDEST_GAP, _TIMES_USUAL = 0.7, 2.5, 2.2
"""A gap of so many heights of the line parts columns or cells; in justified text, of so many times
the line's usual gap; never a narrower one, always a wider one."""
_FURTHEST_ITEM = 8.0
_SHORTEST_RULE = 20.0


def read_sheet(page: Any, content: Any, number: int) -> Sheet:
    """Read what a page shows.

    Args:
        page: PDFium's page.
        content: The page's text, as PDFium loaded it.
        number: Which page it is, from 0.
    """
    from pypdfium2 import raw

    _, height = page.get_size()
    chars = Characters(page, content)
    segments: list[Segment] = []
    for line in _lines(chars):
        before: Segment | None = None
        for words in _parts(chars, line):
            segment = chars.segment(words, number)
            if before is not None and _marks_item(before, segment):
                segments[-1] = segment = before.followed_by(segment)
            else:
                segments.append(segment)
            before = segment
    rules = list(_rules(page)) if segments else []
    return Sheet(height, segments, rules, raw.FPDFPage_CountObjects(page) > 0)


def _lines(chars: Characters) -> Iterator[list[Word]]:
    """Words that stand on one line and follow each other in the file."""
    left, right, bottoms, tops = chars.left, chars.right, chars.bottom, chars.top
    line: list[Word] = []
    low = high = reached = 0.0
    broken = False
    for found in _WORD.finditer(chars.text):
        start, end = found.span()
        bottom, top = bottoms[start], tops[start]
        if line:
            height = min(high - low, top - bottom)
            shared = min(high, top) - max(low, bottom)
            if broken or shared <= SAME_LINE * height or left[start] < reached - 0.5 * height:
                yield line
                line = []
        line.append((start, end))
        low, high, reached = bottom, top, right[end - 1]
        broken = chars.text[end - 1] in MARKS_OF_BREAK
    if line:
        yield line


def _parts(chars: Characters, line: list[Word]) -> Iterator[list[Word]]:
    """A line, parted at its wide gaps."""
    first = line[0][0]
    height = chars.top[first] - chars.bottom[first]
    gaps = [chars.left[start] - chars.right[end - 1] for (_, end), (start, _) in pairwise(line)]
    widest = max(gaps, default=0.0)
    if widest <= _GAP * height:
        yield line
        return
    usual = sorted(gaps)[(len(gaps) - 1) // 4] if len(gaps) > 1 else 0.0
    least = min(_WIDEST_GAP * height, max(_GAP * height, _TIMES_USUAL * usual))
    begin = 0
    for number, gap in enumerate(gaps, 1):
        if gap > least:
            yield line[begin:number]
            begin = number
    yield line[begin:]


def _marks_item(marker: Segment, text: Segment) -> bool:
    """Whether a segment is the number of the item whose words stand behind a gap."""
    near = text.left - marker.right < _FURTHEST_ITEM * marker.size
    return near and LIST_MARK.fullmatch(marker.text) is not None


def _rules(page: Any) -> Iterator[float]:
    """How high drawn lines, and the upper and lower edges of drawn boxes, stand."""
    from pypdfium2 import raw

    edges = [ctypes.c_float() for _ in range(4)]
    for i in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, i)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if raw.FPDFPageObj_GetBounds(drawn, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            if right - left >= _SHORTEST_RULE:
                yield from {round(bottom, 1), round(top, 1)}
