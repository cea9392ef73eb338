""".xlsx, .xls and .ods: the sheets of a workbook, with their cells' values as they are shown."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import DAMAGED, Limits, check_size
from lexloop.documents.reading.text import LineWriter, printable, whole_number
from lexloop_formats.sheet import MOST_CELLS, Merged, Row, column_of, letters, write_sheet

Show = Callable[[Any], str]
Shown = dict[tuple[int, int], Show]
"""By row and column, from 0: how a value is shown that is no plain one."""


class _Beside(NamedTuple):
    """What a sheet says that calamine does not give: how values are shown, and merged cells."""

    shown: Shown
    merged: list[Merged]


_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TOKEN = re.compile(
    r"_.|\*.|\[\$(?P<sign>[^\[\]-]*+)[^\[\]]*\]|\[[^\[\]]*\]|\\(?P<char>.)|\"(?P<words>[^\"]*)\""
    r"|(?P<own>[%€$£¥])|(?P<digits>[0#?][0#?.,/E+]*)|.",
    re.DOTALL,
)
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_PART = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PLACE = re.compile(r"(?P<column>[A-Z]{1,3})(?P<row>[1-9]\d{0,6})")
_OPENDOCUMENT = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TABLE, _OFFICE, _TEXT = (_OPENDOCUMENT % name for name in ("table", "office", "text"))
_WRITTEN = frozenset(("percentage", "currency", "time", "boolean"))
_BUILT_IN = {"9": "0%", "10": "0.00%"}
_LARGEST = 20_000_000
"""The most cells, empty ones included, that a sheet may spread over: it is held as a whole."""

_LONGEST_FORMAT = 200
_PANIC = "PanicException"
"""What Rust gives up with, which cannot be imported and is no ``Exception``."""


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read the one document of a workbook; hidden sheets, errors and formulas are left out.

    Raises:
        CorpusError: It is damaged, encrypted, unpacks to too much, or holds no filled cell.
    """
    from lxml.etree import XMLSyntaxError
    from python_calamine import CalamineError, PasswordError, load_workbook

    try:
        formats = _formats(data, limits)
        book = load_workbook(io.BytesIO(data))
        lines = LineWriter()
        told = _write(book, formats, lines)
    except PasswordError as error:
        raise CorpusError("It is encrypted.", "Save it without a password.") from error
    except (CalamineError, XMLSyntaxError, KeyError, *DAMAGED) as error:
        raise CorpusError(f"It is a damaged workbook ({error}).", "Save it again.") from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise CorpusError(f"It is a damaged workbook ({error}).", "Save it again.") from error
    text, headings = lines.finished()
    if not headings:
        raise CorpusError(" ".join(["It holds no filled cell.", *told]), "Remove it or fill it.")
    yield Document(name, PurePosixPath(name).stem, text, headings=headings)
    for what in told:
        yield SkippedSource(name, what)


def _write(book: Any, formats: dict[str, _Beside], lines: LineWriter) -> list[str]:
    """Write the sheets of a workbook, and return what was not read, in words."""
    from python_calamine import SheetVisibleEnum

    told: list[str] = []
    left = MOST_CELLS
    for about in book.sheets_metadata:
        named = f"Sheet “{printable(about.name)}”"
        if about.visible != SheetVisibleEnum.Visible:
            told.append(f"{named} is hidden and was not read.")
            continue
        sheet = book.get_sheet_by_name(about.name)
        beside = formats.get(about.name, _Beside({}, []))
        rows, cut = _rows(sheet, beside.shown, left)
        left -= sum(len(row.cells) for row in rows)
        if rows:
            given = sheet.merged_cell_ranges or ()
            merged = [Merged(top + 1, first, end + 1, last) for (top, first), (end, last) in given]
            write_sheet(lines, printable(about.name), rows, merged or beside.merged)
        if cut:
            last = f"up to row {rows[-1].number}" if rows else "nowhere"
            told.append(f"{named} was read {last}: of a workbook {MOST_CELLS} cells are.")
    return told


def _rows(sheet: Any, formats: Shown, most: int) -> tuple[list[Row], bool]:
    """Return the rows of a sheet with at most some filled cells, and whether there are more."""
    rows: list[Row] = []
    if sheet.start is None:
        return rows, False
    left = sheet.start[1]
    # rows above the first filled one are given, columns before it are not
    for number, values in enumerate(sheet.iter_rows()):
        cells = {
            column: text
            for column, value in enumerate(values, left)
            if (text := _shown(value, formats.get((number, column))))
        }
        most -= len(cells)
        if most < 0:
            return rows, True
        if cells:
            rows.append(Row(number + 1, cells))
    return rows, False


def _shown(value: Any, shown: Show | None) -> str:
    """Return a cell's value as text of one line: days in ISO's form, no needless decimals."""
    text = str(value)
    if isinstance(value, datetime):
        text = value.isoformat(" ", "minutes").removesuffix(" 00:00")
    elif isinstance(value, time):
        text = value.isoformat("minutes")
    elif shown is not None and not isinstance(value, date):
        text = shown(value)
    elif isinstance(value, bool):
        text = text.upper()
    elif isinstance(value, int | float):
        text = plain(value)
    elif isinstance(value, timedelta):
        minutes = round(value.total_seconds() / 60)
        text = f"{minutes // 60}:{minutes % 60:02}"
    return " ".join(printable(text).split())


