"""Cells of CSV: no part that a spreadsheet may make a cell of is a formula, and text comes back."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sets import rows

from lexloop.core.cells import guarded, unguarded

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
texts = st.text(st.sampled_from("=+-@＝;\t\r\n ,'\"\xa0a1\ufeff")) | st.text()


@pytest.mark.parametrize(("text", "shown"), rows("guarded_cells"))
def test_what_may_begin_a_cell_is_guarded(text: str, shown: str) -> None:
    assert guarded(text) == shown


@given(texts)
@example("'=")
@example("' '=")
@example(";'\"'=")
def test_any_text_is_read_back(text: str) -> None:
    assert unguarded(guarded(text)) == text


@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(";\t"), st.booleans())
def test_however_a_line_is_split_no_cell_is_a_formula(
    row: list[str], delimiter: str, heeds: bool
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow(map(guarded, row))
    quoting = csv.QUOTE_MINIMAL if heeds else csv.QUOTE_NONE
    lines = io.StringIO(out.getvalue().replace("\0", ""), newline="")
    for cells in csv.reader(lines, delimiter=delimiter, quoting=quoting):
        assert not [cell for cell in cells if cell.strip(' "\xa0').startswith(SIGNS)]
