"""Refusals in whatever words, told from answers that speak of what is not the case."""

import pytest

from lexloop.core.types import ABSTENTION
from lexloop.nodes.evaluate.agreement_signs import declines, share_declining


@pytest.mark.parametrize(
    "sentence",
    [
        ABSTENTION,
        "I'm sorry, but I cannot answer that.",
        "The context doesn't explicitly mention a deadline.",
        "A deadline is not given anywhere.",
        "There is no specific information about it.",
        "I do not have access to the harbour rules.",
        "Could you please provide more details?",
        "It is not possible to determine the fee.",
        "The excerpt did not say whether a boat counts.",
        "The documents say nothing about it.",
        "On this the rule is silent.",
    ],
)
def test_refusals(sentence: str) -> None:
    assert declines(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "The fee is not due in winter.",
        "The owner must provide more information than the tenant.",
        "No owner may moor a boat without a permit.",
        "If no information is available, the harbour master may set the fee.",
        "The permit lapses unless details are not provided within ten days.",
        "The rule does not oblige the owner to provide a boat.",
    ],
)
def test_what_the_law_denies_is_no_refusal(sentence: str) -> None:
    assert not declines(sentence)


def test_the_share_of_sentences_that_decline() -> None:
    refusal, answer = "The text does not say.", "The fee is $5."
    assert share_declining([refusal, answer, answer, answer]) == 0.25
    assert share_declining([refusal]) == 1.0
    assert share_declining([]) == 0.0


def test_a_long_text_is_read_no_further_than_its_start() -> None:
    assert not declines("a " * 2000 + ABSTENTION)
