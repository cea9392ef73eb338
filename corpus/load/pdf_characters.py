"""The characters of one page of a PDF, as PDFium gives them."""

import ctypes
import math
import re
from array import array
from collections import deque
from functools import cache
from itertools import compress, repeat
from operator import le
from typing import Any, NamedTuple

from lexloop.corpus.load.encoding import printable
from lexloop.corpus.load.hyphens import HYPHEN
from lexloop.corpus.load.pdf_segment import Segment

MARKS_OF_BREAK = "\x02\ufffe\xad"
"""PDFium's signs for a hyphen at the end of a line, and the soft hyphen."""
_SOFT_HYPHEN = "\xad"
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD_WEIGHT = 600
_LONGEST_NAME = 128
_FARTHEST = 100_000.0
"""No page is so large, in points: what stands beyond stands nowhere."""

Word = tuple[int, int]
"""Its first character, and the one behind its last."""


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


class Characters:
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
            if word[-1] in MARKS_OF_BREAK:
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
