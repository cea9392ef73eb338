"""Extraction of a question and its history from a conversation."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.errors import QuestionError, SettingsError
from lexloop.core.folding import folded
from lexloop.core.types import OpenTurn, Turn

if TYPE_CHECKING:  # of LangGraph, which takes a server's start longer than all else
    from lexloop.core.state import State, Update


def open_turn(state: "State", tags: Sequence[str], limit: int) -> "Update":
    """Return the keys of a new turn: its question and history, with everything else reset.

    Args:
        state: The conversation. ``question`` takes precedence over ``messages``.
        tags: The access tags of the asker.
        limit: The maximum length of a question in characters.

    Raises:
        QuestionError: There is no question, or it cannot be used.
        SettingsError: Earlier turns used access tags that the asker does not have.
    """
    from lexloop.core.state import fresh

    allowed = tags_of_thread(state.get("turn", {}).get("allowed_tags", []), tags)
    message, earlier = _asking(state, limit)
    asked, as_typed = checked_question(message_text(message), limit), message_text(message).strip()
    turn: OpenTurn = {"id": message.id or uuid.uuid4().hex}
    if allowed:  # each checkpoint of a thread repeats what is noted
        turn["allowed_tags"] = allowed
    if as_typed != asked:
        turn["typed"] = as_typed
    return {
        **fresh(),
        "messages": [message],
        "turn": turn,
        "asked": asked,
        "history": history_turns(earlier),
    }


def _asking(state: "State", limit: int) -> tuple[HumanMessage, Sequence[AnyMessage]]:
    """Return the message with the question, and the messages before it.

    Behind the question other nodes of a parent graph may have written: an agent that hands it over,
    a supervisor, another Lexloop.
    """
    messages = state.get("messages", [])
    question = state.get("question")
    if question is not None and question != "":
        checked_question(question, limit)
        return HumanMessage(content=typed(question), id=uuid.uuid4().hex), messages
    for place in reversed(range(len(messages))):
        if isinstance(message := messages[place], HumanMessage):
            return message, messages[:place]
    if question is not None:
        checked_question(question, limit)
    raise QuestionError(
        "There is no question.", "Give `question`, or `messages` with one of the user's."
    )


def checked_question(question: Any, limit: int) -> str:
    """Return the question folded and stripped.

    Raises:
        QuestionError: It is not a text, holds no word, or is longer than ``limit``.
    """
    hint = f"Give a text of 1 to {limit} characters."
    if not isinstance(question, str):
        raise QuestionError(f"The question is a {type(question).__name__}, not text.", hint)
    text = folded(_encodable(question)).strip()
    if not text:
        raise QuestionError("The question is empty.", hint)
    if not any(character.isalnum() for character in text):
        raise QuestionError(f"The question {text[:40]!r} holds no word.", hint)
    if (length := max(len(text), len(typed(question)))) > limit:
        raise QuestionError(
            f"The question has {length} characters; the limit is {limit}.",
            "Shorten it, or raise max_question_chars.",
        )
    return text


def typed(question: str) -> str:
    """Return a question as it was typed, stripped."""
    return _encodable(question).strip()


def tags_of_thread(held: Sequence[str], granted: Sequence[str]) -> list[str]:
    """Return the access tags of a conversation, including this turn.

    Args:
        held: The tags of earlier turns.
        granted: The tags of this turn's asker.

    Raises:
        SettingsError: An earlier answer may quote documents that this asker may not see.
    """
    if set(held) - set(granted):
        raise SettingsError(
            "This conversation was answered with access tags that these settings do not have.",
            "Give the tags it was begun with, or begin another conversation.",
        )
    return sorted(granted)


def message_text(message: AnyMessage) -> str:
    """Return the text of a message, without its other content blocks."""
    # a plain string: LangChain's own subclass does not survive strict checkpoint serialisation
    return _encodable(str(message.text))


def _encodable(text: str) -> str:
    """Replace lone surrogates and NUL, which tokenizers and files do not take."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", " ")


def history_turns(messages: Sequence[AnyMessage]) -> list[Turn]:
    """Return the user's and the assistant's turns of a conversation, folded."""
    turns: list[Turn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append({"role": "user", "content": folded(message_text(message))})
        elif isinstance(message, AIMessage) and message_text(message):
            turns.append({"role": "assistant", "content": folded(message_text(message))})
    return turns


def messages_of(history: Sequence[Turn]) -> list[AnyMessage]:
    """Return the turns before a question as messages."""
    kinds: dict[str, type[HumanMessage] | type[AIMessage]] = {
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    return [kinds[turn["role"]](content=turn["content"]) for turn in history]
