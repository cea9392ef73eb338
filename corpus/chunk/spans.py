"""Spans of a document: made of whole words, never blank, and turned into chunks."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.sections import Section, sections
from lexloop.corpus.load.document import Document

Span = tuple[int, int]
"""Start and end, half-open, in code points of the document's text."""
Chunker = Callable[[Document], list[Chunk]]

_INK = re.compile(r"\S")


def to_chunks(
    document: Document, spans: Iterable[Span], found: list[Section] | None = None
) -> list[Chunk]:
    """Chunks of the spans; each is labelled by the section in which its first word lies.

    Args:
        document: The source.
        spans: None of them blank, in order; their starts name the chunks, so no two are equal.
        found: The document's sections, where the caller has them already.
    """
    found = sections(document) if found is None else found
    starts = [section.start for section in found]
    version = document.metadata.version
    chunks: list[Chunk] = []
    for start, end in spans:
        chunk: Chunk = {
            "id": f"{document.name}#{start}",
            "document": document.name,
            "title": document.title,
            "section": found[bisect_right(starts, next_ink(document.text, start)) - 1].label,
            "page": document.page_at(start),
            "start": start,
            "end": end,
            "text": document.text[start:end],
        }
        if version:
            chunk["version"] = version
        chunks.append(chunk)
    return chunks


def attach_blanks(text: str, spans: list[Span]) -> list[Span]:
    """Adjoining spans, each blank one joined to the one before it, or after it at the beginning.

    Returns:
        Spans that cover what ``spans`` cover; none when all of that is blank.
    """
    joined: list[Span] = []
    for start, end in spans:
        blank = not text[start:end].strip()
        if joined and (blank or not text[slice(*joined[-1])].strip()):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [span for span in joined if text[slice(*span)].strip()]


def between(text: str, starts: Iterable[int]) -> list[Span]:
    """Spans from each start to the next; the first reaches back to 0, the last to the end.

    Args:
        text: The whole text.
        starts: Offsets of characters that are not blank, ascending, the first word's among them.
    """
    borders = [0, *list(starts)[1:], len(text)]
    return list(pairwise(borders)) if text.strip() else []


def next_ink(text: str, offset: int) -> int:
    """The offset of the first character that is not blank, from ``offset`` on; else the end."""
    found = _INK.search(text, offset)
    return found.start() if found else len(text)


def cut_to_fit(text: str, span: Span, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Halve a span between words, and within a word where one fills a half, until it fits.

    Args:
        text: The whole text.
        span: Begins and ends with a character that is not blank.
        fits: Whether a piece is short enough; a single character is taken as it is.

    Yields:
        Spans in order that leave out only blanks.
    """
    start, end = span
    if end - start <= 1 or fits(text[start:end]):
        yield span
        return
    cut = _middle(text, start, end)
    yield from cut_to_fit(text, (start, start + len(text[start:cut].rstrip())), fits)
    yield from cut_to_fit(text, (cut, end), fits)


def _middle(text: str, start: int, end: int) -> int:
    """The start of a word near the middle; the middle itself where no word starts before it."""
    middle = (start + end) // 2
    if text[middle - 1].isspace() or text[middle].isspace():
        return next_ink(text, middle)
    words = text[start:middle].rsplit(None, 1)
    return middle - len(words[1]) if len(words) == 2 else middle
