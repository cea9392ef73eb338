"""A table over documents as a file: a workbook, lines of CSV, a page, or text with footnotes.

All formats show the same for a cell: the document's answer, the playbook's verdict, how sure the
cell is, the quote with its place, and a person's correction. Files contain no formulas, scripts or
markup from documents, and no links to the outside.
"""

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, get_args
from xml.sax.saxutils import escape

from lexloop.apps.shapes.citing import Style, pinpoint
from lexloop.apps.shapes.files import Format, in_form, named_form
from lexloop.apps.shapes.outline import (
    NOTICE,
    PLAIN,
    Aside,
    Heading,
    Layout,
    Line,
    Outline,
    Run,
    opened,
    quoted_at,
)
from lexloop.apps.shapes.text import is_said, one_line, places, shortened
from lexloop.core.errors import InputError
from lexloop.core.types import Citation
from lexloop_workbench.shapes.grid import MOST_CELL, as_csv, workbook
from lexloop_workbench.table.checklist import Question
from lexloop_workbench.table.store import ShownCell, ShownRow, TableInfo, TableStore

_Grid = Literal["xlsx", "csv", "html"]
ReviewFormat = _Grid | Format
_GRIDS: tuple[_Grid, ...] = get_args(_Grid)
REVIEW_FORMATS: tuple[ReviewFormat, ...] = (*_GRIDS, *get_args(Format))
_HEAD = (
    *("Document", "Question", "State", "Answer", "Playbook", "Probability", "Quote", "Place"),
    *("Further places", "Disagrees", "Corrected by", "Corrected at", "Note", "Machine's answer"),
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.4 sans-serif; margin: 1.5rem; color: #1a1a1a; background: #fff }}
table {{ border-collapse: collapse }}
th, td {{ border: 1px solid #999; padding: .4rem .6rem; text-align: left; vertical-align: top;
  min-width: 12rem; max-width: 26rem; overflow-wrap: anywhere; unicode-bidi: isolate }}
thead th {{ background: #eee }}
q, small {{ color: #444; display: block }}
.deviates {{ background: #fde3e0 }}
.unlike {{ border-left: 4px solid #b36b00 }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{notice}</p>
<table>
<thead><tr><th>Document</th>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def reviewed(store: TableStore, form: ReviewFormat, layout: Layout = PLAIN) -> bytes:
    """Return a table as a file. Only formats with footnotes accept a layout.

    Raises:
        InputError: A layout is given for a format without footnotes.
        LexloopError: The table cannot be read.
    """
    _check(form, layout)
    info, rows = store.info, store.rows()
    if form == "csv":
        return as_csv(chain([_HEAD], _lines(info, rows)))
    if form == "html":
        return _as_html(info, rows).encode()
    if form == "xlsx":
        return _as_workbook(info, rows)
    return in_form(_outline(info, rows, layout), form, layout)


def check_review(file: Path, overwrite: bool, layout: Layout) -> ReviewFormat:
    """Return the format that a file's suffix names, once it is sure that it can be written.

    Raises:
        InputError: The suffix is unknown or of a format without layout, the file is there, or its
            folder is not.
    """
    forms: dict[str, ReviewFormat] = {f".{form}": form for form in REVIEW_FORMATS}
    form = named_form(file, overwrite, forms)
    _check(form, layout)
    return form


def _check(form: ReviewFormat, layout: Layout) -> None:
    if layout != PLAIN and form in _GRIDS:
        others = ", ".join(f".{form_name}" for form_name in get_args(Format))
        raise InputError(f"A .{form} file has no footnotes to lay out.", f"Write {others}.")


def said_of(cell: ShownCell) -> tuple[str, str, str]:
    """Return the state, the answer and the playbook's verdict of a cell, after corrections."""
    latest = cell.correction or cell
    return latest.state, one_line(latest.answer), latest.deviation


def sure(cell: ShownCell) -> str:
    """Return how sure a cell is, in words, or empty for a person's correction."""
    return "" if cell.probability is None or cell.correction else f"{cell.probability:.0%}"


def _cells(info: TableInfo, row: ShownRow) -> Iterator[tuple[Question, ShownCell]]:
    for question in info.checklist.questions:
        cell = row.cells.get(question.id)
        if cell is not None:
            yield question, cell


def _lines(info: TableInfo, rows: Iterator[ShownRow]) -> Iterator[list[str]]:
    """Yield a line for each cell, in the order of ``_HEAD``."""
    for row in rows:
        for question, cell in _cells(info, row):
            state, answer, playbook = said_of(cell)
            first, rest = next(iter(cell.citations), None), cell.citations[1:]
            correction = cell.correction
            yield [
                *(one_line(row.document), one_line(question.question), state, answer, playbook),
                *(sure(cell), one_line(first["quote"]) if first else ""),
                ", ".join(places(first)) if first else "",
                "; ".join(", ".join(places(one)) for one in rest),
                cell.disagrees or cell.reason,
                *(
                    (one_line(correction.by), correction.at, one_line(correction.note))
                    if correction
                    else ("", "", "")
                ),
                f"{cell.state}: {one_line(cell.answer)}".rstrip(": ") if correction else "",
            ]


def _shown(cell: ShownCell) -> str:
    """Return a cell of the overview as text."""
    state, answer, playbook = said_of(cell)
    marks = [playbook, sure(cell), f"corrected by {cell.correction.by}" if cell.correction else ""]
    text = answer or (cell.reason if state in ("failed", "refused") else "")
    head = f"{state} ({', '.join(filter(None, map(one_line, marks)))})".replace(" ()", "")
    return f"{head}: {one_line(text)}" if text else head


def _as_workbook(info: TableInfo, rows: Iterator[ShownRow]) -> bytes:
    file = io.BytesIO()
    with workbook(file, one_line(info.title)) as book:
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        plain = book.add_format({"text_wrap": True, "valign": "top"})
        red = book.add_format({"text_wrap": True, "valign": "top", "bg_color": "#FDE3E0"})
        table, cells_sheet = book.add_worksheet("Table"), book.add_worksheet("Cells")
        questions = info.checklist.questions
        columns = {column.id: at for at, column in enumerate(questions, 1)}
        for at, title in enumerate(["Document", *(column.title for column in questions)]):
            table.write_string(0, at, one_line(title), bold)
        for at, title in enumerate(_HEAD):
            cells_sheet.write_string(0, at, title, bold)
        below = 0
        for number, row in enumerate(rows, 1):
            table.write_string(number, 0, one_line(row.document), bold)
            for question, cell in _cells(info, row):
                look = red if said_of(cell)[2] == "deviates" else plain
                text = shortened(_shown(cell), MOST_CELL)
                table.write_string(number, columns[question.id], text, look)
            for line in _lines(info, iter([row])):
                below += 1
                for at, field in enumerate(line):
                    cells_sheet.write_string(below, at, shortened(field, MOST_CELL), plain)
        for sheet, last in ((table, len(questions)), (cells_sheet, len(_HEAD) - 1)):
            sheet.freeze_panes(1, 1)
            sheet.set_column(0, last, 32)
        cells_sheet.autofilter(0, 0, below, len(_HEAD) - 1)
    return file.getvalue()


def _as_html(info: TableInfo, rows: Iterator[ShownRow]) -> str:
    head = "".join(f"<th>{_text(column.title)}</th>" for column in info.checklist.questions)
    lines = []
    for row in rows:
        cells = dict(_cells_by_id(info, row))
        cells_html = "".join(_td(cells.get(column.id)) for column in info.checklist.questions)
        lines.append(f"<tr><th>{_text(row.document)}</th>{cells_html}</tr>")
    title = _text(info.title or "Table")
    return _PAGE.format(title=title, notice=_text(NOTICE), head=head, rows="\n".join(lines))


def _cells_by_id(info: TableInfo, row: ShownRow) -> Iterator[tuple[str, ShownCell]]:
    for question, cell in _cells(info, row):
        yield question.id, cell


def _td(cell: ShownCell | None) -> str:
    if cell is None:
        return "<td></td>"
    deviates = said_of(cell)[2] == "deviates"
    looks = ["deviates" if deviates else "", "unlike" if cell.disagrees else ""]
    parts = [f"<p>{_text(_shown(cell))}</p>"]
    for quote in _quoted(cell)[:1]:
        place = ", ".join(places(quote))
        again = is_said(quote["quote"], _shown(cell))
        parts += [] if again else [f"<q>{_text(quote['quote'])}</q>"]
        parts.append(f"<small>{_text(place)}</small>")
    parts += [f"<small>{_text(note)}</small>" for note in _beneath(cell)]
    return f'<td class="{" ".join(filter(None, looks))}">{"".join(parts)}</td>'


def _text(text: str) -> str:
    return escape(one_line(text), {'"': "&quot;"})


def _outline(info: TableInfo, rows: Iterator[ShownRow], layout: Layout) -> Outline:
    """Return a table as text: what deviates first, then each document with all of its cells."""
    outline = opened(info.title or "Table", layout)
    rows_with_cells = [(row, [*_cells(info, row)]) for row in rows]
    deviating = [
        Line([one_line(f"{row.document}, {column.title}: {_short(cell)}")], item=True)
        for row, cells in rows_with_cells
        for column, cell in cells
        if said_of(cell)[2] == "deviates"
    ]
    if deviating:
        outline.blocks += [Heading(1, "What deviates"), *deviating]
    for row, cells in rows_with_cells:
        outline.blocks.append(Heading(1, one_line(row.document)))
        for column, cell in cells:
            outline.blocks.append(Heading(2, one_line(column.title)))
            _add_cell(outline, row, cell, layout.style)
    return outline


def _short(cell: ShownCell) -> str:
    state, answer, _ = said_of(cell)
    return answer or state


def _add_cell(outline: Outline, row: ShownRow, cell: ShownCell, style: Style) -> None:
    """Add a cell with a footnote for its quotes and a person's correction."""
    runs: list[Run] = [_shown(cell)]
    if quoted := _quoted(cell):
        number = len(outline.notes) + 1
        runs.append(number)
        outline.notes[number] = [
            line
            for quote in quoted
            for line in _cited(pinpoint({"title": row.title, **quote}, style), quote, cell)
        ]
    outline.blocks.append(Line(runs))
    if beneath := _beneath(cell):
        outline.blocks.append(Aside(beneath))


def _cited(place: str, source: Citation, cell: ShownCell) -> list[str]:
    """Return the lines of a footnote. Words that the cell itself says are not quoted again."""
    again = is_said(source["quote"], _shown(cell))
    return [f"{place}."] if again else quoted_at(place, source["quote"])


def _quoted(cell: ShownCell) -> Sequence[Citation]:
    """Return the quotes of a cell, or none if only the nearest passages were found."""
    return cell.citations if said_of(cell)[0] != "not stated" else ()


def _beneath(cell: ShownCell) -> list[str]:
    """Return a person's correction of a cell, and how the cell differs from its column."""
    lines = [cell.disagrees] if cell.disagrees else []
    if correction := cell.correction:
        machine = f"The machine said: {cell.state}. {cell.answer}"
        lines.insert(0, one_line(f"Corrected by {correction.by}. {correction.note} {machine}"))
    return lines
