"""The kinds of facts that questions ask for."""

import pytest

from lexloop.core.types import Kind
from lexloop.documents.text.quantities import holds


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("duration", "within 10 business days"),
        ("duration", "no longer than is needed"),
        ("duration", "for at least twenty-four (24) months"),
        ("duration", "a statement of sales, quarterly"),
        ("duration", "audited once per year"),
        ("duration", "inspected every two weeks"),
        ("duration", "inspected every quarter"),
        ("money", "a fee of $1,500"),
        ("percentage", "2% of the value"),
        ("number", "four boats"),
        ("number", "a majority of the boats"),
        ("measure", "shorter than 4 metres"),
        ("contact", "write to a@b.org"),
        ("name", "the Port Authority of Hull"),
    ],
)
def test_a_text_holds_its_own_kind_of_fact_and_no_other(kind: Kind, text: str) -> None:
    assert holds(kind, text)
    assert not holds(kind, "the port authority says so")
    assert holds("measure", text) is (kind == "measure")


@pytest.mark.parametrize(
    "text",
    [
        "A stall costs 12 francs.",
        "forty rupees",
        "Seventy Thousand U.S. Dollars (70,000)",
        "20 cents a day",
        "a fine of fifty thousand shillings",
        "CHF 8 a year",
        "100 SEK",
        "₹40",
        "9,50 €",
        "Der Platz kostet 5 Franken.",
        "La place coûte 3 couronnes.",
        # whatever a document counts its prices by
        "A stall costs 9 crowns.",
        "The yearly fee for a stall is at least 30 guineas.",
    ],
)
def test_a_sum_of_money_is_known_by_its_currency(text: str) -> None:
    assert holds("money", text)


@pytest.mark.parametrize(
    "text",
    ["§ 5 of the act", "A stall costs 3 days of work.", "the fee is 5 %", "ABC 12", "12 boats"],
)
def test_another_number_is_no_sum_of_money(text: str) -> None:
    assert not holds("money", text)
