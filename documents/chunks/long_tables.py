"""Long tables of short rows: all their chunks share one vector, that of the table's head.

Embedding thousands of rows takes minutes, and the vectors of codes and figures hardly differ.
Search by words finds these rows.
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
"""From this mean length of rows on, a table is prose in cells, and every row is embedded."""


class LongTable(NamedTuple):
    """A long table's span, and its head: the headings above it, and the names of its columns."""

    start: int
    end: int
    head: str

    def holds(self, statements: Sequence[Statement]) -> bool:
        """Return whether all statements are rows of this table."""
        return bool(statements) and all(
            self.start <= statement.start < self.end for statement in statements
        )


def long_tables_of(document: Document) -> list[LongTable]:
    """Return the long tables of a document, in order."""
    return list(_long_tables(document.tree, document.text))


def head_of(statements: Sequence[Statement], tables: Sequence[LongTable]) -> str:
    """Return the head of the long table that contains a chunk's statements; "" if none does."""
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
