"""The rows of tables that a question asks for by their keys: "the duty for 1034.05.77"."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from lexloop.core.types import ParsedQuestion, Pointed, StructureLine
from lexloop.documents.chunks.statements import row_text
from lexloop.documents.structure.lines import cells
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.question import words_of_asking
from lexloop.store.view import View

_MOST_READ, _MOST_KEYS, _MOST_ROWS, _SAMPLE = 20, 5, 5, 50
"""The most documents, keys and rows of a key, and the rows that show how keys look."""
_WRITTEN = re.compile(r"[^\W_]+(?:[.,/:\-][^\W_]+)*")
_PLAIN = re.compile(r"\d{1,3}|\d+[.,]\d+|(?:1[6-9]|20)\d\d")
"""A number that may count or measure something, or be a year."""


class _Table(NamedTuple):
    """A table: its document, the names of its columns, its rows, and the words that head it."""

    document: str
    names: list[str]
    rows: list[int]
    heads: str


def rows_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the rows that a question asks for by their keys, or that no row has a key.

    The cells of a column of keys all differ and are of one form. The question has to name another
    column, and nothing that is neither in the row nor above it. Return None if it asks otherwise.
    """
    asked = question["inside"]
    keys = [key for key in dict.fromkeys(_WRITTEN.findall(asked)) if _is_key(key)][:_MOST_KEYS]
    wanted = term_set(asked) - term_set(" ".join(keys))
    held = term_set(" ".join(words_of_asking(asked)))
    told: list[StructureLine] = []
    for key in keys:
        tables = [t for t in _tables(key, view) if wanted & term_set(" ".join(t.names))]
        rows = [(t, row) for t in tables for row in _having(key, t, view)][:_MOST_ROWS]
        if not tables or (not rows and _is_said(key, view)):
            return None
        told += [_told(*found, view) for found in rows] or [_missing(key, tables)]
        held |= term_set(" ".join([*(t.heads for t in tables), *(one["line"] for one in told)]))
    return {"units": [], "chunks": [], "told": told, "only": True} if wanted <= held else None


def _is_key(written: str) -> bool:
    return any(map(str.isdigit, written)) and _PLAIN.fullmatch(written) is None


def _form(written: str) -> str:
    """Return what keys of one kind share: "P-17" and "P-204" have the form "a-0"."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", written))


def _tables(key: str, view: View) -> Iterator[_Table]:
    """Yield the tables with a column of keys of one form: of documents that may have the key."""
    longest = max(re.findall(r"\w+", key), key=len)
    names = view.having([key]) or view.having([longest]) or view.documents
    for name in names[:_MOST_READ]:
        tree, text = view.tree_of(name) or Tree(), view.text_of(name) or ""
        for place, unit in enumerate(tree.units):
            below = tree.children(place) if unit.kind == "table" else ()
            rows = [p for p in below if tree.units[p].kind == "row"]
            first = next((p for p in below if tree.units[p].kind == "columns"), None)
            if first is None or not rows:
                continue
            sample = [cells(text[tree.units[p].start : tree.units[p].end]) for p in rows[:_SAMPLE]]
            if any(_are_keys(column, key) for column in zip_longest(*sample, fillvalue="")):
                columns = cells(text[tree.units[first].start : tree.units[first].end])
                above = [tree.units[p].heading for p in (place, *tree.above(place))]
                heads = " ".join([*columns, *above, view.titles[name]])
                yield _Table(name, columns, rows, heads)


def _are_keys(column: Sequence[str], key: str) -> bool:
    """Return whether the cells of a column all differ and have the form of a key."""
    filled = [*filter(None, column)]
    alike = all(_form(cell) == _form(key) for cell in filled)
    return len(filled) > 1 and alike and len(set(filled)) == len(filled)


def _having(key: str, table: _Table, view: View) -> Iterator[int]:
    """Yield the rows of a table of which a cell is the key."""
    tree, text = view.tree_of(table.document) or Tree(), view.text_of(table.document) or ""
    rows = set(table.rows)
    for found in _whole(key).finditer(text):
        place = tree.at(found.start())
        unit = tree.units[place]
        if place in rows and key.lower() in map(str.lower, cells(text[unit.start : unit.end])):
            rows.remove(place)
            yield place


def _is_said(key: str, view: View) -> bool:
    """Return whether documents have a key elsewhere than in a row of its own."""
    texts = view.texts_of([*view.having([key])][:_MOST_READ])
    return any(_whole(key).search(text) for text in texts)


def _whole(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)


def _told(table: _Table, row: int, view: View) -> StructureLine:
    """Return a row, each cell with the name of its column."""
    tree, text = view.tree_of(table.document) or Tree(), view.text_of(table.document) or ""
    unit = tree.units[row]
    line = text[unit.start : unit.end].strip()
    begin = text.index(line, unit.start)
    cited = view.cited(table.document, begin, begin + len(line), unit.label)
    return {"line": row_text(line, table.names), "citations": [cited]}


def _missing(key: str, tables: Sequence[_Table]) -> StructureLine:
    where = ", ".join(dict.fromkeys(table.document for table in tables))
    return {"line": f"No row of {where} has {key}.", "citations": []}
