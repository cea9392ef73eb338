"""Spans of a document: made of whole words, never blank, and turned into chunks."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree

Span = tuple[int, int]
"""Start and end, half-open, in code points of the document's text."""
Chunker = Callable[[Document], list[Chunk]]

_LEAD_CHARS = 400
"""The most of a lead-in that is repeated for the chunks below it."""

_INK = re.compile(r"\S")


def to_chunks(document: Document, spans: Iterable[Span]) -> list[Chunk]:
    """Make a chunk of each span, with the label and the headings of what it lies in.

    The spans are in order and none is blank; their starts name the chunks, so no two are equal.
    """
    text, tree = document.text, document.tree
    version = document.metadata.version
    chunks: list[Chunk] = []
    for start, end in spans:
        first = next_ink(text, start)
        last = start + len(text[start:end].rstrip())
        place = tree.around(_behind_headings(tree, text, first, last), last)
        chunk: Chunk = {
            "id": f"{document.name}#{start}",
            "document": document.name,
            "title": document.title,
            "section": tree.units[place].label if place >= 0 else "",
            "page": document.page_at(start),
            "start": start,
            "end": end,
            "text": text[start:end],
        }
        if context := _context(tree, text, first):
            chunk["context"] = context
        if place >= 0 and not tree.operative(place):
            chunk["supporting"] = True
        if version:
            chunk["version"] = version
        chunks.append(chunk)
    return chunks


def _behind_headings(tree: Tree, text: str, first: int, last: int) -> int:
    """Return where a span's own words begin behind the headings that open it."""
    at = first
    while (place := tree.at(at)) >= 0 and tree.units[place].start == at:
        body = next_ink(text, tree.units[place].body)
        if not at < body < last:
            break
        at = body
    return at


def _context(tree: Tree, text: str, first: int) -> str:
    """Return the headings above a chunk, and the lead-in that it completes."""
    place = tree.at(first)
    words: list[str] = []
    while place >= 0:
        unit = tree.units[place]
        if unit.start < first:
            if tree.leads(place, text) and tree.own_end(place) <= first:
                words.append(" ".join(text[unit.body : tree.own_end(place)].split())[:_LEAD_CHARS])
            if unit.heading:
                words.append(unit.heading)
        place = unit.parent
    return "\n".join(reversed(words))


def between(text: str, starts: Iterable[int]) -> list[Span]:
    """Return the spans from each start to the next; they cover the whole text.

    The starts are those of words, ascending, the first word's among them.
    """
    borders = [0, *list(starts)[1:], len(text)]
    return list(pairwise(borders)) if text.strip() else []


def next_ink(text: str, offset: int) -> int:
    """Return the first character that is not blank, from ``offset`` on; else the end."""
    found = _INK.search(text, offset)
    return found.start() if found else len(text)


def cut_to_fit(text: str, span: Span, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Halve a span between words, and within a word where one fills a half, until it fits.

    The span begins and ends with a character that is not blank; what is yielded leaves out only
    blanks. A single character always fits.
    """
    start, end = span
    if end - start <= 1 or fits(text[start:end]):
        yield span
        return
    cut = _middle(text, start, end)
    yield from cut_to_fit(text, (start, start + len(text[start:cut].rstrip())), fits)
    yield from cut_to_fit(text, (cut, end), fits)


def _middle(text: str, start: int, end: int) -> int:
    """Return the start of a word near the middle; the middle where no word starts before it."""
    middle = (start + end) // 2
    if text[middle - 1].isspace() or text[middle].isspace():
        return next_ink(text, middle)
    words = text[start:middle].rsplit(None, 1)
    return middle - len(words[1]) if len(words) == 2 else middle
