"""Turns that leave a question out, written into the question before them."""

import pytest

from lexloop.models.minilm import load_shipped
from lexloop.nodes.elliptical import completed, only_thing


@pytest.mark.parametrize(
    ("before", "said", "whole"),
    [
        # another question word, and the rest of the question
        ("When must the kiln be lit?", "And where?", "Where must the kiln be lit?"),
        ("When must the kiln be lit?", "By whom?", "By whom must the kiln be lit?"),
        ("When must the kiln be lit?", "What if not?", "What if the kiln is not lit?"),
        ("Must the potter sweep?", "If they don't?", "What if the potter does not sweep?"),
        ("Who cleans the wheel?", "And when?", "When does somebody clean the wheel?"),
        ("When must I pay the fee?", "How much?", "How much is the fee?"),
        ("What is the fee for clay?", "Why?", "Why, regarding the fee for clay?"),
        # what has the same noun, the same preposition, or is the most alike
        ("What is the fee for a raku kiln?", "A gas kiln?", "What is the fee for a gas kiln?"),
        ("Is firing free for pupils?", "And for guests?", "Is firing free for guests?"),
        ("What must the Lessor insure?", "And the Lessee?", "What must the Lessee insure?"),
        ("What is the fee for the shed?", "What about the rent?", "What is the rent for the shed?"),
        (
            "What does a day pass cost?",
            "For a class of ten?",
            "What does a day pass cost for a class of ten?",
        ),
        (
            "What is a seat for a group of five?",
            "And for a group of six?",
            "What is a seat for a group of six?",
        ),
        ("How many keys does a pupil get?", "And locks?", "How many locks does a pupil get?"),
        ("By law, how much clay may I use?", "And the glaze?", "By law, what is the glaze?"),
        # corrections
        ("What does a raku kiln cost?", "No, I meant a gas kiln.", "What does a gas kiln cost?"),
        ("What is the fee for an adult?", "Sorry, a child", "What is the fee for a child?"),
        ("What is the fee for an adult?", "child I mean", "What is the fee for a child?"),
        ("What is the budget for 2031?", "Actually for 2032", "What is the budget for 2032?"),
        ("When must I pay the fee?", "Not the fee, the fine.", "When must I pay the fine?"),
        ("When must I pay the fee?", "I meant where is it paid", "where is it paid?"),
        ("When must I pay the fee?", "Repeat that please.", "When must I pay the fee?"),
    ],
)
def test_what_a_turn_leaves_out_is_in_the_question_before(
    before: str, said: str, whole: str
) -> None:
    assert completed(said, [before], load_shipped().embed) == whole


@pytest.mark.parametrize(
    "said",
    [
        "What about pupils?",
        "What is a kiln?",
        "Firing rules",
        "And who pays it?",
        "No, that is wrong.",
    ],
)
def test_a_question_that_leaves_nothing_out_is_not_completed(said: str) -> None:
    assert completed(said, ["When must the kiln be lit?"], load_shipped().embed) is None


def test_the_other_one_is_what_was_asked_before() -> None:
    before = ["What does a raku kiln cost?", "What does a gas kiln cost?"]
    assert completed("Sorry, the other one", before) == before[0]
    assert completed("Sorry, the other one", before[1:]) is None


def test_the_only_thing_that_is_named() -> None:
    assert only_thing("Where do I get a permit") == "a permit"
    assert only_thing("How often must the kiln be swept") == "the kiln"
    assert only_thing("When must the potter sweep the kiln") is None
