"""The table of currencies, from the CLDR as Babel has it."""

import pytest

from training.currencies import codes, names

pytest.importorskip("babel")


def test_the_nouns_and_codes_of_currencies() -> None:
    known = codes()
    assert {"EUR", "CHF", "DEM", "INR"} <= known
    assert known.isdisjoint({"XXX", "XAU", "CHE"})  # none, gold, a unit of account
    found = names(known)
    assert {"francs", "rupees", "marks", "franken", "couronnes", "coronas", "corone"} <= found
    assert found.isdisjoint({"swiss", "schweizer", "unidad", "nuevo", "suisses"})
