"""What a model's rewriting of a follow-up may change, and what it must keep."""

import pytest

from lexloop.core.types import Turn
from lexloop.models.minilm import load_shipped
from lexloop.nodes.question.same_question import changed

HISTORY: list[Turn] = [
    {"role": "user", "content": "When must the tenant pay the rent of the boathouse?"},
    {"role": "assistant", "content": "On the first day of each quarter. [1]"},
]


def changes(written: str, question: str) -> str:
    return changed(written, question, HISTORY, load_shipped().embed)


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("And if it is late?", "What happens if the tenant pays the rent late?"),
        (
            "How big can the charge get in the worst case?",
            "What is the highest charge for late rent?",
        ),
        ("Can he do without?", "May the tenant keep the boathouse without paying rent?"),
        ("Does that go for others?", "Must other people pay rent on the first day of a quarter?"),
        ("And in winter?", "When must the tenant pay the rent of the boathouse in winter?"),
    ],
)
def test_other_words_for_the_same_question_are_kept(question: str, written: str) -> None:
    assert changes(written, question) == ""


@pytest.mark.parametrize(
    ("question", "written", "why"),
    [
        ("And if it is late?", "What if the tenant pays rent 30 days late?", "30 came or went"),
        ("And after 14 days?", "What happens if the rent is late?", "14 came or went"),
        ("And if he does not pay?", "What happens if the tenant pays rent?", "a negation went"),
        ("May he pay early?", "May the tenant not pay early?", "a negation came before “pay”"),
        (
            "Must the tenant repair the roof?",
            "Must the guarantor repair the roof?",
            "“tenant” became “guarantor”",
        ),
        (
            "What does Alder Boats pay?",
            "What does Birch Canoes pay?",
            "“alder” became “birch”",
        ),
        ("And if it is late?", "Which fish live in the harbour?", "and 0.5 is needed"),
    ],
)
def test_what_changes_the_question_is_told(question: str, written: str, why: str) -> None:
    assert why in changes(written, question)
