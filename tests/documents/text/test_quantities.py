"""The kinds of facts that questions ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.types import Kind
from lexloop.documents.text.quantities import holds
from lexloop.nodes.question import counted, expected_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How long before use must notice be given?", "duration"),
        ("What is the registration fee?", "money"),
        ("What percentage of the value is due?", "percentage"),
        ("How tall may the mast be?", "measure"),
        ("What is the phone number of the harbour master?", "contact"),
        ("What is the name of the harbour?", "name"),
        ("Who must pay?", None),
    ],
)
def test_expected_kind(question: str, kind: Kind | None) -> None:
    assert expected_kind(question) == kind


@pytest.mark.parametrize(
    ("kind", "text", "held"),
    [
        ("duration", "within 10 business days", True),
        ("duration", "for at least twenty-four (24) months", True),
        ("money", "a fee of $1,500", True),
        ("percentage", "2% of the value", True),
        ("number", "four boats", True),
        ("number", "a majority of the boats", True),
        ("measure", "shorter than 4 metres", True),
        ("contact", "write to a@b.org", True),
        ("name", "the Port Authority of Hull", True),
        ("name", "the port authority", False),
    ],
)
def test_holds(kind: Kind, text: str, held: bool) -> None:
    assert holds(kind, text) is held


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    kind = expected_kind(text)
    assert kind is None or holds(kind, text, counted(text)) in (True, False)
