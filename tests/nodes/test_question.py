"""How a question is read: small talk or not, its parts and what leans on them, what it asks for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.quantities import holds
from lexloop.nodes.question import (
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
from lexloop.nodes.relevance import defines
from lexloop.nodes.rewrite import leans_on_history
from lexloop.nodes.small_talk import small_talk

BERTH_AND_QUAY = "What is the difference between a berth and a quay?"
READ: list[tuple[Callable[[str], Any], str, Any]] = [
    (asking_sentences, "I moor in May. What is the fee?", ["What is the fee?"]),
    (without_preamble, "As a boat owner, what must I pay?", "what must I pay?"),
    (without_preamble, "Hello, could you please tell me what fees are?", "what fees are?"),
    (question_parts, BERTH_AND_QUAY, [BERTH_AND_QUAY, "What is a berth?", "What is a quay?"]),
    (
        question_parts,
        "What is a berth, and how does it differ from a quay?",  # a berth is asked for once
        ["What is a berth", "how does a berth differ from a quay?", "What is a quay?"],
    ),
    (
        question_parts,
        "What does a permit cost, and how often must it be paid?",
        ["What does a permit cost", "how often must a permit be paid?"],
    ),
    *(
        (question_parts, one, [one])
        for one in (
            "Do owners and masters pay?",
            "Who decides whether and when an inspection takes place?",
            "We lost a laptop and a phone, what must we do?",
        )
    ),
    (asks_for_several, "What are the duties of a boat owner?", True),
    (asked_definition, "What is a bias audit?", "bias audit"),
    (asked_definition, "What is the penalty for a late fee?", None),
    (asked_definition, "What is \u2003\u2003\u2003?", None),  # a term of blanks alone
    (asked_definition, "What are the moorings?", None),  # of those that were spoken of
    (expected_kind, "How long before use must notice be given?", "duration"),
    (expected_kind, "What is the phone number of the harbour master?", "contact"),
    (expected_kind, "What is the name of the harbour?", "name"),
    (expected_kind, "Who must pay?", None),
    (expected_kind, "What is the notice period?", "duration"),
    (expected_kind, "How long has the quay been open?", None),  # since a day
    # what is asked for, not what else is spoken of
    (expected_kind, "What share of the sale price does the harbour keep?", "percentage"),
    (expected_kind, "What does a berth for a tug cost?", "money"),
    (expected_kind, "What is the yearly rent?", "money"),
    (expected_kind, "What does the fee cover?", None),
    (expected_kind, "What happens if the fee is late?", None),
    (asked_definition, "What is the term that describes a berth?", None),
    (leans_on_history, "What is it?", True),
    (leans_on_history, "Who can sue?", False),
    (without_context, "And fees, regarding a, regarding b?", "And fees?"),
    (partial(in_context, "And fees"), "a, regarding b", "And fees, regarding a, regarding b?"),
]


@pytest.mark.parametrize(("reads", "text", "found"), READ)
def test_how_a_question_is_read(reads: Callable[[str], Any], text: str, found: Any) -> None:
    read = reads(text)
    assert ([*read] if isinstance(found, list) else read) == found


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("What does the lease say about pets?", "what does the say about"),
        ("Compare the amount for a tug", "compare the amount for a"),
        ("What is the notice period?", "what is the notice period"),
        ("Wann ist das Tor zu?", "wann ist das zu"),
        ("¿Qué cuesta la barca?", "qué la"),
        ("Qui garde la clé ?", "qui la"),
    ],
)
def test_words_that_only_ask(question: str, asking: str) -> None:
    assert words_of_asking(question) == frozenset(asking.split())


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
    topic = "We broke several rules with one mailing. Are the fines added up?"
    asked = in_context("And how high is the limit?", topic)
    assert what_asks(asked) == parse(asked)["bare"] == asked
    told = "I run a quay. And how high is the limit?"
    assert parse(in_context(told, topic))["bare"] == asked
    empty = in_context("And then?", topic)  # it names nothing of its own
    assert what_asks(empty) == parse(empty)["bare"] == empty
