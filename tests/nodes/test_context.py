"""What a follow-up goes back to, behind it."""

import pytest

from lexloop.nodes.question import in_context, without_context


@pytest.mark.parametrize(
    ("question", "context", "whole", "asked"),
    [
        ("And if not?", "Fees", "And if not, regarding Fees?", "And if not, regarding Fees?"),
        ("And yachts...", "Who pays?", "And yachts, regarding Who pays?", "And yachts?"),
        ("And fees", "a, regarding b", "And fees, regarding a, regarding b?", "And fees?"),
    ],
)
def test_it_is_written_behind_and_taken_off(
    question: str, context: str, whole: str, asked: str
) -> None:
    assert in_context(question, context) == whole
    assert without_context(whole) == asked


@pytest.mark.parametrize("question", ["", "?", "Who pays the fee?", "Anything regarding boats?"])
def test_a_question_without_one_stays(question: str) -> None:
    assert without_context(question) == question
