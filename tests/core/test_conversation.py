from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from lexloop.core.conversation import checked_question, history_turns, message_text
from lexloop.core.errors import QuestionError


@pytest.mark.parametrize("question", ["", "\n\t\r ", "\x00"])
def test_a_blank_question_is_refused_with_the_limit(question: str) -> None:
    with pytest.raises(QuestionError, match=r"empty.*1 to 40 characters"):
        checked_question(question, 40)


@pytest.mark.parametrize(
    ("question", "kind"),
    [(None, "NoneType"), (b"What?", "bytes"), ({}, "dict")],
)
def test_what_is_no_text_is_refused_by_its_kind(question: Any, kind: str) -> None:
    with pytest.raises(QuestionError, match=rf"is a {kind}, not text.*1 to 40 characters"):
        checked_question(question, 40)


def test_the_limit_counts_the_question_without_the_blanks_around_it() -> None:
    assert checked_question(" " * 50 + "x" * 40 + "\n" * 50, 40) == "x" * 40
    with pytest.raises(QuestionError, match=r"41 characters; the limit is 40.*max_question_chars"):
        checked_question("x" * 41, 40)


def test_what_no_tokenizer_takes_is_replaced() -> None:
    assert checked_question("Is \ud800 this \udfff it?", 40) == "Is \ufffd this \ufffd it?"
    assert checked_question("half of a pair \ud83d\ude00", 40) == "half of a pair \U0001f600"
    assert checked_question("\x00What\x00is it?\x00", 40) == "What is it?"
    assert checked_question("法律 😀 § 20-871", 40) == "法律 😀 § 20-871"


@given(st.text(st.characters(codec=None), max_size=60))
def test_a_question_that_passes_can_be_encoded_and_passes_again(text: str) -> None:
    try:
        question = checked_question(text, 60)
    except QuestionError:
        return
    assert question.encode()
    assert "\x00" not in question
    assert checked_question(question, 60) == question


def test_history_keeps_what_people_and_the_assistant_wrote() -> None:
    messages = [
        SystemMessage("Be kind."),
        HumanMessage("What is a bias audit?"),
        AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        ToolMessage("found", tool_call_id="1"),
        AIMessage("An evaluation."),
    ]
    assert history_turns(messages) == [
        {"role": "user", "content": "What is a bias audit?"},
        {"role": "assistant", "content": "An evaluation."},
    ]
    assert history_turns([]) == []


def test_history_can_be_embedded_and_stored() -> None:
    reply = AIMessage([{"type": "text", "text": "d"}])
    turns = history_turns([HumanMessage("a\ud800b\x00c"), reply])
    assert [turn["content"] for turn in turns] == ["a\ufffdb c", "d"]
    assert {type(turn["content"]) for turn in turns} == {str}
    assert type(message_text(HumanMessage("What?"))) is str
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    assert serializer.loads_typed(serializer.dumps_typed(turns)) == turns


@pytest.mark.parametrize("question", ["???", "§", "—"])
def test_a_question_without_a_word_is_refused(question: str) -> None:
    with pytest.raises(QuestionError, match="holds no word"):
        checked_question(question, 100)