def plain(value: float, decimals: int | None = None) -> str:
    """Return a number in digits, as many behind the point as given where it is not whole."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return f"{value:.15g}"


def _formats(data: bytes, limits: Limits) -> dict[str, _Beside]:
    """Return for each sheet how its numbers are shown: calamine gives them bare.

    An .xls does not tell.

    Raises:
        CorpusError: It unpacks to too much, or a sheet spreads over too many cells.
    """
    if not data.startswith(b"PK"):
        return {}
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        check_size(file.infolist(), len(data), limits)
        excel = "xl/workbook.xml" in file.NameToInfo
        return _excel_formats(file) if excel else _opendocument_formats(file)


def _excel_formats(file: zipfile.ZipFile) -> dict[str, _Beside]:
    styles = _styles(file)
    targets = {
        one.get("Id"): str(one.get("Target", ""))
        for one in _elements(file, "xl/_rels/workbook.xml.rels", _RELATION)
    }
    found: dict[str, _Beside] = {}
    for sheet in _elements(file, "xl/workbook.xml", f"{_MAIN}sheet"):
        target = targets.get(sheet.get(_PART), "")
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if part in file.NameToInfo:
            found[sheet.get("name", "")] = _Beside(_sheet_formats(file, part, styles), [])
    return found


def _sheet_formats(file: zipfile.ZipFile, part: str, styles: dict[str, Show]) -> Shown:
    """Return how the numbers of a sheet are shown; refuse a sheet that spreads too far."""
    shown: Shown = {}
    last_row = last_column = 0
    for cell in islice(_elements(file, part, f"{_MAIN}c"), MOST_CELLS):
        place = _PLACE.fullmatch(cell.get("r", ""))
        if place is None or not len(cell):
            continue
        row, column = int(place["row"]) - 1, column_of(place["column"])
        last_row, last_column = max(last_row, row), max(last_column, column)
        style = styles.get(cell.get("s", "")) if cell.get("t", "n") == "n" else None
        if style is not None:
            shown[row, column] = style
    if (last_row + 1) * (last_column + 1) > _LARGEST:
        what = f"A sheet of it reaches to row {last_row + 1} of column {letters(last_column)}."
        raise CorpusError(what, "Remove the cells that lie far from the others.")
    return shown


def _opendocument_formats(file: zipfile.ZipFile) -> dict[str, _Beside]:
    """Return what is shown of percents, sums of money, times and truths, and merged cells."""
    found: dict[str, _Beside] = {}
    reached: dict[str, int] = {}
    for row in _elements(file, "content.xml", f"{_TABLE}table-row"):
        table = next(row.iterancestors(f"{_TABLE}table"), None)
        named = "" if table is None else str(table.get(f"{_TABLE}name", ""))
        beside = found.setdefault(named, _Beside({}, []))
        number = reached.get(named, 0)
        reached[named] = number + _times(row, "rows-repeated")
        column = 0
        for cell in row:
            if cell.get(f"{_OFFICE}value-type") in _WRITTEN:
                text = " ".join("".join(line.itertext()) for line in cell.iterfind(f"{_TEXT}p"))
                beside.shown[number, column] = _as_written(text)
            down, across = _times(cell, "rows-spanned"), _times(cell, "columns-spanned")
            if down > 1 or across > 1:
                merged = Merged(number + 1, column, number + down, column + across - 1)
                beside.merged.append(merged)
            column += _times(cell, "columns-repeated")
    return found


def _times(element: Any, what: str) -> int:
    return whole_number(element.get(f"{_TABLE}number-{what}"), 1)


def _as_written(text: str) -> Show:
    return lambda value: text or str(value)


def _styles(file: zipfile.ZipFile) -> dict[str, Show]:
    """Return the styles that show more than bare numbers, by their numbers."""
    part = "xl/styles.xml"
    if part not in file.NameToInfo:
        return {}
    codes = dict(_BUILT_IN)
    for one in _elements(file, part, f"{_MAIN}numFmt"):
        codes[one.get("numFmtId", "")] = str(one.get("formatCode", ""))
    used = (group for group in _elements(file, part, f"{_MAIN}cellXfs"))
    styles = [code.get("numFmtId", "") for group in used for code in group]
    made = {number: number_format(codes.get(code, "")) for number, code in enumerate(styles)}
    return {str(number): shown for number, shown in made.items() if shown is not None}


def number_format(code: str) -> Show | None:
    """Return how a format shows a number: rounded, as percents, with the signs and words beside it.

    None where it is not told from a bare number.
    """
    before = after = digits = ""
    for token in _TOKEN.finditer(code[:_LONGEST_FORMAT].partition(";")[0]):
        said = token["sign"] or token["char"] or token["words"] or token["own"] or ""
        if token["digits"]:
            digits = digits or token["digits"]
        elif digits:
            after += said
        else:
            before += said
    before, after = before.strip(" -+()"), after.strip(" -+()")
    decimals = sum(sign in "0#?" for sign in digits.partition(".")[2])
    if not digits or "/" in digits or "E" in digits or not (before or after or decimals):
        return None
    percents = "%" in before + after

    def shown(value: float) -> str:
        scaled = round(value * 100, 10) if percents else value
        spaced = " " if after and after[0] != "%" else ""
        return f"{before}{plain(scaled, decimals)}{spaced}{after}"

    return shown


def _elements(file: zipfile.ZipFile, part: str, tag: str) -> Iterator[Any]:
    """Yield the elements of a tag in a part, one after the other, each gone with the next."""
    from lxml.etree import iterparse

    with file.open(part) as opened:
        safe = {"resolve_entities": False, "no_network": True, "load_dtd": False}
        for _, element in iterparse(opened, tag=tag, **safe):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
