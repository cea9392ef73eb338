"""A stretch of a document's text, widened to whole provisions or lines."""

from typing import Any

from lexloop.apps.provisions import HEADS, Source

MOST = 20_000
"""The most characters of one stretch."""


def text_window(source: Source, start: int, end: int) -> dict[str, Any]:
    """Return the text from ``start`` to ``end``, or as much more as whole provisions take.

    What would be longer than a stretch may be is widened to whole lines alone, and cut: whoever
    goes on from its end comes to the end of the document.
    """
    length = len(source.text)
    start, end = min(start, length), min(max(start, end), length)
    first, last = _widened(source, start, end)
    units = source.tree.units
    inside = [p for p, u in enumerate(units) if u.start < last and first < u.end]
    return {
        "document": source.name,
        "text": source.text[first:last],
        "start": first,
        "end": last,
        "length": length,
        "units": [{**source.record(place), "body": units[place].body} for place in inside],
        "pages": list(source.pages),
    }


def _widened(source: Source, start: int, end: int) -> tuple[int, int]:
    first, last = _provision_at(source, start)[0], _provision_at(source, max(start, end - 1))[1]
    first, last = min(first, start), max(last, end)
    if last - first <= MOST:
        return first, last
    text = source.text
    first = text.rfind("\n", 0, start) + 1
    if start - first > MOST // 2:
        first = start
    last = text.find("\n", end) + 1 or len(text)
    if last - first <= MOST:
        return first, last
    cut = text.rfind("\n", max(start, first + 1), first + MOST) + 1
    return first, cut if cut > start else first + MOST


def _provision_at(source: Source, offset: int) -> tuple[int, int]:
    """Return the span of the provision that holds an offset, or of its line."""
    units, place = source.tree.units, source.tree.at(offset)
    while place >= 0 and units[place].kind not in HEADS:
        place = units[place].parent
    if place >= 0 and units[place].kind != "part":
        return units[place].start, units[place].end
    text = source.text
    return text.rfind("\n", 0, offset) + 1, text.find("\n", offset) + 1 or len(text)
