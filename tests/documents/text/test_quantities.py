"""The kinds of facts that questions ask for."""

import pytest
from sets import rows

from lexloop.core.types import Kind
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
        *(
            "§ 5 of the act",
            "A stall costs 3 days of work.",
            "the fee is 5 %",
            "ABC 12",
            "12 boats",
        ),
        *("a rent of two months", "two months' written notice"),
    ],
)
def test_another_number_is_no_sum_of_money(text: str) -> None:
    assert not holds("money", text)
