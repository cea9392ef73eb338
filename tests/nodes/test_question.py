"""Taking a question apart: its parts, what leans on them, and context behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.question import (
    asking_sentences,
    asks_for_several,
    in_context,
    question_parts,
    standing_alone,
    without_context,
    without_preamble,
)


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("I moor in May. What is the fee?", ["What is the fee?"]),
        ("I moor in May.", ["I moor in May."]),
    ],
)
def test_the_sentences_that_ask(question: str, asking: list[str]) -> None:
    assert asking_sentences(question) == asking


@pytest.mark.parametrize(
    ("sentence", "core"),
    [
        ("As a boat owner, what must I pay?", "what must I pay?"),
        ("Hello, could you please tell me what a berth is?", "what a berth is?"),
        ("Please explain it", "Please explain it"),  # nothing would be left
    ],
)
def test_preambles_go(sentence: str, core: str) -> None:
    assert without_preamble(sentence) == core


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is the difference between a berth and a quay?",
            [
                "What is the difference between a berth and a quay?",
                "What is a berth?",
                "What is a quay?",
            ],
        ),
        (
            "What is a berth, and how does it differ from a quay?",  # a berth is asked for once
            ["What is a berth", "how does a berth differ from a quay?", "What is a quay?"],
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
        ("What is a berth?", False),
        ("Which boat is exempt?", False),
    ],
)
def test_questions_that_a_list_may_answer(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


FRAGMENTS = st.sampled_from(
    "what is|who| and |; |? |. |between|it|,|:|- |the|so|or|tell me about|as a tenant, |fee|Is"
    "|please|\n|i want to know|\x1f".split("|")
)
ASKED = st.one_of(st.text(min_size=1, max_size=150), st.lists(FRAGMENTS, max_size=14).map(" ".join))


@given(ASKED.filter(lambda text: text.strip()))
def test_every_question_has_a_part(question: str) -> None:
    assert question_parts(question)


TWO = """\
What must be published, and for how long? | What must be published, for how long?
What does a permit cost, and how often must it be paid? | how often must a permit be paid?
What are the terms and conditions of a licence?
Who decides whether and when an inspection takes place?
We lost a laptop and a phone, what must we do?"""


@pytest.mark.parametrize("line", TWO.splitlines())
def test_one_or_two_parts(line: str) -> None:
    question, _, second = line.partition(" | ")
    first, *others = question_parts(question)
    assert question.startswith(first)
    assert others == ([second] if second else [])
    assert second or first == question


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_part_is_never_lost(part: str, first: str) -> None:
    alone = standing_alone(part, first)
    assert alone or not part.strip() or not part.strip(" ?")


def test_a_context_is_written_behind_and_taken_off() -> None:
    whole = "And fees, regarding a, regarding b?"
    assert in_context("And fees", "a, regarding b") == whole
    assert without_context(whole) == "And fees?"
    assert without_context("Who pays the fee?") == "Who pays the fee?"
