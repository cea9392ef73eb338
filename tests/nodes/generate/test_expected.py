"""The kind of fact a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.generate.expected import Kind, expected_kind, holds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How long before use must notice be given?", "duration"),
        ("Within what period is the fee due?", "duration"),
        ("What is the deadline?", "duration"),
        ("How many business days does an owner have?", "duration"),
        ("How much does a berth cost?", "money"),
        ("What is the registration fee?", "money"),
        ("What percentage of the value is due?", "percentage"),
        ("When did the law take effect?", "date"),
        ("What is the effective date?", "date"),
        ("How many boats may lie at one berth?", "number"),
        ("What is the phone number of the harbour master?", "contact"),
        ("Who drafted the act?", "name"),
        ("What is the name of the harbour?", "name"),
        ("What is a berth?", None),
        ("Who must pay?", None),
        ("", None),
    ],
)
def test_expected_kind(question: str, kind: Kind | None) -> None:
    assert expected_kind(question) == kind


@pytest.mark.parametrize(
    ("kind", "text", "held"),
    [
        ("duration", "within 10 business days", True),
        ("duration", "an annual check", True),
        ("duration", "within 10 metres", False),
        ("money", "a fee of $1,500", True),
        ("money", "500 dollars", True),
        ("money", "500 boats", False),
        ("percentage", "2% of the value", True),
        ("percentage", "two per cent", True),
        ("percentage", "$2", False),
        ("date", "on December 23, 2022", True),
        ("date", "on 23 December", True),
        ("date", "on a Friday", False),
        ("number", "four boats", True),
        ("number", "several boats", False),
        ("contact", "write to a@b.org", True),
        ("contact", "write to us", False),
        ("name", "the Port Authority of Hull", True),
        ("name", "the port authority", False),
    ],
)
def test_holds(kind: Kind, text: str, held: bool) -> None:
    assert holds(kind, text) is held


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    kind = expected_kind(text)
    assert kind is None or holds(kind, text) in (True, False)
