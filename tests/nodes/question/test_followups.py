"""Follow-ups that are made to stand alone, and what a model's rewriting of them must keep."""

import pytest
from sets import rows

from lexloop.core.types import Turn
from lexloop.models.minilm import load_shipped
from lexloop.nodes.question.followups import completed, only_thing, resolved
from lexloop.nodes.question.same_question import changed


@pytest.mark.parametrize(("before", "said", "whole"), rows("elliptical"))
def test_what_a_turn_leaves_out_is_in_the_question_before(
    before: str, said: str, whole: str | None
) -> None:
    assert completed(said, [before], load_shipped().embed) == whole


def test_the_other_one_is_what_was_asked_before() -> None:
    before = ["What does a raku kiln cost?", "What does a gas kiln cost?"]
    assert completed("Sorry, the other one", before) == before[0]
    assert completed("Sorry, the other one", before[1:]) is None


def test_the_only_thing_that_is_named() -> None:
    assert only_thing("Where do I get a permit") == "a permit"
    assert only_thing("How often must the kiln be swept") == "the kiln"
    assert only_thing("When must the potter sweep the kiln") is None


def user(*contents: str) -> list[Turn]:
    return [{"role": "user", "content": content} for content in contents]


@pytest.mark.parametrize(("said", "question", "standalone"), rows("resolved"))
def test_what_it_leans_on_is_written_out(said: list[Turn], question: str, standalone: str) -> None:
    assert resolved(question, said) == standalone


def test_a_conversation_of_200_turns_grows_no_question() -> None:
    history = user("What is a mooring fee?", *["And for yachts, must they pay it?"] * 200)
    assert len(resolved("And its penalty?", history)) < 120


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
