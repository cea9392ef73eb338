"""Questions taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.question import (
    asking_sentences,
    asks_for_several,
    question_parts,
    without_preamble,
)


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("I moor in May. What is the fee?", ["What is the fee?"]),
        ("What is the fee? Who pays it?", ["What is the fee?", "Who pays it?"]),
        ("Define berth. I ask for a friend.", ["Define berth."]),
        ("Define berth. Is it large?", ["Define berth.", "Is it large?"]),
        ("I moor in May.", ["I moor in May."]),
        ("I wonder what the fee is. I moor in May.", ["I wonder what the fee is."]),
    ],
)
def test_the_sentences_that_ask(question: str, asking: list[str]) -> None:
    assert asking_sentences(question) == asking


@pytest.mark.parametrize(
    ("sentence", "core"),
    [
        ("As a boat owner, what must I pay?", "what must I pay?"),
        ("According to the harbour act, who pays?", "who pays?"),
        ("Hello, could you please tell me what a berth is?", "what a berth is?"),
        ("I would like to know about bias audits", "bias audits"),
        ("Please explain the mooring fee", "the mooring fee"),
        ("What is a berth?", "What is a berth?"),
        ("Please explain it", "Please explain it"),  # nothing would be left
    ],
)
def test_preambles_go(sentence: str, core: str) -> None:
    assert without_preamble(sentence) == core


def test_how_much_must_be_left_is_the_callers_choice() -> None:
    assert without_preamble("Tell me about berths") == "Tell me about berths"
    assert without_preamble("Tell me about berths", least=1) == "berths"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a fee?", ["What is a fee?"]),
        (
            "What is a mooring fee and who must pay it?",
            ["What is a mooring fee", "who must pay a mooring fee?"],
        ),
        (
            "Who pays the fee; and when is the fee due?",
            ["Who pays the fee", "when is the fee due?"],
        ),
        (
            "What is the difference between a berth and a quay?",
            [
                "What is the difference between a berth and a quay?",
                "What is a berth?",
                "What is a quay?",
            ],
        ),
        (
            "What are the duties and penalties of owners?",
            ["What are the duties of owners?", "What are the penalties of owners?"],
        ),
        ("Do owners and masters pay?", ["Do owners and masters pay?"]),
    ],
)
def test_parts(question: str, parts: list[str]) -> None:
    assert [*question_parts(question)] == parts


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("What are the duties of a boat owner?", True),
        ("Which boats are exempt?", True),
        ("Under which conditions may a boat be moved?", True),
        ("In what cases is the fee halved?", True),
        ("What must a hull inspection include?", True),
        ("What does the notice contain?", True),
        ("What rights and duties does an owner have?", True),
        ("When may the harbour master board a boat?", True),
        ("What information is published?", True),
        ("List the duties of owners.", True),
        ("Name the officers of the port.", True),
        ("What is a berth?", False),
        ("Who pays the fee?", False),
        ("How much is the fee?", False),
        ("When did the Act take effect?", False),
        ("Which boat is exempt?", False),
        ("Is a whichever clause valid?", False),
        ("", False),
    ],
)
def test_questions_that_a_list_may_answer(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


def test_whether_several_are_asked_for_is_said_quickly() -> None:
    for piece in ("what a b c ", "which ", "what which "):
        assert asks_for_several((piece * 4000)[:20000] + "s") in (True, False)


FRAGMENTS = st.sampled_from(
    "what is|who| and |; |? |. |between|it|,|:|- |the|so|or|tell me about|as a tenant, |fee|Is"
    "|please|\n|i want to know|\x1f".split("|")
)
ASKED = st.one_of(st.text(min_size=1, max_size=150), st.lists(FRAGMENTS, max_size=14).map(" ".join))


@given(ASKED.filter(lambda text: text.strip()))
def test_every_question_has_a_part(question: str) -> None:
    assert question_parts(question)


def test_a_long_question_is_taken_apart_quickly() -> None:
    for piece in ("what is a and ", "between a and ", "as a x ", "i know ", "; ", "so what "):
        assert question_parts((piece * 4000)[:4000])
