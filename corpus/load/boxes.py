"""Where the characters of a document stand on its pages, kept in few bytes."""

import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, repeat
from operator import mul, sub
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document

_TENTHS = 10
"""Places are kept in tenths of a point."""
_FIELDS = 6
_WIDEST = (1 << 15) - 1
_LEVEL = 1


class Box(NamedTuple):
    """A rectangle on a page, in points from the lower left corner of the page as it shows.

    Args:
        page: From 1.
        x0: Left.
        y0: Bottom.
        x1: Right.
        y1: Top.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Run(NamedTuple):
    """Characters that stand on one line.

    Args:
        start: The first one's offset in the document's text.
        page: From 1.
        bottom: In points.
        top: In points.
        edges: Where each character begins, and where the last one ends.
    """

    start: int
    page: int
    bottom: float
    top: float
    edges: Sequence[float]


def encode_runs(runs: Sequence[Run]) -> bytes:
    """Runs in the order of their offsets, packed; nothing where there are none."""
    if not runs:
        return b""
    table, steps = array("i", [len(runs)]), array("h")
    for run in runs:
        edges = list(map(int, map(mul, run.edges, repeat(_TENTHS))))
        place = (run.page, int(run.bottom * _TENTHS), int(run.top * _TENTHS))
        table.extend((run.start, *place, edges[0], len(edges) - 1))
        widths = list(map(sub, edges[1:], edges))
        if min(widths) < -_WIDEST or max(widths) > _WIDEST:
            widths = [max(-_WIDEST, min(_WIDEST, width)) for width in widths]
        steps.extend(widths)
    return zlib.compress(_portable(table).tobytes() + _portable(steps).tobytes(), _LEVEL)


def _portable(numbers: "array[int]") -> "array[int]":
    """The same numbers in the order of bytes that is kept: little end first."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Boxes:
    """The boxes of one document's characters.

    Args:
        packed: What ``encode_runs`` gave; nothing for a document without pages.

    Raises:
        CorpusError: It is damaged.
    """

    def __init__(self, packed: bytes) -> None:
        numbers, widths = array("i"), array("h")
        try:
            data = zlib.decompress(packed) if packed else bytes(numbers.itemsize)
            numbers.frombytes(data[: numbers.itemsize])
            behind = numbers.itemsize * (1 + _FIELDS * _portable(numbers)[0])
            numbers = array("i", data[numbers.itemsize : behind])
            widths.frombytes(data[behind:])
        except (zlib.error, ValueError, IndexError) as error:
            raise CorpusError(f"A map of boxes is damaged: {error}.", "Index anew.") from error
        self._widths, held = _portable(widths), _portable(numbers)
        self._starts, self._pages, self._bottoms = (
            held[0::_FIELDS],
            held[1::_FIELDS],
            held[2::_FIELDS],
        )
        self._tops, self._lefts = held[3::_FIELDS], held[4::_FIELDS]
        self._places = [0, *accumulate(held[5::_FIELDS])]
        if self._places[-1] != len(widths):
            raise CorpusError("A map of boxes is damaged: it is too short.", "Index anew.")

    def of(self, start: int, end: int) -> list[Box]:
        """One box for each line that a span touches; none where it shows on no page.

        Args:
            start: Offset into the document's text.
            end: Half-open.
        """
        found: list[Box] = []
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._starts)):
            first = self._starts[number]
            if first >= end:
                break
            widths = self._widths[self._places[number] : self._places[number + 1]]
            edges = list(accumulate(widths, initial=self._lefts[number]))
            begin, stop = max(start - first, 0), min(end - first, len(edges) - 1)
            if begin >= stop:
                continue
            left, right = sorted((edges[begin], edges[stop]))
            bounds = (left, self._bottoms[number], right, self._tops[number])
            x0, y0, x1, y1 = (bound / _TENTHS for bound in bounds)
            found.append(Box(self._pages[number], x0, y0, x1, y1))
        return found


def boxes_of(document: Document, start: int, end: int) -> list[Box]:
    """Return where the words of a document stand: one box for each line that they touch.

    Args:
        document: Of a format that has pages.
        start: Offset into its text.
        end: Half-open.

    Raises:
        CorpusError: The document's map of boxes is damaged.
    """
    return Boxes(document.boxes).of(start, end)
