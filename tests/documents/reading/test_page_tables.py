"""Cells over several rows or columns of a web page's table."""

import pytest
from reading import read_document
from sets import rows


@pytest.mark.parametrize(("rows", "text"), rows("page_tables"))
def test_each_row_has_a_cell_for_each_column(rows: str, text: str) -> None:
    assert read_document("fees.html", f"<table>{rows}</table>").text == text
