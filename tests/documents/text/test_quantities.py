"""The kinds of facts that questions ask for."""

import pytest

from lexloop.core.types import Kind
from lexloop.documents.text.quantities import holds


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("duration", "within 10 business days"),
        ("duration", "for at least twenty-four (24) months"),
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
