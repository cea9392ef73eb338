from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from lexloop.core.conversation import checked_question, history_turns
from lexloop.core.errors import QuestionError


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", r"empty.*1 to 40 characters"),
        ("\u2068\u2069\u202e \ufeff\xad", "empty"),  # nothing to see
        (None, r"is a NoneType, not text.*1 to 40 characters"),
        (b"What?", "is a bytes, not text"),
        ("§ — ???", "holds no word"),
        ("x" * 41, r"41 characters; the limit is 40.*max_question_chars"),
    ],
)
def test_what_is_no_question_is_refused(question: Any, says: str) -> None:
    with pytest.raises(QuestionError, match=says):
        checked_question(question, 40)


def test_the_limit_counts_the_question_without_the_blanks_around_it() -> None:
    assert checked_question(" " * 50 + "x" * 40 + "\n" * 50, 40) == "x" * 40


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


def test_history_keeps_what_people_and_the_assistant_wrote_and_can_be_stored() -> None:
    messages = [
        SystemMessage("Be kind."),
        HumanMessage("a\ud800b\x00c"),
        AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        ToolMessage("found", tool_call_id="1"),
        AIMessage([{"type": "text", "text": "d"}]),
    ]
    turns = history_turns(messages)
    assert turns == [
        {"role": "user", "content": "a\ufffdb c"},
        {"role": "assistant", "content": "d"},
    ]
    assert {type(turn["content"]) for turn in turns} == {str}
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    assert serializer.loads_typed(serializer.dumps_typed(turns)) == turns
