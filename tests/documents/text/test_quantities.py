"""Facts in words: sums, days, numbers, and the parties of an agreement."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.core.types import Kind
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.quantities import holds
from lexloop.documents.text.ranges import quantities, range_of


@pytest.mark.parametrize(("kind", "text"), rows("quantities"))
def test_a_text_holds_its_own_kind_of_fact_and_no_other(kind: Kind, text: str) -> None:
    assert holds(kind, text)
    assert not holds(kind, "the port authority says so")
    assert holds("measure", text) is (kind == "measure")


@pytest.mark.parametrize("text", rows("money"))
def test_a_sum_of_money_is_known_by_its_currency(text: str) -> None:
    assert holds("money", text)


@pytest.mark.parametrize(
    "text",
    [
        *("§ 5 of the act", "A stall costs 3 days of work.", "the fee is 5 %", "ABC 12"),
        *("12 boats", "a rent of two months", "two months' written notice"),
    ],
)
def test_another_number_is_no_sum_of_money(text: str) -> None:
    assert not holds("money", text)


@pytest.mark.parametrize(("cell", "inside", "outside"), rows("ranges"))
def test_a_cell_states_a_range(cell: str, inside: str, outside: str) -> None:
    band = range_of(cell)
    assert band is not None
    assert [band.holds(one, frozenset()) for one in quantities(f"{inside}, {outside}")] == [
        *(True, False)
    ]


@pytest.mark.parametrize("cell", ["", "12", "Form 12", "Rule 3 to 5", "over the hill", "1.2.3-4"])
def test_another_cell_states_none(cell: str) -> None:
    assert range_of(cell) is None


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=9, unique=True), st.integers(0, 10**6))
def test_a_number_lies_in_one_of_the_bands_that_follow_each_other(
    ends: list[int], number: int
) -> None:
    ends.sort()
    between = [f"over {low:,} up to {high}" for low, high in pairwise(ends)]
    bands = [*map(range_of, [f"up to {ends[0]}", *between, f"over {ends[-1]}"])]
    [said] = quantities(f"{number:,}")
    assert sum(band is not None and band.holds(said, frozenset()) for band in bands) == 1


_KEPT = "\n\n1. Duty\nThe Keeper feeds the goats."


@pytest.mark.parametrize(("opening", "found"), rows("parties"))
def test_each_party_has_its_name_and_its_role(opening: str, found: list[list[str]]) -> None:
    text = f"KEEPING OF GOATS\n\n{opening}{_KEPT}"
    named = parties_of(text)
    assert [[one.name, one.role] for one in named] == found
    for one in named:
        assert text[one.start : one.end] == one.name
        assert one.role in text[slice(*one.span)]
