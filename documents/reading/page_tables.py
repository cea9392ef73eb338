"""Tables of a web page whose cells lie over several rows or columns, with a cell in each place."""

from itertools import islice, takewhile
from typing import Any

from lexloop.documents.reading.text import whole_number

_CELLS = ("td", "th")
_MOST_ROWS, _MOST_SPANNED, _MOST_ADDED, _MOST_ABOVE = 2000, 40, 5000, 6
_LONGEST = 300
"""The most characters of a cell that are repeated."""


def square_tables(soup: Any) -> None:
    """Give each row of the tables that name their columns a cell for each column.

    A cell over several rows is repeated on each, and a name over several columns in each. The names
    of a column that stand above each other become one. A name over all columns becomes the caption.
    """
    spanned = soup.find_all(_CELLS, rowspan=True) + soup.find_all(_CELLS, colspan=True)
    above = (islice(cell.parents, _MOST_ABOVE) for cell in spanned)
    tables = (next((one for one in found if one.name == "table"), None) for found in above)
    for table in {id(one): one for one in tables if one is not None}.values():
        if table.find("table") is not None or table.find("th") is None:
            continue
        rows = table.find_all("tr", limit=_MOST_ROWS)
        _square(rows)
        _join_heads(table, rows)


def _span(cell: Any, name: str) -> int:
    return min(max(1, whole_number(cell.get(name), 1)), _MOST_SPANNED)


def _square(rows: list[Any]) -> None:
    open_cells: dict[int, tuple[int, Any]] = {}  # by column, the rows that are left to one
    added = 0
    for row in rows:
        cells = row.find_all(_CELLS, recursive=False)
        below: dict[int, tuple[int, Any]] = {}
        column = 0
        row.clear()
        while (cells or column in open_cells) and added < _MOST_ADDED:
            if column in open_cells:
                left, cell = open_cells.pop(column)
                row.append(_copy(cell))
                width, added = 1, added + 1
            else:
                cell = cells.pop(0)
                row.append(cell)
                width, left = _span(cell, "colspan"), _span(cell, "rowspan")
                for _ in range(1, width):
                    row.append(_copy(cell, empty=cell.name == "td"))
                    added += 1
            if left > 1:
                below |= dict.fromkeys(range(column, column + width), (left - 1, cell))
            column += width
        row.extend(cells)
        open_cells = below


def _copy(cell: Any, empty: bool = False) -> Any:
    from bs4.element import Tag

    copy, text = Tag(name=cell.name), cell.get_text(" ", strip=True)
    copy.append("" if empty or len(text) > _LONGEST else text)
    return copy


def _names(row: Any) -> list[str]:
    """Return the names of columns that a row holds; none if it holds other cells."""
    cells = row.find_all(_CELLS, recursive=False)
    named = all(cell.name == "th" for cell in cells)
    return [" ".join(cell.get_text().split()) for cell in cells] if named else []


def _join_heads(table: Any, rows: list[Any]) -> None:
    heads = [(row, names) for row in rows[:8] if (names := _names(row))]
    heads = heads[
        : sum(
            1 for _ in takewhile(lambda pair: pair[0] is pair[1][0], zip(rows, heads, strict=False))
        )
    ]
    while len(heads) > 1 and len(set(heads[0][1])) == 1 < len(heads[0][1]):
        row, (title, *_) = heads.pop(0)
        row.extract()
        caption = _copy(row.find("th"))
        caption.name, caption.string = "caption", title
        table.insert(0, caption)
    if len(heads) < 2 or len({len(names) for _, names in heads}) > 1:
        return
    *above, (last, _) = heads
    columns = zip(*(names for _, names in heads), strict=True)
    for cell, parts in zip(last.find_all(_CELLS, recursive=False), columns, strict=True):
        cell.string = " ".join(dict.fromkeys(filter(None, parts)))
    for row, _ in above:
        row.extract()
