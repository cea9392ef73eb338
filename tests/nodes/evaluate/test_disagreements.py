"""Negations, and near-copies that were altered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.tokens import tokenize
from lexloop.nodes.evaluate.evidence import (
    alterations,
    flipped_term,
    negated_terms,
)

PAYS = "The owner must pay the fee."


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The owner need not pay.", {"pay"}),
        ("He doesn't ever sail.", {"ever"}),
        ("not more than 5 days", set()),
        ("No. The owner pays.", set()),
        ("Bill No. 17 passed.", set()),
    ],
)
def test_denied(text: str, terms: set[str]) -> None:
    assert negated_terms(text) == terms


@pytest.mark.parametrize(
    ("claim", "sentence", "term"),
    [
        ("The owner must not pay the fee.", PAYS, "pay"),
        ("It costs more than 5 coins.", "It costs not more than 5 coins.", "more than"),
        ("It is exempt.", "It is not covered.", None),
    ],
)
def test_turned(claim: str, sentence: str, term: str | None) -> None:
    assert flipped_term(claim, sentence, frozenset(tokenize(claim))) == term


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
