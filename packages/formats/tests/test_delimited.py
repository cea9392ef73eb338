from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_one

from lexloop.core.errors import CorpusError
from lexloop.documents.structure.lines import cells
from lexloop_formats import delimited

read = partial(read_one, "in/fees_2024.csv")


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_cells_are_told_apart_by_the_sign_that_most_rows_have_alike(sign: str) -> None:
    rows = [
        ("Vessel", "Fee, in EUR", "Note"),
        ("Barge", "40,5", ""),
        ("", "", ""),
        ("Tug", "6", "b"),
    ]
    quoted = "\r\n".join(sign.join(f'"{cell}"' if cell else "" for cell in row) for row in rows)
    document, told = read(quoted)
    assert document.text.splitlines() == [
        "Sheet “fees_2024”",
        "Row | Vessel | Fee, in EUR | Note",
        "2 | Barge | 40,5 |",
        "4 | Tug | 6 | b",
    ]
    assert told == []
    labels = [unit.label for unit in document.tree.units if unit.kind == "row"]
    assert labels == ["Sheet “fees_2024”, row 2", "Sheet “fees_2024”, row 4"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_an_encoding_is_told_as_of_any_text(encoding: str) -> None:
    document, _ = read("Straße,Gebühr\nMühlgasse,40 €\n".encode(encoding))
    assert "2 | Mühlgasse | 40 €" in document.text


def test_a_line_end_in_a_cell_is_a_blank_and_a_row_counts_once() -> None:
    document, _ = read('Vessel,Fee,Note\nBarge,4,"one\ntwo"\nTug,5,three\n')
    assert document.text.splitlines()[2:] == ["2 | Barge | 4 | one two", "3 | Tug | 5 | three"]


def test_what_is_too_large_is_read_in_part_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_CELLS", 200)
    document, told = read("Vessel,Fee\n" + "Barge,40\n" * 101)
    assert told == ["It was read up to row 100: it has more than 200 cells."]
    assert document.text.endswith("\n100 | Barge | 40\n")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b",,\n,\n", "no filled cell"),
        (b"a," * 200_001, "first row has more than 200000 filled cells"),
        ('a,"' + "x" * (1 << 20) + "y", "not CSV"),
    ],
)
def test_what_is_no_table_is_refused(data: bytes | str, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read(data)


WORD = st.text("abcdefgh", min_size=1, max_size=8)


TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(WORD, min_size=width, max_size=width), min_size=1, max_size=20)
)


@given(TABLES)
def test_every_filled_cell_is_in_the_row_of_its_number(rows: list[list[str]]) -> None:
    document, _ = read("\n".join(",".join(row) for row in rows))
    written = {number: found for number, *found in map(cells, document.text.splitlines()[1:])}
    for number, row in enumerate(rows, 1):
        assert written.get(str(number), written["Row"])[: len(row)] == row


def test_a_decimal_comma_is_none_between_cells() -> None:
    document, _ = read("Vessel;Fee\nBarge;40,50\nTug;6,25\nYacht;3,00\n")
    assert document.text.splitlines()[2:] == [
        "2 | Barge | 40,50",
        "3 | Tug | 6,25",
        "4 | Yacht | 3,00",
    ]
