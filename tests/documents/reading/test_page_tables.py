"""Cells over several rows or columns of a web page's table."""

import pytest

from lexloop.documents.reading.html import read
from lexloop.documents.reading.source import Limits


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><th rowspan=2>Pier<th colspan=2>Berths<tr><th>Long<th>Short"
            "<tr><td>North<td>4<td>9",
            "Pier | Berths Long | Berths Short\nNorth | 4 | 9\n",
        ),
        (
            "<tr><th>Pier<th>Day<th>Fee<tr><td rowspan=2>North<td>Monday<td>4<tr><td>Tuesday<td>5",
            "Pier | Day | Fee\nNorth | Monday | 4\nNorth | Tuesday | 5\n",
        ),
        (
            "<tr><th colspan=2>Table 4: Fees<tr><th>Pier<th>Fee<tr><td>North<td>4",
            "Table 4: Fees\nPier | Fee\nNorth | 4\n",
        ),
        ("<tr><td colspan=2>a<tr><td>b<td>c", "a\nb | c\n"),
    ],
)
def test_each_row_has_a_cell_for_each_column(rows: str, text: str) -> None:
    (document,) = read(f"<table>{rows}</table>".encode(), "fees.html", Limits())
    assert document.text == text
