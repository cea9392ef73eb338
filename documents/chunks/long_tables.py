"""Long tables of short rows: one vector of its head stands for each of their chunks.

To embed thousands of rows takes minutes, and tells codes and figures hardly apart: these are
found by their words.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document
from lexloop.documents.structure.lines import cells
from lexloop.documents.structure.tree import Tree

_MOST_ROWS = 300
"""A table of more is long. So many rows take some ten seconds to embed."""
_PROSE_CHARS = 200
"""The mean length of rows from which a table is prose in cells, whose meaning is searched."""


class LongTable(NamedTuple):
    """A long table's span, and its head: the headings above it, and the names of its columns."""

    start: int
    end: int
    head: str

    def holds(self, statements: Sequence[Statement]) -> bool:
        """Return whether statements are rows of the table, all of them."""
        return bool(statements) and all(
            self.start <= statement.start < self.end for statement in statements
        )


def long_tables_of(document: Document) -> list[LongTable]:
    """Return the long tables of a document, in order."""
    return list(_long_tables(document.tree, document.text))


def head_of(statements: Sequence[Statement], tables: Sequence[LongTable]) -> str:
    """Return the head of the long table whose rows a chunk's statements are; "" if none."""
    return next((table.head for table in tables if table.holds(statements)), "")


def _long_tables(tree: Tree, text: str) -> Iterator[LongTable]:
    for place, unit in enumerate(tree.units):
        if unit.kind != "table":
            continue
        children = [tree.units[child] for child in tree.children(place)]
        rows = sum(child.kind == "row" for child in children)
        if rows <= _MOST_ROWS or unit.end - unit.start > rows * _PROSE_CHARS:
            continue
        headings = [tree.units[above].heading for above in (place, *tree.above(place))]
        columns = [text[child.start : child.end] for child in children if child.kind == "columns"]
        names = "; ".join(name for row in columns for name in cells(row.partition("\n")[0]) if name)
        yield LongTable(unit.start, unit.end, "\n".join(filter(None, [*headings[::-1], names])))
