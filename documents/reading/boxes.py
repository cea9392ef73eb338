"""A compact map from the characters of a document to their places on its pages."""

import sys
import zlib
from array import array
from collections.abc import Sequence
from itertools import repeat
from operator import mul, sub
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.document import Document

_TENTHS = 10
"""Places are stored in tenths of a point."""
_FIELDS = 6
_WIDEST = (1 << 15) - 1
_LEVEL = 1


class Box(NamedTuple):
    """A rectangle on a page, from 1, in points from the lower left corner of the page as it shows.

    It reaches from ``x0`` and ``y0``, its left and its bottom, to ``x1`` and ``y1``.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class CharacterRun(NamedTuple):
    """Characters that stand on one line, measured as for ``Box``.

    ``start`` is the first one's offset in the document's text; ``edges`` say where each character
    begins, and where the last one ends.
    """

    start: int
    page: int
    bottom: float
    top: float
    edges: Sequence[float]


def encode_runs(runs: Sequence[CharacterRun]) -> bytes:
    """Pack runs, which are in the order of their offsets; empty where there are none."""
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
    if sys.byteorder == "big":  # what is kept has its little end first
        table.byteswap()
        steps.byteswap()
    return zlib.compress(table.tobytes() + steps.tobytes(), _LEVEL)


def boxes_of(document: Document, start: int, end: int) -> list[Box]:
    """Return the places of a span of the text: one box for each line that it touches.

    A document of a format without pages has none.

    Raises:
        CorpusError: The document's map of boxes is damaged.
    """
    import numpy as np  # a worker writes maps, and has no use for it

    if not document.boxes:
        return []
    try:
        data = zlib.decompress(document.boxes)
        count = int(np.frombuffer(data, "<i4", 1)[0])
        table = np.frombuffer(data, "<i4", _FIELDS * count, 4).reshape(count, _FIELDS)
        widths = np.frombuffer(data, "<i2", -1, table.nbytes + 4)
    except (zlib.error, ValueError) as error:
        raise CorpusError(f"A map of boxes is damaged: {error}.", "Index anew.") from error
    places = [0, *np.cumsum(table[:, -1]).tolist()]
    if places[-1] != len(widths):
        raise CorpusError("A map of boxes is damaged: it is too short.", "Index anew.")
    found: list[Box] = []
    number = max(0, int(np.searchsorted(table[:, 0], start, "right")) - 1)
    for first, page, bottom, top, left, length in table[number:].tolist():
        begin, stop = max(start - first, 0), min(end - first, length)
        if first >= end:
            break
        if begin < stop:
            steps = np.cumsum([left, *widths[places[number] : places[number + 1]]])
            x0, x1 = sorted((int(steps[begin]), int(steps[stop])))
            found.append(Box(page, *(bound / _TENTHS for bound in (x0, bottom, x1, top))))
        number += 1
    return found
