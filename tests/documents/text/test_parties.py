"""Parties are read off the ways in which agreements name them."""

import pytest
from sets import rows

from lexloop.documents.text.parties import parties_of

_KEPT = "\n\n1. Duty\nThe Keeper feeds the goats."


@pytest.mark.parametrize(("opening", "found"), rows("parties"))
def test_each_party_has_its_name_and_its_role(opening: str, found: list[list[str]]) -> None:
    text = f"KEEPING OF GOATS\n\n{opening}{_KEPT}"
    named = parties_of(text)
    assert [[one.name, one.role] for one in named] == found
    for one in named:
        assert text[one.start : one.end] == one.name
        assert one.role in text[slice(*one.span)]
