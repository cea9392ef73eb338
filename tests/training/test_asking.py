"""Words that ship: of asking, learned from sets of questions, and of currencies, from the CLDR."""

import pytest

from lexloop_train.pairs import TrainingPair
from training.asking import asking
from training.currencies import codes, names


def test_a_word_of_asking_is_in_all_sets_and_in_few_answers() -> None:
    pairs = [
        TrainingPair(
            f"What amount is the toll{n % 5} of boat {n}?", said, "", f"{n}", f"set {n % 5}"
        )
        for n in range(60)
        # two thirds of the answers lack "amount", all have "boat", and no toll is in all sets
        for said in ["The boat pays 5 euros." if n % 3 else "The amount for a boat is 5 euros."]
    ]
    assert asking(pairs) == ["amount"]


def test_the_nouns_and_codes_of_currencies() -> None:
    pytest.importorskip("babel")
    known = codes()
    assert {"EUR", "CHF", "DEM", "INR"} <= known
    assert known.isdisjoint({"XXX", "XAU", "CHE"})  # none, gold, a unit of account
    found = names(known)
    assert {"francs", "rupees", "marks", "franken", "couronnes", "coronas", "corone"} <= found
    assert found.isdisjoint({"swiss", "schweizer", "unidad", "nuevo", "suisses"})
