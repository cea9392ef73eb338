"""Where a reader finds a span of a document in the file itself."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath

from lexloop.core.types import At
from lexloop.documents.document import Document, line_in_file
from lexloop.documents.structure.lookup import owns_label
from lexloop.documents.structure.tree import Tree

_SHEETS = (".xlsx", ".xls", ".ods", ".csv")
_MESSAGES = (".eml", ".msg")
_ROW = re.compile(r"(?:Row )?(\d+)(?:: | \| )")
"""How a row of a sheet begins, as ``write_sheet`` writes it."""
_HEADERS = ("From: ", "To: ", "Cc: ", "Date: ", "Subject: ")


def at_of(document: Document, start: int, end: int) -> At:
    """Return where a span begins in its file, in addition to its page and its label.

    Text files have lines. Other formats have the paragraph below the nearest heading, or the row of
    a table, unless the provision has a number.

    Raises:
        CorpusError: The document's map of places is damaged.
    """
    text = document.text
    if document.places and not document.pages:
        line = line_in_file(document, start, end)
        return {} if line is None else {"line": line}
    if document.pages or text[:1].isspace():  # the lines before a passage are not available
        return {}
    start += len(text[start:end]) - len(text[start:end].lstrip())
    begin, suffix = text.rfind("\n", 0, start) + 1, PurePosixPath(document.name).suffix.lower()
    around = _around(document.tree, document.tree.at(start))
    if suffix in _SHEETS:
        return _row(document, around, begin)
    headed = suffix in _MESSAGES and text.startswith(_HEADERS, begin)
    if headed and begin < _end_of_headers(text):
        return {"header": text[begin : text.index(":", begin)]}
    return _counted(document, around, begin)


def _row(document: Document, around: Sequence[int], begin: int) -> At:
    """Return the row of a sheet, unless the label contains it."""
    match = _ROW.match(document.text, begin)
    labelled = bool(around) and document.tree.units[around[0]].kind == "row"
    return {"row": int(match[1])} if match and not labelled else {}


def _counted(document: Document, around: Sequence[int], begin: int) -> At:
    """Return the paragraph or the row of a table that a line is, below its heading."""
    tree, units = document.tree, document.tree.units
    owner = next((place for place in around if owns_label(tree, place)), -1)
    if owner >= 0 and units[owner].number:
        return {}
    table = next((place for place in around if units[place].kind == "table"), -1)
    if table < 0:
        return _paragraph(document, owner, begin)
    beside = tree.below(owner) if owner >= 0 else range(len(tree))
    number = sum(units[place].kind == "table" and place <= table for place in beside)
    return {"table": number, "row": document.text.count("\n", units[table].start, begin) + 1}


def _around(tree: Tree, place: int) -> list[int]:
    """Return the indices of a unit and its ancestors; none for -1."""
    return [place, *tree.above(place)] if place >= 0 else []


def _end_of_headers(text: str) -> int:
    end = text.find("\n\n")
    return end if end >= 0 else len(text)


def _paragraph(document: Document, owner: int, begin: int) -> At:
    """Return the number of a paragraph below its heading; {} for the heading itself."""
    text, first = document.text, 0
    if owner >= 0:
        body = document.tree.units[owner].body
        end = text.find("\n", body)
        first = text.rfind("\n", 0, body) + 1 if text[body:end].strip() else end + 1
    if document.name.lower().endswith(_MESSAGES):
        first = max(first, _end_of_headers(text))
    starts = document.paragraphs
    number = bisect_right(starts, begin) - bisect_left(starts, first)
    return {"paragraph": number} if number > 0 else {}
