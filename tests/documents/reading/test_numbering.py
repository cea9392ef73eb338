import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.reading.numbering import BULLET, LEVELS, Counter, Level, pieces
from lexloop.documents.reading.text import numeral

PLACE = re.compile(r"%(\d)")


def level(kind: str, shown: str, **more: int) -> Level:
    return Level(kind, pieces(shown, PLACE), **more)


LEGAL = {
    0: level("I", "Article %1."),
    1: level("01", "Section %1.%2"),
    2: level("aa", "(%3)"),
    3: level(BULLET, "o"),
}


def test_a_level_counts_on_and_begins_anew_below_another() -> None:
    counter = Counter()
    assert [counter.number(LEGAL, depth) for depth in (0, 1, 1, 2, 3, 2, 0, 1, 2)] == [
        *("Article I.", "Section I.01", "Section I.02", "(a)", "•", "(b)"),
        *("Article II.", "Section II.01", "(a)"),
    ]


def test_a_level_may_count_through_those_above_it_and_show_digits_alone() -> None:
    levels = {0: LEGAL[0], 1: Level("1", pieces("%1.%2", PLACE), plain=True, restart=0)}
    counter = Counter()
    shown = [counter.number(levels, depth) for depth in (0, 1, 1, 0, 1)]
    assert shown == ["Article I.", "1.1", "1.2", "Article II.", "2.3"]


def test_a_number_that_is_not_shown_takes_what_joins_it_along() -> None:
    levels = {0: level("", "Part"), 1: level("1", "%1.%2."), 2: level("a", "%1-%2-%3")}
    counter = Counter()
    assert [counter.number(levels, depth) for depth in (0, 1, 2, 7)] == ["Part", "1.", "1-a", ""]


def test_any_sign_of_a_list_is_a_bullet_but_a_blank_one() -> None:
    levels = {0: level(BULLET, "\uf0b7"), 1: level(BULLET, "-"), 2: level(BULLET, " ")}
    assert [Counter().number(levels, depth) for depth in (0, 1, 2)] == ["•", "•", ""]


def test_a_list_may_start_at_any_number_and_be_set_to_one() -> None:
    levels = {0: level("1", "%1.", start=0), 1: level("1", "%1.%2", start=5)}
    counter = Counter()
    assert counter.number(levels, 1) == "0.5"
    assert counter.number(levels, 0) == "0."
    counter.restart(0, 12)
    assert [counter.number(levels, depth) for depth in (0, 1)] == ["12.", "12.5"]
    other = counter.below(1)
    assert [other.number(levels, 1), counter.number(levels, 1)] == ["12.5", "12.6"]


@pytest.mark.parametrize(
    ("value", "kind", "shown"), [(27, "aa", "aa"), (28, "AA", "BB"), (0, "aa", "0")]
)
def test_letters_behind_z(value: int, kind: str, shown: str) -> None:
    assert numeral(value, kind) == shown


@given(st.lists(st.integers(0, 8)))
def test_no_number_comes_twice_where_no_level_is_left_out(wanted: list[int]) -> None:
    levels = {
        depth: level("1", ".".join(f"%{place}" for place in range(1, depth + 2)))
        for depth in range(LEVELS - 1)
    }
    counter, depth, shown = Counter(), -1, []
    for other in wanted:
        depth = min(depth + 1, other)
        shown.append(counter.number(levels, depth))
    assert len(set(shown)) == len(shown)
