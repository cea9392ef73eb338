"""Greetings and thanks are replied to, and no question is taken for one."""

import pytest

from lexloop.nodes.small_talk import small_talk


@pytest.mark.parametrize(
    "said",
    [
        "Hello",
        "Thanks a lot, that was clear.",
        "Which collections do you have?",
    ],
)
def test_small_talk_is_told_what_can_be_asked(said: str) -> None:
    assert "laws, lease" in small_talk(said, "collections", ["laws", "lease"])


@pytest.mark.parametrize(
    "said",
    [
        "What is rent?",
        "Hello, what is rent?",
        "Can you help me with my lease?",
        "",
    ],
)
def test_a_question_is_no_small_talk(said: str) -> None:
    assert small_talk(said, "documents", ["laws", "lease"]) == ""


def test_of_many_documents_some_are_named() -> None:
    said = small_talk("hello", "documents", ["a [1].txt", *"bcdefg"])
    assert "from these documents" in said
    assert said.endswith("b, c, d, e, 2 more.")
    assert "[1]" not in said
