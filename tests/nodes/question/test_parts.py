"""How a question is read: small talk or not, its parts and what leans on them, what it asks for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.documents.text.quantities import holds
from lexloop.nodes.question.followups import leans_on_history
from lexloop.nodes.question.parts import (
    asked_definition,
    asking_sentences,
    asks_for_several,
    counted,
    expected_kind,
    in_context,
    parse,
    question_parts,
    standing_alone,
    what_asks,
    without_context,
    without_preamble,
    words_of_asking,
)
from lexloop.nodes.question.small_talk import small_talk
from lexloop.nodes.relevance import defines

READS = (
    asked_definition,
    asking_sentences,
    asks_for_several,
    expected_kind,
    leans_on_history,
    question_parts,
    without_context,
    without_preamble,
    words_of_asking,
)


@pytest.mark.parametrize(("reads", "text", "expected"), rows("question"))
def test_how_a_question_is_read(reads: str, text: str, expected: Any) -> None:
    [read] = (one(text) for one in READS if one.__name__ == reads)
    read = sorted(read) if isinstance(read, frozenset) else read
    assert ([*read] if isinstance(expected, list) else read) == expected


SMALL_TALK = ("Hello", "Thanks a lot, that was clear.", "Which collections do you have?")
QUESTIONS = ("What is rent?", "Hello, what is rent?", "Can you help me with my lease?", "")


def test_small_talk_is_told_what_can_be_asked_and_no_question_is_taken_for_it() -> None:
    for said in SMALL_TALK:
        assert "laws, lease" in small_talk(said, "collections", ["laws", "lease"])
    for said in QUESTIONS:
        assert small_talk(said, "documents", ["laws", "lease"]) == ""
    of_many = small_talk("hello", "documents", ["a [1].txt", *"bcdefg"])
    assert of_many.endswith("b, c, d, e, 2 more.")
    assert "[1]" not in of_many


FRAGMENTS = st.sampled_from(
    "what is|who| and |; |? |. |between|it|,|:|- |the|so|or|tell me about|as a tenant, |fee|Is"
    "|please|\n|i want to know|\x1f".split("|")
)
ASKED = st.one_of(st.text(min_size=1, max_size=150), st.lists(FRAGMENTS, max_size=14).map(" ".join))


@given(ASKED.filter(lambda text: text.strip()), st.text(min_size=1, max_size=80))
def test_any_question_is_read_and_none_of_its_parts_is_lost(text: str, first: str) -> None:
    assert question_parts(text)
    alone = standing_alone(text, first)
    assert alone or not text.strip(" ?")
    term, kind = asked_definition(text), expected_kind(text)
    assert term is None or term in text
    assert defines(first, text) in (True, False)
    assert kind is None or holds(kind, text, counted(text)) in (True, False)


def test_what_a_follow_up_asks_is_not_lost_in_the_topic_behind_it() -> None:
    assert in_context("And fees", "a, regarding b") == "And fees, regarding a, regarding b?"
    topic = "We broke several rules with one mailing. Are the fines added up?"
    asked = in_context("And how high is the limit?", topic)
    assert what_asks(asked) == parse(asked)["bare"] == asked
    told = "I run a quay. And how high is the limit?"
    assert parse(in_context(told, topic))["bare"] == asked
    empty = in_context("And then?", topic)  # it names nothing of its own
    assert what_asks(empty) == parse(empty)["bare"] == empty
