"""Where the characters of a document stand on its pages, kept in few bytes."""

import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from lexloop.core.errors import CorpusError

_TENTHS = 10
"""Places are kept in tenths of a point."""
_FIELDS = 5
_INT = array("i").itemsize


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
    table, steps = array("i", [len(runs)]), array("i")
    for run in runs:
        edges = [round(edge * _TENTHS) for edge in run.edges]
        bottom, top = round(run.bottom * _TENTHS), round(run.top * _TENTHS)
        table.extend((run.start, run.page, bottom, top, len(edges)))
        steps.append(edges[0])
        steps.extend(b - a for a, b in pairwise(edges))
    table.extend(steps)
    return zlib.compress(_portable(table).tobytes(), 6)


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
        numbers: array[int] = array("i")
        try:
            data = zlib.decompress(packed) if packed else b""
            numbers.frombytes(data)
        except (zlib.error, ValueError) as error:
            raise CorpusError(f"A map of boxes is damaged: {error}.", "Index anew.") from error
        _portable(numbers)
        count = numbers[0] if numbers else 0
        held = numbers[1 : 1 + _FIELDS * count]
        if len(held) != _FIELDS * count or sum(held[4::_FIELDS]) != len(numbers[1 + len(held) :]):
            raise CorpusError("A map of boxes is damaged: it is too short.", "Index anew.")
        self._starts, self._pages = held[0::_FIELDS], held[1::_FIELDS]
        self._bottoms, self._tops = held[2::_FIELDS], held[3::_FIELDS]
        self._places = [0, *accumulate(held[4::_FIELDS])]
        self._steps = numbers[1 + len(held) :]

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
            edges = list(accumulate(self._steps[self._places[number] : self._places[number + 1]]))
            begin, stop = max(start - first, 0), min(end - first, len(edges) - 1)
            if begin >= stop:
                continue
            bounds = (edges[begin], self._bottoms[number], edges[stop], self._tops[number])
            x0, y0, x1, y1 = (bound / _TENTHS for bound in bounds)
            found.append(Box(self._pages[number], x0, y0, x1, y1))
        return found
