"""What a model's rewriting of a follow-up may change, and what it must keep."""

import pytest
from sets import rows

from lexloop.core.types import Turn
from lexloop.models.minilm import load_shipped
from lexloop.nodes.question.same_question import changed

HISTORY: list[Turn] = [
    {"role": "user", "content": "When must the tenant pay the rent of the boathouse?"},
    {"role": "assistant", "content": "On the first day of each quarter. [1]"},
]


def changes(written: str, question: str) -> str:
    return changed(written, question, HISTORY, load_shipped().embed)


@pytest.mark.parametrize(("question", "written"), rows("same_questions"))
def test_other_words_for_the_same_question_are_kept(question: str, written: str) -> None:
    assert changes(written, question) == ""


@pytest.mark.parametrize(("question", "written", "why"), rows("changed_questions"))
def test_what_changes_the_question_is_told(question: str, written: str, why: str) -> None:
    assert why in changes(written, question)
