"""Paragraphs of a PDF -> the document's text, its headings, its pages and the map of its boxes."""

import re
from collections.abc import Iterator, Sequence

from lexloop.corpus.load.boxes import Run
from lexloop.corpus.load.hyphens import HYPHEN, keeps_hyphen
from lexloop.corpus.load.pdf_paragraphs import Paragraph
from lexloop.corpus.load.pdf_segment import Segment

_WORD = re.compile(r"\w+(?:-\w+)*")
_LAST_WORD, _FIRST_WORD = re.compile(r"\w*$"), re.compile(r"\w*")
_BREAKS = (HYPHEN, "-", "\u2010")


class Text:
    """A document's text, written paragraph by paragraph.

    Args:
        words: What the document writes, in small letters: it settles hyphens at line ends.
    """

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._parts: list[str] = []
        self._length = 0
        self._pages: dict[int, int] = {}
        self.headings: list[tuple[int, int]] = []
        self.runs: list[Run] = []

    @property
    def whole(self) -> str:
        """All that has been written."""
        return "".join(self._parts)

    def add(self, paragraph: Paragraph) -> None:
        """Write a paragraph as one line."""
        if paragraph.level:
            self.headings.append((self._length, paragraph.level))
        # a bar at both ends keeps empty cells there from being taken for none
        barred = paragraph.row and not (paragraph.cells[0] and paragraph.cells[-1])
        self._write("| " if barred else "")
        for number, cell in enumerate(paragraph.cells):
            self._write(" | " if number else "")
            for segment, keeps, glue in _joined(cell, self._words):
                self._write(glue)
                self._show(segment, keeps)
        self._write(" |\n" if barred else "\n")

    def pages(self, count: int) -> tuple[int, ...]:
        """Where each page begins; a page without text where the next one does."""
        starts, following = [], self._length
        for page in reversed(range(count)):
            following = min(self._pages.get(page, following), following)
            starts.append(following)
        return (0, *starts[-2::-1]) if starts else ()

    def _write(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)

    def _show(self, segment: Segment, text: str) -> None:
        self._pages.setdefault(segment.page, self._length)
        if text:
            edges = segment.edges[: len(text) + 1]
            place = (segment.page + 1, segment.bottom, segment.top)
            self.runs.append(Run(self._length, *place, edges))
        self._write(text)


def _joined(lines: Sequence[Segment], words: frozenset[str]) -> Iterator[tuple[Segment, str, str]]:
    """Lines, what stays of the text of each, and what stands in front of it."""
    glue = ""
    for number, segment in enumerate(lines):
        text, after = segment.text, " "
        if text[-1] in _BREAKS and text[-2:-1].isalnum() and number + 1 < len(lines):
            left, right = _LAST_WORD.search(text[:-1]), _FIRST_WORD.match(lines[number + 1].text)
            assert left is not None
            assert right is not None
            kept = keeps_hyphen(left[0], right[0], words)
            text, after = text[:-1] + ("-" if kept else ""), ""
        yield segment, text.replace(HYPHEN, "-"), glue
        glue = after


def words_of(pages: Sequence[Sequence[Segment]]) -> frozenset[str]:
    """What the pages write, in small letters, if a line of theirs ends in a hyphen."""
    texts = [segment.text for page in pages for segment in page]
    if not any(text[-1] in _BREAKS for text in texts):
        return frozenset()
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))
