"""A table as a file: CSV, an Excel workbook, Markdown or Word. No cell is a formula."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from lexloop.apps.shapes.files import escaped
from lexloop.apps.shapes.outline import NOTICE
from lexloop.apps.shapes.text import one_line, shortened
from lexloop.core.cells import guarded

if TYPE_CHECKING:
    from xlsxwriter import Workbook

GridFormat = Literal["csv", "xlsx", "md", "docx"]
MOST_CELL = 32_000
"""Characters of a cell of a workbook, which holds 32,767."""


class Grid(NamedTuple):
    """A table with a title; every row has a cell for each column."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def as_file(grid: Grid, form: GridFormat) -> bytes:
    """Return a table as a file."""
    rows = [[one_line(cell) for cell in row] for row in (grid.columns, *grid.rows)]
    if form == "csv":
        return as_csv(rows)
    if form == "xlsx":
        return _as_workbook(one_line(grid.title), rows)
    if form == "docx":
        return _as_word(one_line(grid.title), rows)
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(grid.columns))
    return f"# {escaped(one_line(grid.title))}\n\n{chr(10).join(lines)}\n".encode()


def as_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """Return CSV (RFC 4180) with a byte order mark, which tells spreadsheets that it is UTF-8."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(map(guarded, row) for row in rows)
    return out.getvalue().encode("utf-8-sig")


@contextmanager
def workbook(file: io.BytesIO, title: str) -> Iterator["Workbook"]:
    """Write a workbook in which text stays text, never a formula, a number or an address."""
    import xlsxwriter

    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, {**options, "in_memory": True}) as book:
        book.set_properties({"title": title, "comments": NOTICE})
        yield book


def _as_workbook(title: str, rows: Sequence[Sequence[str]]) -> bytes:
    """Return a workbook of one sheet whose first row stays."""
    out = io.BytesIO()
    with workbook(out, title) as book:
        sheet = book.add_worksheet()
        look = {"text_wrap": True, "valign": "top"}
        plain, bold = book.add_format(look), book.add_format({**look, "bold": True})
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                sheet.write_string(at, column, shortened(text, MOST_CELL), plain if at else bold)
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, len(rows[0]) - 1, 32)
    return out.getvalue()


def _as_word(title: str, rows: Sequence[Sequence[str]]) -> bytes:
    import docx
    from docx.enum.section import WD_ORIENT

    document = docx.Document()
    section = document.sections[0]
    section.orientation = WD_ORIENT.LANDSCAPE
    width, height = section.page_height, section.page_width
    section.page_width, section.page_height = width, height
    document.add_heading(title, level=1)
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
