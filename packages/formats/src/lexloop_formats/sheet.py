"""Sheets as text: a heading, and the rows of their tables, each with its number in front."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from lexloop.documents.reading.text import LineWriter

MOST_CELLS = 200_000
"""The most filled cells that are read of a file."""
_NUMBER = "Row"
"""What the column of the rows' numbers is called."""
_BAR = str.maketrans("|", "¦")
"""A bar in a cell would end it."""
_LONGEST_NAME = 120


class Row(NamedTuple):
    """A row that is not empty: its number as it is shown, and its filled cells by column from 0."""

    number: int
    cells: dict[int, str]


class Merged(NamedTuple):
    """Cells that are one: its rows as they are shown and its columns from 0, the last included."""

    top: int
    left: int
    bottom: int
    right: int


def write_sheet(
    lines: LineWriter,
    name: str,
    rows: Sequence[Row],
    merged: Sequence[Merged] = (),
) -> None:
    """Write a sheet under a heading of its name.

    Its first row of several cells names the columns, where it looks as if it did; else letters do,
    as in the program. So does the first row of several cells behind an empty one, and begins a
    table. What stands above a table in few cells is on a line of its own.

    Args:
        lines: Where to.
        name: Its name.
        rows: In order; none is empty.
        merged: The cells that are one.
    """
    lines.heading(1)
    lines.add(f"Sheet “{name}”")
    lines.end()
    spread = [cells for cells in merged if cells.right > cells.left]
    rows = _spread_down(rows, merged)
    writer = _Tables(lines, sorted({column for row in rows for column in row.cells}))
    single = all(len(row.cells) == 1 for row in rows)
    for block in _blocks(rows):
        titles = [] if single else _titles(block)
        table = block[len(titles) :]
        count = _header_rows(table, spread)
        if table and (count or not writer.begun):
            writer.begin(titles, table[:count], table[-1].number)
            writer.rows(table[count:])
        elif table or writer.begun:
            writer.rows(block)
        else:
            writer.titles(titles)


def _blocks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows between empty ones."""
    for _, block in groupby(enumerate(rows), lambda one: one[1].number - one[0]):
        yield [row for _, row in block]


def _titles(block: Sequence[Row]) -> list[Row]:
    """Return the rows above a table: of one cell, or of far fewer than its widest row."""
    widest = max(len(row.cells) for row in block)
    return list(takewhile(lambda row: len(row.cells) == 1 or 2 * len(row.cells) < widest, block))


def _header_rows(table: Sequence[Row], spread: Sequence[Merged]) -> int:
    """Return how many rows name the columns: a name over several has further names below it."""
    if len(table) < 2 or len(table[0].cells) < 2 or not _names(table[0]):
        return 0
    below = [row.cells for row in table[1:]]
    told = len(table[0].cells) > 2 or not all(_is_name(c) for row in below for c in row.values())
    if not told and not _is_shorter(table[0].cells, below):
        return 0  # a form: "Landlord" beside a name, and "Tenant" beside another
    number = table[0].number
    grouped = any(one.top == one.bottom == number for one in spread)
    return 2 if grouped and len(table) > 2 and all(map(_is_name, below[0].values())) else 1


def _is_shorter(names: dict[int, str], below: Sequence[dict[int, str]]) -> bool:
    """Return whether each name is shorter than every cell below it, as "Term" is over terms."""
    return all(
        len(names.get(column, cell)) < len(cell) for row in below for column, cell in row.items()
    )


def _names(row: Row) -> bool:
    cells = row.cells.values()
    return len(set(cells)) == len(cells) and all(map(_is_name, cells))


def _is_name(cell: str) -> bool:
    """Return whether a cell may name a column: a measure or a day does not, but a year may."""
    named = any(char.isalpha() for char in cell) or (cell.isdecimal() and 1900 <= int(cell) < 2100)
    return named and len(cell) <= _LONGEST_NAME


def _spread_down(rows: Sequence[Row], merged: Sequence[Merged]) -> list[Row]:
    """Return rows with what is merged over several of them on each."""
    held = {row.number: dict(row.cells) for row in rows}
    numbers = list(held)
    left = MOST_CELLS  # a file may say of its cells that all are merged, many times
    for one in merged:
        text = held.get(one.top, {}).get(one.left)
        first, last = bisect_right(numbers, one.top), bisect_right(numbers, one.bottom)
        if text and first < last:
            left -= last - first
            for number in numbers[first:last] if left > 0 else ():
                held[number].setdefault(one.left, text)
    return [Row(number, dict(sorted(cells.items()))) for number, cells in held.items()]


class _Tables:
    """Writes the tables of one sheet, whose filled columns are given."""

    def __init__(self, lines: LineWriter, columns: Sequence[int]) -> None:
        self._lines, self._columns = lines, columns
        self._named = 0
        self.begun = False

    def begin(self, titles: Sequence[Row], header: Sequence[Row], last: int) -> None:
        """Begin a table below its titles, up to a last row, with the names of its columns."""
        self.titles(titles)
        if self.begun and not titles:  # a line has to stand between two tables
            self._line(f"Rows {header[0].number} to {last}")
        lettered = {column: letters(column) for column in self._columns}
        names = _joined(header, self._columns) if header else lettered
        self._named = len(names)
        self._write([_NUMBER, *names.values()])
        self.begun = True

    def titles(self, titles: Iterable[Row]) -> None:
        """Write lines above a table, each with the number of its row."""
        for row in titles:
            self._line(f"{_NUMBER} {row.number}: {' '.join(row.cells.values())}")

    def rows(self, rows: Iterable[Row]) -> None:
        """Write rows; words alone at the beginning of one are about all columns and follow them."""
        for row in rows:
            cells = [row.cells.get(column, "") for column in self._columns]
            if [*row.cells] == [self._columns[0]] and _is_name(cells[0]):
                cells = [""] * self._named + [cells[0]]
            self._write([str(row.number), *cells])

    def _line(self, text: str) -> None:
        self._lines.add(text)
        self._lines.end()

    def _write(self, cells: Iterable[str]) -> None:
        self._lines.row()
        for cell in cells:
            self._lines.cell()
            self._lines.add(cell.translate(_BAR))
        self._lines.end_row()


def _joined(header: Sequence[Row], columns: Sequence[int]) -> dict[int, str]:
    """Return the names of columns; one over several goes in front of those below it."""
    names: dict[int, str] = {}
    over = ""
    for column in columns:
        own = [row.cells.get(column, "") for row in header]
        over = own[0] or over
        parts = [over, *own[1:]] if any(own[1:]) else own[:1]
        names[column] = ", ".join(dict.fromkeys(filter(None, parts)))
    return names


def letters(column: int) -> str:
    """Return the name that spreadsheet programs give a column, from 0: A to Z, AA."""
    named = ""
    column += 1
    while column:
        column, last = divmod(column - 1, 26)
        named = chr(65 + last) + named
    return named


def column_of(named: str) -> int:
    """Return the column, from 0, that ``letters`` names."""
    column = 0
    for letter in named:
        column = column * 26 + ord(letter) - 64
    return column - 1
