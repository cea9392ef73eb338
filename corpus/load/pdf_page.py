"""What one page of a PDF shows: runs of text with the place of every character, and rules."""

import ctypes
import math
import re
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import compress, pairwise, repeat
from operator import le
from typing import Any, NamedTuple

from lexloop.corpus.load.cleaning import printable
from lexloop.corpus.load.hyphens import HYPHEN

_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufffe\uffff]+(?:[\x02\ufffe]|\xad(?=\s|$))?")
_SOFT_HYPHEN = "\xad"
_MARKS_OF_BREAK = "\x02\ufffe\xad"
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD_WEIGHT = 600
_LONGEST_NAME = 128
_SAME_LINE = 0.5
"""The share of a word's height that it must share with the word before to stand on its line."""
_GAP, _WIDEST_GAP, _TIMES_USUAL = 0.7, 2.5, 2.2
"""A gap of so many heights of the line parts columns or cells; in justified text, of so many times
the line's usual gap; never a narrower one, always a wider one."""
LIST_MARK = re.compile(
    r"(?:\(\w{1,5}\)){1,3}|\d{1,3}[.)]|[a-zA-Z][.)]|[ivx]{1,5}[.)]|\d+(?:\.\d+){1,4}\.?|[–—•·▪◦●*○-]"
    r"|§§?\s?\w+(?:\.\w+)*\.?"
)
_FURTHEST_ITEM = 8.0
_SHORTEST_RULE = 20.0
_FARTHEST = 100_000.0
"""No page is so large, in points: what stands beyond stands nowhere."""

Word = tuple[int, int]
"""Its first character, and the one behind its last."""


@dataclass(slots=True)
class Segment:
    """Text that stands on one line without a wide gap, in points from the lower left corner.

    Args:
        page: Its page, from 0.
        text: Words with single blanks between; ``HYPHEN`` at the end where a word was broken.
        edges: Where each character begins, and where the last ends.
        bottom: Of its line, descenders included.
        top: Of its line, ascenders included.
        size: Of its font, as it shows.
        bold: Whether it is bold from its first to its last character.
        hang: Where the words behind its list marker begin; the beginning where it has none.
    """

    page: int
    text: str
    edges: "array[float]"
    bottom: float
    top: float
    size: float
    bold: bool
    hang: float

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.edges[0]

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.edges[-1]

    def level_with(self, other: "Segment") -> bool:
        """Whether both stand on the same line."""
        shared = min(self.top, other.top) - max(self.bottom, other.bottom)
        return shared > _SAME_LINE * min(self.top - self.bottom, other.top - other.bottom)

    def parted(self, at: int) -> tuple["Segment", "Segment"]:
        """What stands in front of the word that begins at an index of the text, and the rest."""
        return (
            replace(self, text=self.text[: at - 1], edges=self.edges[:at]),
            replace(self, text=self.text[at:], edges=self.edges[at:], hang=self.edges[at]),
        )

    def followed_by(self, other: "Segment") -> "Segment":
        """Both as one, with a blank between."""
        return Segment(
            self.page,
            f"{self.text} {other.text}",
            self.edges + other.edges,
            min(self.bottom, other.bottom),
            max(self.top, other.top),
            other.size if len(other.text) > len(self.text) else self.size,
            self.bold and other.bold,
            other.left,
        )


@dataclass(slots=True)
class Sheet:
    """A page as it shows.

    Args:
        height: In points.
        segments: In the order in which the file draws them.
        rules: How high the lines and edges of boxes that it draws stand.
        shows: Whether it shows anything at all.
    """

    height: float
    segments: list[Segment]
    rules: list[float] = field(default_factory=list)
    shows: bool = True


class _Functions(NamedTuple):
    """PDFium's functions, called with addresses: a call for each character must cost little."""

    unicode: Any
    box: Any
    tight: Any


@cache
def _functions() -> _Functions:
    from pypdfium2 import raw

    pointer, number = ctypes.c_void_p, ctypes.c_int
    box = ctypes.CFUNCTYPE(number, pointer, number, pointer)
    tight = ctypes.CFUNCTYPE(number, pointer, number, pointer, pointer, pointer, pointer)
    return _Functions(
        ctypes.cast(raw.FPDFText_GetUnicode, ctypes.CFUNCTYPE(ctypes.c_uint, pointer, number)),
        ctypes.cast(raw.FPDFText_GetLooseCharBox, box),
        ctypes.cast(raw.FPDFText_GetCharBox, tight),
    )


def read_sheet(page: Any, content: Any, number: int) -> Sheet:
    """Read what a page shows.

    Args:
        page: PDFium's page.
        content: The page's text, as PDFium loaded it.
        number: Which page it is, from 0.
    """
    from pypdfium2 import raw

    _, height = page.get_size()
    chars = _Characters(page, content)
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


