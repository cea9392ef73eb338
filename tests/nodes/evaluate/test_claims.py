"""What an answer claims, piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.evaluate.support import claims_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The fee is due. [1] It is $5. [2]", ["The fee is due.", "It is $5."]),
        ("- A berth holds one boat.", ["A berth holds one boat."]),
        (
            "The owner pays the mooring fee; the master keeps the harbour register.",
            ["The owner pays the mooring fee", "the master keeps the harbour register."],
        ),
        ("The owner pays the fee; it is due.", ["The owner pays the fee; it is due."]),
        ("[1]", []),
        ("...", []),
        ("", []),
    ],
)
def test_claims(text: str, expected: list[str]) -> None:
    assert claims_of(text) == expected


@given(st.text(max_size=200))
def test_no_claim_is_empty(text: str) -> None:
    assert all(claim.strip() for claim in claims_of(text))
