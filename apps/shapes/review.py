"""A table over documents as a file: a workbook, lines of CSV, a page or a Word document.

All say the same of a cell: what the document says, what the playbook says of that, how sure it is,
the quote with its place, and a correction as a person's. Nothing in a file is a formula, a script,
markup of a document, or reaches outside.
"""

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, get_args
from xml.sax.saxutils import escape

from lexloop.apps.shapes.files import named_form
from lexloop.apps.shapes.grid import MOST_CELL, as_csv, workbook
from lexloop.apps.shapes.outline import NOTICE
from lexloop.apps.shapes.text import one_line, places, shortened
from lexloop.workbench.table.checklist import Question
from lexloop.workbench.table.store import ShownCell, ShownRow, TableInfo, TableStore

ReviewFormat = Literal["xlsx", "csv", "html", "docx"]
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


def reviewed(store: TableStore, form: ReviewFormat) -> bytes:
    """Return a table as a file.

    Raises:
        LexloopError: The table cannot be read.
    """
    info, rows = store.info, store.rows()
    if form == "csv":
        return as_csv(chain([_HEAD], _lines(info, rows)))
    if form == "html":
        return _as_html(info, rows).encode()
    if form == "xlsx":
        return _as_workbook(info, rows)
    return _as_word(info, rows)


def check_review(file: Path, overwrite: bool) -> ReviewFormat:
    """Return the format that a file's suffix names, once it is sure that it can be written.

    Raises:
        InputError: The suffix is unknown, the file is there, or its folder is not.
    """
    forms: dict[str, ReviewFormat] = {f".{form}": form for form in get_args(ReviewFormat)}
    return named_form(file, overwrite, forms)


def said_of(cell: ShownCell) -> tuple[str, str, str]:
    """Return the state, the answer and the playbook's word of a cell, as it was corrected."""
    held = cell.correction or cell
    return held.state, one_line(held.answer), held.deviation


def sure(cell: ShownCell) -> str:
    """Return how sure a cell is, in words; a person's correction needs none."""
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
            first, others = next(iter(cell.citations), None), cell.citations[1:]
            made = cell.correction
            yield [
                *(one_line(row.document), one_line(question.question), state, answer, playbook),
                *(sure(cell), one_line(first["quote"]) if first else ""),
                ", ".join(places(first)) if first else "",
                "; ".join(", ".join(places(one)) for one in others),
                cell.disagrees or cell.reason,
                *((one_line(made.by), made.at, one_line(made.note)) if made else ("", "", "")),
                f"{cell.state}: {one_line(cell.answer)}".rstrip(": ") if made else "",
            ]


def _shown(cell: ShownCell) -> str:
    """Return a cell of the overview as text."""
    state, answer, playbook = said_of(cell)
    marks = [playbook, sure(cell), f"corrected by {cell.correction.by}" if cell.correction else ""]
    said = answer or (cell.reason if state in ("failed", "refused") else "")
    head = f"{state} ({', '.join(filter(None, map(one_line, marks)))})".replace(" ()", "")
    return f"{head}: {one_line(said)}" if said else head


def _as_workbook(info: TableInfo, rows: Iterator[ShownRow]) -> bytes:
    file = io.BytesIO()
    with workbook(file, one_line(info.title)) as book:
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        plain = book.add_format({"text_wrap": True, "valign": "top"})
        red = book.add_format({"text_wrap": True, "valign": "top", "bg_color": "#FDE3E0"})
        table, each = book.add_worksheet("Table"), book.add_worksheet("Cells")
        questions = info.checklist.questions
        columns = {one.id: at for at, one in enumerate(questions, 1)}
        for at, title in enumerate(["Document", *(one.title for one in questions)]):
            table.write_string(0, at, one_line(title), bold)
        for at, title in enumerate(_HEAD):
            each.write_string(0, at, title, bold)
        below = 0
        for number, row in enumerate(rows, 1):
            table.write_string(number, 0, one_line(row.document), bold)
            for question, cell in _cells(info, row):
                look = red if said_of(cell)[2] == "deviates" else plain
                text = shortened(_shown(cell), MOST_CELL)
                table.write_string(number, columns[question.id], text, look)
            for line in _lines(info, iter([row])):
                below += 1
                for at, said in enumerate(line):
                    each.write_string(below, at, shortened(said, MOST_CELL), plain)
        for sheet, last in ((table, len(questions)), (each, len(_HEAD) - 1)):
            sheet.freeze_panes(1, 1)
            sheet.set_column(0, last, 32)
        each.autofilter(0, 0, below, len(_HEAD) - 1)
    return file.getvalue()


def _as_html(info: TableInfo, rows: Iterator[ShownRow]) -> str:
    head = "".join(f"<th>{_text(one.title)}</th>" for one in info.checklist.questions)
    lines = []
    for row in rows:
        cells = dict(_cells_by_id(info, row))
        said = "".join(_td(cells.get(one.id)) for one in info.checklist.questions)
        lines.append(f"<tr><th>{_text(row.document)}</th>{said}</tr>")
    title = _text(info.title or "Table")
    return _PAGE.format(title=title, notice=_text(NOTICE), head=head, rows="\n".join(lines))


def _cells_by_id(info: TableInfo, row: ShownRow) -> Iterator[tuple[str, ShownCell]]:
    for question, cell in _cells(info, row):
        yield question.id, cell


def _td(cell: ShownCell | None) -> str:
    if cell is None:
        return "<td></td>"
    state, _, playbook = said_of(cell)
    looks = ["deviates" if playbook == "deviates" else "", "unlike" if cell.disagrees else ""]
    parts = [f"<p>{_text(_shown(cell))}</p>"]
    quoted = cell.citations if state != "not stated" else []
    for one in quoted[:1]:
        where = ", ".join(places(one))
        parts += [f"<q>{_text(one['quote'])}</q>", f"<small>{_text(where)}</small>"]
    made = cell.correction
    notes = [cell.disagrees, made.note if made else ""]
    if made:
        notes.append(f"The machine said: {cell.state}. {cell.answer}")
    parts += [f"<small>{_text(note)}</small>" for note in notes if note]
    return f'<td class="{" ".join(filter(None, looks))}">{"".join(parts)}</td>'


def _text(said: str) -> str:
    return escape(one_line(said), {'"': "&quot;"})


def _as_word(info: TableInfo, rows: Iterator[ShownRow]) -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = one_line(info.title)
    document.core_properties.author, document.core_properties.comments = "Lexloop", NOTICE
    document.add_heading(one_line(info.title or "Table"), 0)
    document.add_paragraph(NOTICE)
    for row in rows:
        document.add_heading(one_line(row.document), 1)
        for question, cell in _cells(info, row):
            document.add_heading(one_line(question.title), 2)
            document.add_paragraph(_shown(cell))
            for said in _beneath(cell):
                document.add_paragraph(said, style="Quote")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _beneath(cell: ShownCell) -> Sequence[str]:
    quotes = cell.citations[:1] if said_of(cell)[0] != "not stated" else []
    found = [f"“{one_line(one['quote'])}” ({', '.join(places(one))})" for one in quotes]
    made = cell.correction
    if made:
        note = f" {one_line(made.note)}" if made.note else ""
        machine = one_line(f"{cell.state}. {cell.answer}")
        found.append(f"Corrected by {one_line(made.by)}.{note} The machine said: {machine}")
    return found + ([cell.disagrees] if cell.disagrees else [])