class _Characters:
    """The characters of a page and their boxes, as columns.

    Args:
        page: PDFium's page.
        content: Its text.
    """

    def __init__(self, page: Any, content: Any) -> None:
        from pypdfium2 import raw

        self._content = content
        self._matrix, self._flags = raw.FS_MATRIX(), ctypes.c_int()
        self._name = ctypes.create_string_buffer(_LONGEST_NAME)
        count = content.count_chars()
        address = ctypes.cast(content.raw, ctypes.c_void_p).value
        functions = _functions()
        text: str = content.get_text_range()
        if len(text) != count:  # PDFium leaves out what has no character
            text = "".join(map(chr, map(functions.unicode, repeat(address), range(count))))
        self.text = text.replace(HYPHEN, _SOFT_HYPHEN)
        self._unprintable = {c for c in set(self.text) if not c.isspace() and not printable(c)}
        boxes = (ctypes.c_float * (4 * count))()
        at = ctypes.addressof(boxes)
        places = range(at, at + 16 * count, 16)
        deque(map(functions.box, repeat(address), range(count), places), maxlen=0)
        flat: list[float] = list(array("f", bytes(boxes)))
        if not (math.isfinite(sum(flat)) and max(map(abs, flat), default=0.0) <= _FARTHEST):
            flat = [place if abs(place) <= _FARTHEST else 0.0 for place in flat]
        self.left, self.top, self.right, self.bottom = (flat[i::4] for i in range(4))
        self._mend(address)
        self._turn(page)

    def _mend(self, address: int | None) -> None:
        """Give turned characters, which have no loose box, the box of their ink."""
        box = (ctypes.c_double * 4)()
        at = ctypes.addressof(box)
        for i in compress(range(len(self.text)), map(le, self.right, self.left)):
            if self.text[i] > " ":
                _functions().tight(address, i, at, at + 8, at + 16, at + 24)
                self.left[i], self.right[i], self.bottom[i], self.top[i] = box

    def _turn(self, page: Any) -> None:
        """Measure from the lower left corner of the page as it shows."""
        x0, y0, x1, y1 = page.get_bbox()
        left, right, bottom, top = self.left, self.right, self.bottom, self.top
        match page.get_rotation():
            case 90:
                left, right = [y - y0 for y in bottom], [y - y0 for y in top]
                bottom, top = [x1 - x for x in self.right], [x1 - x for x in self.left]
            case 180:
                left, right = [x1 - x for x in self.right], [x1 - x for x in self.left]
                bottom, top = [y1 - y for y in self.top], [y1 - y for y in self.bottom]
            case 270:
                left, right = [y1 - y for y in top], [y1 - y for y in bottom]
                bottom, top = [x - x0 for x in self.left], [x - x0 for x in self.right]
            case _ if x0 or y0:
                left, right = [x - x0 for x in left], [x - x0 for x in right]
                bottom, top = [y - y0 for y in bottom], [y - y0 for y in top]
        self.left, self.right, self.bottom, self.top = left, right, bottom, top

    def segment(self, words: list[Word], page: int) -> Segment:
        """Words of one line as a segment, with the font of its characters."""
        texts, edges = [], array("f")
        for start, end in words:
            word = self.text[start:end]
            if word[-1] in _MARKS_OF_BREAK:
                word = word[:-1] + HYPHEN
            places = self.left[start:end]
            if self._unprintable and not self._unprintable.isdisjoint(word):
                kept = [(c, x) for c, x in zip(word, places, strict=True) if printable(c)]
                word, places = printable(word), [x for _, x in kept]
            texts.append(word)
            edges.extend(places)
            edges.append(self.right[end - 1])
        first, last = words[0][0], words[-1][1] - 1
        size, bold = self._font(max(words, key=lambda word: word[1] - word[0])[0])
        bold = bold and self._font(first)[1] and self._font(last)[1]
        bottom, top = self._line(words[0])
        return Segment(page, " ".join(texts), edges, bottom, top, size, bold, edges[0])

    def _line(self, word: Word) -> tuple[float, float]:
        start, end = word
        return min(self.bottom[start:end]), max(self.top[start:end])

    def _font(self, index: int) -> tuple[float, bool]:
        """The size of a character as it shows, and whether it is bold."""
        from pypdfium2 import raw

        matrix, flags, name = self._matrix, self._flags, self._name
        size = float(raw.FPDFText_GetFontSize(self._content, index))
        if raw.FPDFText_GetMatrix(self._content, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        raw.FPDFText_GetFontInfo(self._content, index, name, _LONGEST_NAME, flags)
        weight = raw.FPDFText_GetFontWeight(self._content, index)
        return round(size, 1), weight >= _BOLD_WEIGHT or _BOLD.search(name.value) is not None


def _lines(chars: _Characters) -> Iterator[list[Word]]:
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
            if broken or shared <= _SAME_LINE * height or left[start] < reached - 0.5 * height:
                yield line
                line = []
        line.append((start, end))
        low, high, reached = bottom, top, right[end - 1]
        broken = chars.text[end - 1] in _MARKS_OF_BREAK
    if line:
        yield line


def _parts(chars: _Characters, line: list[Word]) -> Iterator[list[Word]]:
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
