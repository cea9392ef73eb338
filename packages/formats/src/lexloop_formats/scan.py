"""Pages that are pictures: what was recognised on them becomes segments, as a PDF's own text is."""

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from lexloop.core.errors import CorpusError
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.pdf import Picture
from lexloop.documents.reading.pdf_page import Segment, Sheet, Turn, add_line, parted
from lexloop.documents.reading.source import PageRead
from lexloop.documents.reading.text import printable
from lexloop_formats.recognising import NEEDED, Line, Word, is_available, recognise

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_SCANS = 1000
"""Pages of one file that are recognised, each of which may take a minute."""
_MOST_VAIN = 50
"""Pages in a row without any text, after which the rest of a file is not tried."""
_ASCENT, _DESCENT = 0.95, 0.22
_SIZES = 1.15
"""Sizes of fonts are as the text's, or so many times larger or smaller: they are estimates."""
_TENTHS = 10


def advice(pages: int) -> str:
    """Return why pages of a file, which has so many, may not have been read; "" if nothing is."""
    if not is_available():
        return NEEDED
    return f"Only {MOST_SCANS} are recognised." if pages > MOST_SCANS else ""


def read_scans(
    numbers: Sequence[int], draw: Callable[[int], Picture], name: str, sheets: dict[int, Sheet]
) -> Iterator[PageRead | SkippedSource]:
    """Recognise pages, which are numbered from 0, and put them into ``sheets``.

    Nothing is done if nothing here recognises text, and no more than ``MOST_SCANS`` are read.

    Yields:
        A mark before the first and behind each, each that cannot be read, and how many were not
        tried because too many before them held no text.
    """
    if not is_available():
        return
    numbers, vain = numbers[:MOST_SCANS], 0
    yield PageRead(0, len(numbers))
    for done, number in enumerate(numbers, 1):
        vain += 1
        try:
            sheets[number] = _sheet(*draw(number), number)
            vain = 0 if sheets[number].segments else vain
        except CorpusError as error:
            yield SkippedSource(name, f"Page {number + 1} of {name} cannot be read. {error.what}")
        yield PageRead(done, len(numbers))
        if vain == _MOST_VAIN and done < len(numbers):
            left = len(numbers) - done
            why = f"the {vain} before them contain no text"
            yield SkippedSource(name, f"{left} pages of {name} were not tried: {why}.")
            return


def even(sheets: Sequence[Sheet]) -> None:
    """Give all recognised text that is nearly of one size this size."""
    found = [s for sheet in sheets for s in sheet.segments if s.sure is not None]
    by_size = sorted((s.size, len(s.text)) for s in found)
    half, usual = sum(length for _, length in by_size) / 2, 0.0
    for size, length in by_size:
        half, usual = half - length, size
        if half <= 0:
            break
    for segment in found:
        times = round(math.log(segment.size / usual, _SIZES))
        segment.size = round(usual * _SIZES**times, 1)


def _sheet(picture: "Image", size: tuple[float, float], number: int) -> Sheet:
    """Return a page read off its picture; single signs alone are no text, but what is drawn."""
    found = recognise(picture)
    said = (printable(word.text).strip() for line in found.lines for word in line.words)
    lines = found.lines if any(len(text) > 1 for text in said) else []
    scale = size[0] / found.page[0]
    width, height = (edge * scale for edge in found.upright)
    segments: list[Segment] = []
    for line in lines:
        words = [word for word in line.words if printable(word.text).strip()]
        gaps = [after.left - before.right for before, after in pairwise(words)]
        parts = parted(words, gaps, line.size * (_ASCENT + _DESCENT)) if words else iter(())
        add_line(segments, (_segment(part, line, number, scale, height) for part in parts))
    turn = Turn(found.angle, size, (width, height)) if found.angle else None
    return Sheet(height, segments, [], bool(segments), turn)


def _segment(words: Sequence[Word], line: Line, page: int, scale: float, height: float) -> Segment:
    """Return words as a segment, in points from the lower left corner of the upright page."""
    texts, edges = [], array("f")
    for word in words:
        text = printable(word.text).strip()
        step = (word.right - word.left) / len(text)
        edges.extend((word.left + n * step) * scale for n in range(len(text)))
        edges.append(word.right * scale)
        texts.append(text)
    base, size = height - line.base * scale, max(line.size * scale, 1 / _TENTHS)
    sure = fmean((word.sure for word in words), [len(word.text) for word in words])
    bottom, top = base - _DESCENT * size, base + _ASCENT * size
    return Segment(
        page, 0, " ".join(texts), edges, bottom, top, round(size, 1), False, edges[0], sure
    )
