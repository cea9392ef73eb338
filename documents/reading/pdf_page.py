"""One page of a PDF: segments of text with the places of the characters, and drawn rules."""

import ctypes
import math
import re
import unicodedata
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress, groupby, pairwise, repeat
from operator import le, sub
from typing import Any, NamedTuple, TypeVar

from lexloop.documents.reading.pdf_leftward import is_leftward, reading_order
from lexloop.documents.reading.text import printable

HYPHEN = "\ue000"
"""Placeholder for a hyphen at a line end, until it is known whether the word keeps it."""
LIST_MARK = re.compile(
    r"(?:\(\w{1,5}\)){1,3}|\d{1,3}[.)]|[a-zA-Z][.)]|[ivx]{1,5}[.)]|\d+(?:\.\d+){1,4}\.?|[–—•·▪◦●*○-]"
    r"|§§?\s?\w+(?:\.\w+)*\.?"
)
_MARKS_OF_BREAK = "\x02\ufffe\xad"
"""PDFium's signs for a hyphen at the end of a line, and the soft hyphen."""
_SOFT_HYPHEN = "\xad"
_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufffe\uffff]+(?:[\x02\ufffe]|\xad(?=\s|$))?")
_CLUSTER = re.compile("[^\u0300-\u036f\u200c\u200d][\u0300-\u036f\u200c\u200d]*|.")
"""A character with its accents and joiners."""
_BOLD = (b"bold", b"black", b"heavy", b"demi")
_BOLD_WEIGHT = 600
_LONGEST_NAME = 128
_FARTHEST = 100_000.0
"""In points. Larger coordinates are errors, since no page is so large."""
_SAME_LINE = 0.5
"""The share of its height that text on one line must have in common."""
GAP, _WIDEST_GAP, _TIMES_USUAL = 0.7, 2.5, 2.2
"""In line heights: a wider gap than the first may separate columns or cells; in justified text it
must be so many times the line's usual gap; a gap wider than the second always does.
"""
_FURTHEST_ITEM = 8.0
_SHORTEST_RULE = 20.0
_RAISED, _SMALL = 0.15, 0.85
"""A character is raised if it is smaller than its line by one share, and begins higher by the
other.
"""
_NOTE_MARK = re.compile(
    r"[(\[]?\s?(?P<mark>\d{1,3}(?!\d)|[a-z](?!\w)|[*†‡§¶]{1,4})(?:\s?[)\]])?[.:]?\s*"
)
_LENGTH = re.compile(r"(?<![^\W\d_])[cdkm]?m$")
_ASKEW = 0.2
"""In quarters of a turn. Text at a greater angle to the rest of its page is left out."""
_LITTLE, _MOSTLY_PICTURE, _TRIED = 200, 0.5, 200
"""On a page that is mostly a picture, less text than this many characters may be a stamp on a scan.
"""

T = TypeVar("T")
Word = tuple[int, int]
"""Indices of the first character and after the last."""


