"""A claim beside the sentence that it copies: what is exchanged, added and left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.nodes.alignment import (
    LIKE,
    aligned,
    alterations,
    contradictions,
    read_words,
    restriction_left_out,
)

RULE = (
    "Every keeper must report the first damage and the loss of a boat within 10 days, unless the "
    "harbour is closed."
)


@pytest.mark.parametrize(("was", "now", "reason"), rows("alterations"))
def test_what_binds_is_not_exchanged_or_added(was: str, now: str, reason: str) -> None:
    assert alterations(RULE.replace(was, now, 1), [RULE], RULE) == [reason]


@pytest.mark.parametrize(("was", "now"), rows("same_meaning"))
def test_other_words_of_one_meaning_are_no_change(was: str, now: str) -> None:
    assert alterations(RULE.replace(was, now, 1), [RULE], RULE) == []


def test_a_restriction_is_left_out_of_a_copy_alone() -> None:
    copy = RULE.partition(", unless")[0] + "."
    assert restriction_left_out(copy, RULE) == "unless the harbour is closed"
    assert restriction_left_out(RULE, RULE) == ""
    assert restriction_left_out("The harbour is closed.", RULE) == ""
    assert (
        restriction_left_out("the harbour is closed", "A fee is due where the harbour is closed")
        == ""
    )


def test_versions_of_a_statement_contradict_each_other() -> None:
    assert contradictions(RULE, RULE.replace("must", "must not")) == ["it leaves out “not”"]
    assert contradictions(RULE.replace("must", "must not"), RULE) == ["it says “not”"]
    assert contradictions(RULE, RULE.replace("10", "12")) == ["it says 10, where there is 12"]
    shorter = RULE.partition(", unless")[0] + "."
    assert contradictions(RULE, shorter) == ["it adds “unless the harbour is closed”"]
    assert contradictions(shorter, RULE) == ["it leaves out “unless the harbour is closed”"]
    assert contradictions(RULE, "Boats are washed on Mondays by the warden.") == []
    assert contradictions("", "") == []


@given(st.text(max_size=80))
def test_a_text_is_its_own_copy(text: str) -> None:
    words = read_words(text)
    laid = aligned(text, text)
    assert laid.shared == len(words)
    assert not words or laid.share == 1.0 >= LIKE
    assert alterations(text, [text], text) == []
    assert contradictions(text, text) == []
