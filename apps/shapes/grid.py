"""A table as a file: CSV, an Excel workbook, Markdown or Word. No cell is a formula."""

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape

from lexloop.apps.shapes.files import escaped
from lexloop.apps.shapes.text import one_line

GridFormat = Literal["csv", "xlsx", "md", "docx"]
GRID_TYPES: Mapping[GridFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "md": "text/markdown; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets read a formula by at the beginning of a cell."""
_CELL_CHARS = 32_767
"""The most characters of a cell of Excel."""
_DAY = (1980, 1, 1, 0, 0, 0)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


class Grid(NamedTuple):
    """A table with a title; every row has a cell for each column."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def as_file(grid: Grid, form: GridFormat) -> bytes:
    """Return a table as a file."""
    rows = [[one_line(cell) for cell in row] for row in (grid.columns, *grid.rows)]
    if form == "csv":
        return _as_csv(rows)
    if form == "xlsx":
        return _as_workbook(one_line(grid.title), rows)
    if form == "docx":
        return _as_word(one_line(grid.title), rows)
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(grid.columns))
    return f"# {escaped(one_line(grid.title))}\n\n{chr(10).join(lines)}\n".encode()


def _as_csv(rows: Sequence[Sequence[str]]) -> bytes:
    """Return CSV (RFC 4180) with a byte order mark, by which Excel knows UTF-8."""
    out = io.StringIO(newline="")
    plain = ([f"'{cell}" if cell.startswith(_STARTS) else cell for cell in row] for row in rows)
    csv.writer(out).writerows(plain)
    return out.getvalue().encode("utf-8-sig")


def _as_workbook(title: str, rows: Sequence[Sequence[str]]) -> bytes:
    """Return a workbook of one sheet, whose cells are all text and whose first row stays."""
    lines = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    view = f'<sheetViews><sheetView workbookViewId="0">{pane}</sheetView></sheetViews>'
    name = escape("".join(" " if c in "[]:*?/\\'" else c for c in title)[:31], {'"': "&quot;"})
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": _relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name="{name.strip() or "Sheet"}" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relation("worksheet", "sheet.xml"),
        "xl/sheet.xml": f'<worksheet xmlns="{_MAIN}">{view}'
        f"<sheetData>{lines}</sheetData></worksheet>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, xml in parts.items():
            made.writestr(zipfile.ZipInfo(path, _DAY), _HEAD + xml, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def _cell(text: str) -> str:
    said = escape(text[:_CELL_CHARS])
    return f'<c t="inlineStr"><is><t xml:space="preserve">{said}</t></is></c>'


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
        for cell, said in zip(table.add_row().cells, row, strict=True):
            cell.text = said
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
