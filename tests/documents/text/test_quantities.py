"""Facts in words: sums, days, numbers, and the parties of an agreement."""

import pytest
from sets import rows

from lexloop.core.types import Kind
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.quantities import holds


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


_KEPT = "\n\n1. Duty\nThe Keeper feeds the goats."


@pytest.mark.parametrize(("opening", "found"), rows("parties"))
def test_each_party_has_its_name_and_its_role(opening: str, found: list[list[str]]) -> None:
    text = f"KEEPING OF GOATS\n\n{opening}{_KEPT}"
    named = parties_of(text)
    assert [[one.name, one.role] for one in named] == found
    for one in named:
        assert text[one.start : one.end] == one.name
        assert one.role in text[slice(*one.span)]
