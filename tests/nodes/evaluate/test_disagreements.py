"""Negations, and near-copies that were altered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.evaluate.evidence import (
    alterations,
)

SOURCE = "The operator must notify the harbour master within ten days at least once a year."
EVIDENCE = f"{SOURCE} The master may close a berth. A skipper shall pay. Owners have duties."


def found(claim: str, *sentences: str) -> list[str]:
    return alterations(claim, sentences or (SOURCE,), EVIDENCE)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("must", "may", "it says “may”, where there is “must”"),
        ("at least", "at most", "the other bound"),
        ("days", "months", "it says month, where there is day"),
        ("operator", "skipper", "it says “skipper”, where there is “operator”"),
    ],
)
def test_one_word_that_says_otherwise(old: str, new: str, said: str) -> None:
    (reason,) = found(SOURCE.replace(old, new))
    assert said in reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("must", "shall"),
        ("at least", "no fewer than"),
        ("operator", "company"),  # no party of these documents: a word for one perhaps
    ],
)
def test_what_says_the_same_is_no_alteration(old: str, new: str) -> None:
    assert found(SOURCE.replace(old, new)) == []


def test_of_two_that_are_as_near_one_that_agrees_is_enough() -> None:
    may = SOURCE.replace("must", "may")
    assert found(may, SOURCE, may) == []


@given(st.text("abc mustay.", max_size=60))
def test_a_sentence_never_differs_from_itself(text: str) -> None:
    assert alterations(text, [text], text) == []
