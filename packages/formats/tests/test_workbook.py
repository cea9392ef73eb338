import io
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from made_files import repacked, zipped
from reading import read_one
from sets import rows

from lexloop.core.errors import CorpusError
from lexloop_formats import workbook as reader
from lexloop_formats.sheet import column_of, letters
from lexloop_formats.workbook import number_format

SHEET = "xl/worksheets/sheet1.xml"


def workbook(write: Callable[[Any], None]) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    write(book)
    book.close()
    return out.getvalue()


def sheet(*rows: Any, name: str = "Fees") -> bytes:
    """A workbook of one sheet; a row that is None is left empty."""

    def write(book: Any) -> None:
        made = book.add_worksheet(name)
        for number, row in enumerate(rows):
            made.write_row(number, 0, row or ())

    return workbook(write)


def text(data: bytes, name: str = "fees.xlsx") -> list[str]:
    return read_one(name, data)[0].text.splitlines()


def fees(book: Any) -> None:
    made = book.add_worksheet("Fees")
    euros = book.add_format({"num_format": '#,##0.00 "€"'})
    percent = book.add_format({"num_format": "0%"})
    day = book.add_format({"num_format": "dd.mm.yyyy"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    made.merge_range("A1:E1", "Fees of the harbour", day)
    made.write_row("A3", ["Vessel", "Fee", "Share", "From", "Note"])
    made.write("A4", "Barge")
    made.write("B4", 40, euros)
    made.write("C4", 0.05, percent)
    made.write("D4", date(2024, 1, 1), day)
    made.write("E4", "a | b\nc")
    made.merge_range("A5:A6", "Tug")
    made.write("B5", 62.5, euros)
    made.write("C5", 1234567.25)
    made.write("D5", datetime(2024, 1, 1, 12, 30), moment)
    made.write_formula("E5", "=1/0", value="#DIV/0!")
    made.write("B6", 12)
    made.write("C6", 0.1 + 0.2)
    made.write("D6", time(9, 30), book.add_format({"num_format": "hh:mm"}))
    made.write_boolean("E6", True)
    made.write("A7", "All fees exclude VAT.")


def test_rows_have_their_numbers_and_values_as_they_are_shown() -> None:
    document, told = read_one("fees.xlsx", workbook(fees))
    assert document.text.splitlines() == [
        "Sheet “Fees”",
        "Row 1: Fees of the harbour",
        "Row | Vessel | Fee | Share | From | Note",
        "4 | Barge | 40 € | 5% | 2024-01-01 | a ¦ b c",
        "5 | Tug | 62.50 € | 1234567.25 | 2024-01-01 12:30 |",
        "6 | Tug | 12 | 0.3 | 09:30 | TRUE",
        "7 | | | | | | All fees exclude VAT.",
    ]
    assert (document.title, document.headings, told) == ("fees", ((0, 1),), [])


def test_an_xls_is_read_by_its_own_form() -> None:
    # made by LibreOffice; the format of a number is not told
    data = (Path(__file__).parent / "fees.xls").read_bytes()
    assert text(data, "fees.xls")[:5] == [
        "Sheet “Fees”",
        "Row 1: Fees of the harbour",
        "Row | Vessel | Fee | Share | From | Note",
        "4 | Barge | 40 | 0.05 | 2024-01-01 | a ¦ b c",
        "5 | Tug | 62.5 | 1234567.25 | 2024-01-01 12:30 |",
    ]


HEAD = """<office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Fees">"""
FOOT = "</table:table></office:spreadsheet></office:body></office:document-content>"


def row(*cells: str, times: int = 1) -> str:
    """A row of cells, each of its text and perhaps, in front and after a slash, of attributes."""
    written = ""
    for cell in cells:
        how, _, said = cell.rpartition("/")
        kind = "" if "value-type" in how or not said else 'office:value-type="string"'
        written += f"<table:table-cell {kind} {how}><text:p>{said}</text:p></table:table-cell>"
    return f'<table:table-row table:number-rows-repeated="{times}">{written}</table:table-row>'


def opendocument(content: str) -> bytes:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped(
        {"mimetype": kind, "META-INF/manifest.xml": "<manifest/>", "content.xml": content}
    )


def test_an_opendocument_sheet_shows_its_sums_as_they_are_written() -> None:
    euros = 'office:value-type="currency" office:value="40"/40,00 €'
    blank = 'table:number-columns-repeated="16384"/'
    rows = (row("Vessel", "Fee"), row("", times=2), row("Barge", euros), row(blank, times=1048572))
    content = f"{HEAD}{''.join(rows)}{FOOT}"
    lines = ["Sheet “Fees”", "Row | A | B", "1 | Vessel | Fee", "4 | Barge | 40,00 €"]
    assert text(opendocument(content), "fees.ods") == lines
    with pytest.raises(CorpusError, match="damaged workbook"):
        text(opendocument(content[:900]), "fees.ods")


def test_merged_cells_of_an_opendocument_sheet_are_one() -> None:
    rows = (
        row('table:number-rows-spanned="2"/Vessel', 'table:number-columns-spanned="2"/Fee', ""),
        row("", "Summer", "Winter"),
        row('table:number-rows-spanned="2"/Tug', "1", "2"),
        row("", "3", "4"),
    )
    assert text(opendocument(f"{HEAD}{''.join(rows)}{FOOT}"), "fees.ods")[1:] == [
        "Row | Vessel | Fee, Summer | Fee, Winter",
        "3 | Tug | 1 | 2",
        "4 | Tug | 3 | 4",
    ]


def test_merged_cells_beyond_counting_take_no_time() -> None:
    def write(book: Any) -> None:
        made = book.add_worksheet()
        for number in range(3000):
            made.write_row(number, 0, ["Tug", "one", "two"])

    every = "".join('<mergeCell ref="A1:A1048576"/>' for _ in range(20_000)).encode()
    merged = b"</sheetData><mergeCells>" + every + b"</mergeCells>"
    data = repacked(workbook(write), SHEET, lambda xml: xml.replace(b"</sheetData>", merged))
    assert len(text(data)) == 3001


@pytest.mark.parametrize(("rows", "lines"), rows("sheet_columns"))
def test_columns_have_the_names_of_their_table(rows: list[Any], lines: list[str]) -> None:
    written = text(sheet(*rows))
    assert written[1 : len(lines) + 1] == lines
    assert sum(" | " in line for line in written) >= len([row for row in rows if row]) - 1


def test_hidden_sheets_are_told_and_empty_ones_passed_over() -> None:
    def write(book: Any) -> None:
        book.add_worksheet("Shown").write(0, 0, "The fee is due.")
        hidden = book.add_worksheet("Costs")
        hidden.write(0, 0, "A secret.")
        hidden.hide()
        book.add_worksheet("Empty")

    document, told = read_one("fees.xlsx", workbook(write))
    assert "secret" not in document.text
    assert "Empty" not in document.text
    assert told == ["Sheet “Costs” is hidden and was not read."]


def test_what_is_too_large_is_read_in_part_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_CELLS", 200)
    document, told = read_one(
        "fees.xlsx", sheet(("Key", "Fee"), *((n, 2 * n) for n in range(2, 150)))
    )
    assert told == ["Sheet “Fees” was read up to row 100: of a workbook 200 cells are."]
    assert document.text.endswith("\n100 | 100 | 200\n")


def test_a_range_that_lies_is_not_believed_and_cells_far_away_are_refused() -> None:
    data = sheet(("Vessel", "Fee"), ("Barge", 40))
    lying = repacked(data, SHEET, lambda xml: xml.replace(b'"A1:B2"', b'"A1:XFD1048576"'))
    assert text(lying) == ["Sheet “Fees”", "Row | Vessel | Fee", "2 | Barge | 40"]
    far = repacked(data, SHEET, lambda xml: xml.replace(b'r="B2"', b'r="XFD1048576"'))
    with pytest.raises(CorpusError, match="reaches to row 1048576 of column XFD"):
        text(far)


@pytest.mark.parametrize(
    "entity", ['"<x>40</x>"', 'SYSTEM "file:///etc/passwd"', '"&b;&b;&b;&b;&b;&b;&b;&b;"']
)
def test_entities_are_never_expanded(entity: str) -> None:
    declared = f"<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c {entity}>]><worksheet".encode()

    def with_entity(xml: bytes) -> bytes:
        return xml.replace(b"<worksheet", declared, 1).replace(b"<v>40</v>", b"<v>&c;</v>")

    data = repacked(sheet(("Vessel", "Fee"), ("Barge", 40)), SHEET, with_entity)
    try:
        assert not {"ha", "root", "40"} & set(" ".join(text(data)).replace("|", " ").split())
    except CorpusError as error:
        assert "damaged workbook" in error.what  # noqa: PT017


OLD = (Path(__file__).parent / "fees.xls").read_bytes()
GOOD = sheet(("Vessel", "Fee"), ("Barge", 40))


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (GOOD[:2000], "a.xlsx", "damaged workbook"),
        (repacked(GOOD, "xl/workbook.xml", lambda _: b"<a"), "a.xlsx", "damaged workbook"),
        (sheet(), "a.xlsx", "It holds no filled cell."),
        (OLD[:1500], "a.xls", "older Office file"),
        (OLD[:2050] + b"\x00" + OLD[2051:], "a.xls", "damaged workbook"),  # calamine gives up
    ],
)
def test_what_is_no_sound_workbook_is_refused(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read_one(name, data)


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0.0%", 0.125, "12.5%"),
        ('_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-', 55.1, "55.10 €"),
        ("[$$-409]#,##0.00", 1234.5, "$1234.50"),
        ('0" days"', 30, "30 days"),
    ],
)
def test_a_number_has_what_its_format_puts_beside_it(code: str, value: float, shown: str) -> None:
    made = number_format(code)
    assert made is not None
    assert made(value) == shown


@pytest.mark.parametrize(
    "code", ["General", "0", "#,##0", "# ?/?", "0.00E+00", "@", "yyyy-mm-dd", ""]
)
def test_a_bare_format_puts_nothing_beside_a_number(code: str) -> None:
    assert number_format(code) is None


def test_columns_are_named_as_programs_name_them() -> None:
    assert [letters(n) for n in (0, 25, 26, 702, 16_383)] == ["A", "Z", "AA", "AAA", "XFD"]
    assert all(column_of(letters(n)) == n for n in range(0, 17_000, 13))
