"""Where quotes stand in files of these formats, each place counted by hand in the file."""

from pathlib import Path

import pytest
import xlsxwriter
from reading import read_document, read_parts

from lexloop.core.types import At
from lexloop.documents.structure.place import at_of


def place(name: str, written: str, quote: str) -> At:
    """Return where the one document of a file that has a quote has it."""
    (found,) = (one for one in read_parts(name, written)[0] if quote in one.text)
    start = found.text.index(quote)
    return at_of(found, start, start + len(quote))


def test_footnotes_are_no_paragraphs() -> None:
    # {\footnote\chftn A note.} stands in the first of three paragraphs
    written = (
        r"{\rtf1\ansi First words here.{\super\chftn}{\footnote\chftn A note.}\par"
        r" A second one.\par The garden shed costs 500 euros.\par}"
    )
    assert place("shed.rtf", written, "The garden shed") == {"paragraph": 3}


def test_a_message_has_headers_and_paragraphs() -> None:
    written = (
        "From: Ann <ann@x.org>\nTo: Bob <b@x.org>\nDate: Tue, 5 Mar 2024 14:02:00 +0100\n"
        "Subject: Boiler\n\nDear Bob,\n\nFrom: here on the repair costs 300 euros.\n\nAnn\n"
    )
    assert place("boiler.eml", written, "Boiler") == {"header": "Subject"}
    assert place("boiler.eml", written, "the repair costs") == {"paragraph": 2}


@pytest.mark.parametrize(("name", "label"), [("fees.csv", "row 3"), ("fees.xlsx", "row 3")])
def test_a_sheet_has_rows_by_their_labels(name: str, label: str, tmp_path: Path) -> None:
    rows = [("Service", "Fee", "Day"), ("Passport", "60 euros", "Monday"), ("Pier", "4", "Sunday")]
    if name.endswith("csv"):
        data = "".join(f"{','.join(row)}\n" for row in rows).encode()
    else:
        with xlsxwriter.Workbook(tmp_path / name) as book:
            sheet = book.add_worksheet("Fees")
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
        data = (tmp_path / name).read_bytes()
    found = read_document(name, data)
    start = found.text.index("Pier")
    assert found.tree.units[found.tree.at(start)].label.endswith(label)
    assert at_of(found, start, start + 4) == {}


def test_what_stands_above_a_table_of_a_sheet_has_its_row() -> None:
    written = (
        "\nFees of the pier for the year 2024\n\nService,Fee,Day\nPier,4,Sunday\nBoat,5,Monday\n"
    )
    assert place("fees.csv", written, "Fees of the pier") == {"row": 2}