@dataclass(slots=True)
class Segment:
    """Text on one line without a wide gap, in points from the lower left corner.

    Args:
        page: Its page, from 0.
        order: Index among the segments of the page, in drawing order.
        text: Words separated by single blanks; ends with ``HYPHEN`` if a word was broken.
        edges: Left edge of each character, and right edge of the last.
        bottom: Bottom of its line, including descenders.
        top: Top of its line, including ascenders.
        size: Font size as shown.
        bold: Whether all characters are bold.
        hang: Left edge of the text after the list marker; the segment's left edge without a marker.
        sure: Confidence of recognised text, from 0 to 1; None if the text was written in the file.
        raised: Spans of small characters above the line, possible marks of footnotes.
        notes: Marks of footnotes that were removed, each with its offset.
    """

    page: int
    order: int
    text: str
    edges: "array[float]"
    bottom: float
    top: float
    size: float
    bold: bool
    hang: float
    sure: float | None = None
    raised: tuple[Word, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()

    @property
    def left(self) -> float:
        """The left edge of its first character."""
        return self.edges[0]

    @property
    def right(self) -> float:
        """The right edge of its last character."""
        return self.edges[-1]

    @property
    def height(self) -> float:
        """The height of its line."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """The vertical middle of its line."""
        return (self.top + self.bottom) / 2

    def level_with(self, other: "Segment") -> bool:
        """Return whether both are on the same line."""
        shared = min(self.top, other.top) - max(self.bottom, other.bottom)
        return shared > _SAME_LINE * min(self.height, other.height)

    def marks(self, other: "Segment") -> bool:
        """Return whether it is the number of the item whose text follows after a gap."""
        near = other.left - self.right < _FURTHEST_ITEM * self.size
        return near and LIST_MARK.fullmatch(self.text) is not None

    def parted(self, at: int) -> tuple["Segment", "Segment"]:
        """Return it split before the word that begins at an index of the text."""
        text, edges = self.text, self.edges
        first = tuple(span for span in self.raised if span[1] < at)
        rest = _shifted((span for span in self.raised if span[0] >= at), -at)
        return (
            replace(self, text=text[: at - 1], edges=edges[:at], raised=first),
            replace(self, text=text[at:], edges=edges[at:], hang=edges[at], raised=rest),
        )

    def without_marks(self, marks: Collection[str]) -> "Segment":
        """Return the segment without its raised characters that are marks of footnotes."""
        text, notes, edges = self.text, list[tuple[int, str]](), self.edges
        for begin, end in reversed(self.raised):
            match = _NOTE_MARK.fullmatch(text[begin:end])
            if match is None or match["mark"] not in marks:
                continue
            before, behind = text[:begin].rstrip(), text[end:]
            if _LENGTH.search(before) and before == text[:begin]:
                continue  # "100 m2"
            if before.endswith(("(", "[")) and behind.lstrip().startswith((")", "]")):
                before, behind = before[:-1].rstrip(), behind.lstrip()[1:]
            if not before or behind.lstrip()[:1] in ".,;:":
                behind = behind.lstrip()
            edges = edges[: len(before)] + edges[len(text) - len(behind) :]
            notes = [(at - len(text) + len(before + behind), mark) for at, mark in notes]
            notes.insert(0, (len(before), match["mark"]))
            text = before + behind
        if not text or not notes:
            return self
        return replace(self, text=text, edges=edges, raised=(), notes=tuple(notes))

    def followed_by(self, other: "Segment") -> "Segment":
        """Return both joined with a blank."""
        return replace(
            self,
            text=f"{self.text} {other.text}",
            edges=self.edges + other.edges,
            bottom=min(self.bottom, other.bottom),
            top=max(self.top, other.top),
            size=other.size if len(other.text) > len(self.text) else self.size,
            bold=self.bold and other.bold,
            hang=other.left,
            raised=self.raised + _shifted(other.raised, len(self.text) + 1),
            sure=min((s for s in (self.sure, other.sure) if s is not None), default=None),
        )


def _shifted(spans: Iterable[Word], by: int) -> tuple[Word, ...]:
    return tuple((begin + by, end + by) for begin, end in spans)


def opening_mark(text: str) -> tuple[str, int]:
    """Return the mark at the beginning of a footnote, "" if none, and where its text begins."""
    match = _NOTE_MARK.match(text)
    return (match["mark"], match.end()) if match else ("", 0)


@dataclass(slots=True)
class Sheet:
    """A page as it shows.

    The segments are in drawing order; ``rules`` are the heights of drawn lines and of box edges;
    ``shows`` is true if the page shows anything. ``turn`` says how the page was turned, or
    mirrored, before it was read. ``aside`` is true if text at an angle was left out.
    """

    height: float
    segments: list[Segment]
    rules: list[float]
    shows: bool
    turn: "Turn | Mirror | None" = None
    aside: bool = False


class Turn(NamedTuple):
    """How a page was turned before it was read: ``angle`` degrees, against the clock.

    The sizes of the page, and of the page as read, may be in any unit.
    """

    angle: float
    page: tuple[float, float]
    upright: tuple[float, float]

    def box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """Return the box on the page of a box on the upright page; heights are from the bottom."""
        cos, sin = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        (width, height), (wide, high) = self.page, self.upright
        corners = [(x - wide / 2, y - high / 2) for x in (x0, x1) for y in (y0, y1)]
        xs = [width / 2 + x * cos + y * sin for x, y in corners]
        ys = [height / 2 - x * sin + y * cos for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


class Mirror(NamedTuple):
    """A page of so much width that is read mirrored: its lines run from the right to the left."""

    width: float

    def box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """Return the box, on the page, of a box on the mirrored page."""
        return self.width - x1, y0, self.width - x0, y1


def rows_of(segments: Iterable[Segment]) -> list[list[Segment]]:
    """Return runs of segments on the same line as the run's first."""
    rows: list[list[Segment]] = []
    for segment in segments:
        if rows and rows[-1][0].level_with(segment):
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return rows


def read_sheet(page: Any, content: Any, number: int) -> Sheet:
    """Read a page of PDFium's; ``content`` is its text, ``number`` counts from 0."""
    from pypdfium2 import raw

    characters = _Characters(page, content)
    segments: list[Segment] = []
    for line in _lines(characters):
        parts = _parts(characters, line)
        add_line(segments, (characters.segment(words, number, 0) for words in parts))
    rules = list(_rules(page)) if segments else []
    shows = raw.FPDFPage_CountObjects(page) > 0
    return Sheet(characters.height, segments, rules, shows, characters.turn, bool(characters.aside))


def add_line(segments: list[Segment], line: Iterable[Segment]) -> None:
    """Add the segments of a line; the number of an item goes with its words."""
    before: Segment | None = None
    for segment in line:
        segment.order = len(segments)
        if before is not None and before.marks(segment):
            segments[-1] = before = before.followed_by(segment)
        else:
            segments.append(segment)
            before = segment


@cache
def _functions() -> tuple[Any, Any, Any]:
    """Return PDFium's functions for a character, its loose box and its tight box.

    The functions take addresses, because a call for each character must be cheap.
    """
    from pypdfium2 import raw

    pointer, number = ctypes.c_void_p, ctypes.c_int
    box = ctypes.CFUNCTYPE(number, pointer, number, pointer)
    tight = ctypes.CFUNCTYPE(number, pointer, number, pointer, pointer, pointer, pointer)
    return (
        ctypes.cast(raw.FPDFText_GetUnicode, ctypes.CFUNCTYPE(ctypes.c_uint, pointer, number)),
        ctypes.cast(raw.FPDFText_GetLooseCharBox, box),
        ctypes.cast(raw.FPDFText_GetCharBox, tight),
    )


class _Characters:
    """The characters of a page and their boxes, as columns."""

    def __init__(self, page: Any, content: Any) -> None:
        from pypdfium2 import raw

        self._content = content
        self._matrix, self._flags = raw.FS_MATRIX(), ctypes.c_int()
        self._name = ctypes.create_string_buffer(_LONGEST_NAME)
        count = content.count_chars()
        address = ctypes.cast(content.raw, ctypes.c_void_p).value
        unicode, box, _ = _functions()
        text: str = content.get_text_range()
        if len(text) != count:  # PDFium leaves out glyphs without a character
            text = "".join(map(chr, map(unicode, repeat(address), range(count))))
        self.text = text.replace(HYPHEN, _SOFT_HYPHEN)
        self.odd = {
            c
            for c in set(self.text)
            if not c.isspace() and (unicodedata.combining(c) or printable(c) != c)
        }
        boxes = (ctypes.c_float * (4 * count))()
        at = ctypes.addressof(boxes)
        places = range(at, at + 16 * count, 16)
        deque(map(box, repeat(address), range(count), places), maxlen=0)
        flat: list[float] = list(array("f", bytes(boxes)))
        if not (math.isfinite(sum(flat)) and max(map(abs, flat), default=0.0) <= _FARTHEST):
            flat = [place if abs(place) <= _FARTHEST else 0.0 for place in flat]
        self.left, self.top, self.right, self.bottom = (flat[i::4] for i in range(4))
        self._fill_loose_boxes(address)
        self._turn(page)
        self.turn: Turn | Mirror | None = None
        width, self.height = page.get_size()
        self.words = list(_WORD.finditer(self.text))
        self.aside = self._set_upright(page.get_rotation(), width)
        if self.turn is None and is_leftward(self.text):
            self._mirror(width)

    def _fill_loose_boxes(self, address: int | None) -> None:
        """Give turned characters, which have no loose box, the box of their ink."""
        _, _, tight = _functions()
        box = (ctypes.c_double * 4)()
        at = ctypes.addressof(box)
        for i in compress(range(len(self.text)), map(le, self.right, self.left)):
            if self.text[i] > " ":
                tight(address, i, at, at + 8, at + 16, at + 24)
                self.left[i], self.right[i], self.bottom[i], self.top[i] = box

    def _turn(self, page: Any) -> None:
        """Measure from the lower left corner of the page as it shows."""
        x0, y0, x1, y1 = page.get_bbox()
        left, bottom, right, top = self.left, self.bottom, self.right, self.top

        def up(places: list[float], edge: float) -> list[float]:
            return [place - edge for place in places]

        def down(places: list[float], edge: float) -> list[float]:
            return [edge - place for place in places]

        match page.get_rotation():
            case 90:
                turned = up(bottom, y0), down(right, x1), up(top, y0), down(left, x1)
            case 180:
                turned = down(right, x1), down(top, y1), down(left, x1), down(bottom, y1)
            case 270:
                turned = down(top, y1), up(left, x0), down(bottom, y1), up(right, x0)
            case _ if x0 or y0:
                turned = up(left, x0), up(bottom, y0), up(right, x0), up(top, y0)
            case _:
                return
        self.left, self.bottom, self.right, self.top = turned

    def _set_upright(self, rotation: int, width: float) -> set[int]:
        """Turn the page so that most of its words are upright.

        Returns:
            The first characters of words at another angle.
        """
        from pypdfium2 import raw

        angles = {
            word.start(): -math.degrees(raw.FPDFText_GetCharAngle(self._content, word.start()))
            for word in self.words
        }
        quarters = {at: (angle - rotation) / 90 % 4 for at, angle in angles.items()}
        counts = Counter[int]()
        for word in self.words:
            counts[round(quarters[word.start()]) % 4] += word.end() - word.start()
        ((most, _),) = counts.most_common(1) or ((0, 0),)
        if most:
            self._stand_up(most, width)
        return {
            at for at, quarter in quarters.items() if abs((quarter - most + 2) % 4 - 2) > _ASKEW
        }

    def _stand_up(self, quarter: int, width: float) -> None:
        """Turn the page clockwise by a number of quarters."""
        size, box = (width, self.height), (self.left, self.bottom, self.right, self.top)
        for _ in range(quarter):
            left, bottom, right, top = box
            box = bottom, [width - x for x in right], top, [width - x for x in left]
            width, self.height = self.height, width
        self.left, self.bottom, self.right, self.top = box
        self.turn = Turn(-90.0 * quarter, size, (width, self.height))

    def _mirror(self, width: float) -> None:
        """Mirror the page, so that its words follow each other to the right.

        Text that runs to the right, such as a number, keeps its place as a whole.
        """
        self.left, self.right = ([width - x for x in xs] for xs in (self.right, self.left))
        heights = sorted(map(sub, self.top, self.bottom)) or [0.0]
        self.text, order, names = reading_order(
            self.text, self.left, self.right, heights[len(heights) // 2]
        )
        for boxes in (self.left, self.right, self.bottom, self.top):
            boxes[:] = [boxes[i] for i in order]
        self.words = list(_WORD.finditer(self.text))
        for run in names:
            inked = [i for i in run if self.text[i] != " "]
            edge = min(self.left[i] for i in inked) + max(self.right[i] for i in inked)
            for i in inked:
                self.left[i], self.right[i] = edge - self.right[i], edge - self.left[i]
        for word in self.words:
            for places in (self.left, self.right):
                places[word.start() : word.end()] = sorted(places[slice(*word.span())])
        self.turn = Mirror(width)

    def segment(self, words: list[Word], page: int, order: int) -> Segment:
        """Return words of one line as a segment, with the font of its characters."""
        texts, edges = [], array("f")
        for start, end in words:
            word = self.text[start:end]
            if word[-1] in _MARKS_OF_BREAK:
                word = word[:-1] + HYPHEN
            places = self.left[start:end]
            if self.odd and not self.odd.isdisjoint(word):
                word, places = _shown(word, places)
            texts.append(word)
            edges.extend(places)
            edges.append(self.right[end - 1])
        (start, end), last = words[0], words[-1][1] - 1
        bottom, top = min(self.bottom[start:end]), max(self.top[start:end])
        size, bold = self._font(max(words, key=lambda word: word[1] - word[0])[0])
        bold = bold and self._font(start)[1] and self._font(last)[1]
        text, raised = " ".join(texts), tuple(self._raised_spans(words))
        if raised and raised[-1][1] > len(text):  # letters were put together
            raised = ()
        return Segment(page, order, text, edges, bottom, top, size, bold, edges[0], raised=raised)

    def _raised_spans(self, words: list[Word]) -> Iterator[Word]:
        """Yield the spans of a line's text that are small and above the line."""
        first, last = words[0][0], words[-1][1]
        heights = [*map(sub, self.top[first:last], self.bottom[first:last])]
        high = max(heights)
        if all(height >= _SMALL * high for height in heights):
            return
        low = self.bottom[first + heights.index(high)] + _RAISED * high
        at = 0
        for start, end in words:
            for is_raised, run in groupby(
                range(start, end),
                lambda i: heights[i - first] < _SMALL * high and self.bottom[i] > low,
            ):
                if is_raised:
                    members = [*run]
                    yield at + members[0] - start, at + members[-1] + 1 - start
            at += end - start + 1

    def _font(self, index: int) -> tuple[float, bool]:
        """Return the size of a character as shown, and whether it is bold."""
        from pypdfium2 import raw

        matrix, flags, name = self._matrix, self._flags, self._name
        size = float(raw.FPDFText_GetFontSize(self._content, index))
        if raw.FPDFText_GetMatrix(self._content, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        raw.FPDFText_GetFontInfo(self._content, index, name, _LONGEST_NAME, flags)
        weight = raw.FPDFText_GetFontWeight(self._content, index)
        called = name.value.lower()
        return round(size, 1), weight >= _BOLD_WEIGHT or any(word in called for word in _BOLD)


def _shown(word: str, places: Sequence[float]) -> tuple[str, list[float]]:
    """Return a word as its reader sees it, and the place of each of its characters."""
    shown: list[str] = []
    kept: list[float] = []
    for cluster in _CLUSTER.finditer(word):
        text = printable(cluster[0])
        edges = places[cluster.start() : cluster.end()]
        shown.append(text)
        kept += (*edges[: len(text)], *(edges[-1] for _ in range(len(text) - len(edges))))
    return "".join(shown), kept


def _lines(characters: _Characters) -> Iterator[list[Word]]:
    """Yield words that are on one line and follow each other in the file."""
    left, right = characters.left, characters.right
    line: list[Word] = []
    low = high = reached = 0.0
    broken = False
    for word in characters.words:
        if word.start() in characters.aside:
            continue
        if characters.odd and not printable(word[0]) and word[0] not in _MARKS_OF_BREAK:
            continue
        start, end = word.span()
        bottom, top = characters.bottom[start], characters.top[start]
        if line:
            height = min(high - low, top - bottom)
            shared = min(high, top) - max(low, bottom)
            if broken or shared <= _SAME_LINE * height or left[start] < reached - 0.5 * height:
                yield line
                line = []
        line.append((start, end))
        low, high, reached = bottom, top, right[end - 1]
        broken = characters.text[end - 1] in _MARKS_OF_BREAK
    if line:
        yield line


def _parts(characters: _Characters, line: list[Word]) -> Iterator[list[Word]]:
    """Return the parts of a line between its wide gaps."""
    first, left, right = line[0][0], characters.left, characters.right
    height = characters.top[first] - characters.bottom[first]
    gaps = [left[start] - right[end - 1] for (_, end), (start, _) in pairwise(line)]
    return parted(line, gaps, height)


def parted(line: list[T], gaps: Sequence[float], height: float) -> Iterator[list[T]]:
    """Yield the parts of a line between its wide gaps; ``gaps`` are those between its words."""
    if max(gaps, default=0.0) <= GAP * height:
        yield line
        return
    usual = sorted(gaps)[(len(gaps) - 1) // 4] if len(gaps) > 1 else 0.0
    least = min(_WIDEST_GAP * height, max(GAP * height, _TIMES_USUAL * usual))
    borders = [0, *(number for number, gap in enumerate(gaps, 1) if gap > least), len(line)]
    yield from (line[begin:end] for begin, end in pairwise(borders))


def is_blind(page: Any, content: Any, sheet: Sheet) -> bool:
    """Return whether a page shows more than its text.

    True if the page shows something and has no text, little text beside a picture of most of the
    page, or text whose characters the file does not define.
    """
    from pypdfium2 import raw

    written = sum(len(segment.text) for segment in sheet.segments)
    if not written:
        return sheet.shows
    count = content.count_chars()
    tried = range(0, count, max(1, count // _TRIED))
    unknown = sum(raw.FPDFText_HasUnicodeMapError(content, i) == 1 for i in tried)
    return unknown > len(tried) / 2 or (written < _LITTLE and _pictured(page) > _MOSTLY_PICTURE)


def _pictured(page: Any) -> float:
    """Return the share of a page that its largest picture covers."""
    from pypdfium2 import raw

    x0, y0, x1, y1 = page.get_bbox()
    areas = [0.0]
    for i in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, i)
        if raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = _bounds(drawn)
            wide, high = min(x1, right) - max(x0, left), min(y1, top) - max(y0, bottom)
            areas.append(max(0.0, wide) * max(0.0, high))
    return max(areas) / max(1.0, float((x1 - x0) * (y1 - y0)))


def _bounds(drawn: Any) -> list[float]:
    """Return the left, bottom, right and top edge of a drawn object; zeros if it has none."""
    from pypdfium2 import raw

    edges = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(drawn, *edges)
    return [edge.value for edge in edges]


def _rules(page: Any) -> Iterator[float]:
    """Yield the heights of drawn lines, and of the upper and lower edges of drawn boxes."""
    from pypdfium2 import raw

    for i in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, i)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = _bounds(drawn)
        if right - left >= _SHORTEST_RULE:
            yield from {round(bottom, 1), round(top, 1)}
