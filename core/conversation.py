"""Extraction of a question and its history from a conversation."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.errors import QuestionError, SettingsError
from lexloop.core.types import Turn


def checked_question(question: Any, limit: int) -> str:
    """Return the question with surrounding blanks removed.

    Raises:
        QuestionError: It is not text, blank, without a word, or longer than ``limit``.
    """
    hint = f"Give a text of 1 to {limit} characters."
    if not isinstance(question, str):
        raise QuestionError(f"The question is a {type(question).__name__}, not text.", hint)
    text = _encodable(question).strip()
    if not text:
        raise QuestionError("The question is empty.", hint)
    if not any(character.isalnum() for character in text):
        raise QuestionError(f"The question {text[:40]!r} holds no word.", hint)
    if len(text) > limit:
        raise QuestionError(
            f"The question has {len(text)} characters; the limit is {limit}.",
            "Shorten it, or raise max_question_chars.",
        )
    return text


def tags_of_thread(held: Sequence[str], granted: Sequence[str]) -> list[str]:
    """Return the access tags of a conversation, this turn included.

    Args:
        held: Those of the turns before.
        granted: Those of the asker of this turn.

    Raises:
        SettingsError: An earlier answer may quote what is closed to the asker of this turn.
    """
    if set(held) - set(granted):
        raise SettingsError(
            "This conversation was answered with access tags that these settings do not have.",
            "Give the tags it was begun with, or begin another conversation.",
        )
    return sorted(granted)


def message_text(message: AnyMessage) -> str:
    """Return the text of a message, its non-text content blocks left out."""
    # a plain string: LangChain's own subclass does not survive strict checkpoint serialisation
    return _encodable(str(message.text))


def _encodable(text: str) -> str:
    """Replace lone surrogates and NUL, which tokenizers and files do not take."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", " ")


def history_turns(messages: Sequence[AnyMessage]) -> list[Turn]:
    """Return the turns of a conversation that people and the assistant wrote."""
    turns: list[Turn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append({"role": "user", "content": message_text(message)})
        elif isinstance(message, AIMessage) and message_text(message):
            turns.append({"role": "assistant", "content": message_text(message)})
    return turns
