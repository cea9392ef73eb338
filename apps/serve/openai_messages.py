"""OpenAI's chat completions: what a caller sends, and the conversation that is in it."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.plain_text import clean, one_line
from lexloop.core.errors import InputError, QuestionError
from lexloop.core.types import Turn

_MOST_MESSAGES = 1000
_SOURCES = "\n\nSources:\n"
_NEAR = "\n\nNear it, but no answer:\n"
_NOTE = "\n\nNote: "
_ADDED = re.compile(f"(?:{'|'.join(map(re.escape, (_SOURCES, _NEAR, _NOTE)))}).*", re.DOTALL)
# what Markdown would make HTML, an image or a link of
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[|(?<=\])[(:]")


class ParameterError(InputError):
    """A parameter that would change what the answer is.

    Args:
        param: Its name.
        what: What is wrong with it.
        hint: What to do.
    """

    def __init__(self, param: str, what: str, hint: str) -> None:
        super().__init__(what, hint)
        self.param = param


class Part(BaseModel):
    """A part of a message."""

    type: str = Field(max_length=100)
    text: str | None = None


class Message(BaseModel):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    include_usage: bool | None = None


class Extension(BaseModel):
    """What Lexloop takes beside OpenAI's parameters, under ``lexloop``."""

    model_config = ConfigDict(extra="forbid")

    as_of: str | None = Field(default=None, max_length=20)
    settings: dict[str, Any] = Field(default={}, description="By flat name; see /api/settings.")


class ChatRequest(BaseModel):
    """A request for a completion. Parameters that are not named here are ignored."""

    model: str = Field(max_length=200, description="`lexloop`, or `lexloop/COLLECTION`.")
    messages: Annotated[list[Message], Field(min_length=1, max_length=_MOST_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    functions: list[Any] | None = None
    function_call: Any = None
    response_format: Any = None
    logprobs: bool | None = None
    stop: str | list[str] | None = None
    modalities: list[str] | None = None
    lexloop: Extension = Extension()

    def check(self) -> None:
        """Check that nothing is asked for that would change what the answer is.

        Raises:
            ParameterError: Something is.
        """
        form = self.response_format
        kind = form.get("type", "text") if isinstance(form, dict) else form or "text"
        refused = {
            "n": self.n not in (None, 1),
            "tools": bool(self.tools),
            "tool_choice": self.tool_choice not in (None, "none", "auto"),
            "functions": bool(self.functions),
            "function_call": self.function_call not in (None, "none", "auto"),
            "response_format": kind != "text",
            "logprobs": bool(self.logprobs),
            "stop": bool(self.stop),
            "modalities": self.modalities not in (None, ["text"]),
        }
        for name, is_refused in refused.items():
            if is_refused:
                raise ParameterError(
                    name,
                    f"{name} is not supported: answers are one text, written from the documents.",
                    f"Leave {name} out.",
                )

    def conversation(self) -> tuple[str, list[Turn]]:
        """Return the question, and the turns before it.

        System and developer messages are data of the caller's and no part of the conversation.

        Raises:
            QuestionError: The last message is no question.
            ParameterError: A message is of another kind than text.
        """
        turns: list[Turn] = []
        for message in self.messages:
            if message.role in ("tool", "function"):
                raise ParameterError(
                    "messages", "A message has the result of a tool.", "Leave tools out."
                )
            if message.role in ("user", "assistant"):
                role: Literal["user", "assistant"] = (
                    "user" if message.role == "user" else "assistant"
                )
                text = _text(message)
                turns.append(
                    {"role": role, "content": text if role == "user" else _ADDED.sub("", text)}
                )
        if not turns or turns[-1]["role"] != "user":
            raise QuestionError(
                "The last message is no user's.", "End the messages with the question."
            )
        return turns[-1]["content"], [turn for turn in turns[:-1] if turn["content"].strip()]


def _text(message: Message) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if part.text is None or part.type != "text":
            raise ParameterError(
                "messages", f"A message has a part of type {part.type!r}.", "Send text alone."
            )
    return "\n".join(part.text or "" for part in message.content)


def content_of(record: dict[str, Any]) -> str:
    """Return an answer with its sources, as text in which a document's Markdown does nothing.

    Args:
        record: The answer's.
    """
    text = inert(record["answer"])
    for heading, sources in ((_SOURCES, record["citations"]), (_NEAR, record["near"])):
        if sources:
            text += heading + "\n".join(_line(one, heading is _SOURCES) for one in sources)
    return f"{text}{_NOTE}{inert(record['warning'])}" if record["warning"] else text


def inert(text: str) -> str:
    """Return text of which Markdown makes no HTML, image or link: a backslash keeps it text."""
    return _ACTIVE.sub(r"\\\g<0>", clean(text))


def _line(source: dict[str, Any], numbered: bool) -> str:
    page = f"page {source['page']}" if source["page"] is not None else ""
    place = (source["document"], source["section"], page, source.get("version", ""))
    number = f"[{source['n']}] " if numbered else ""
    said = f"{number}{', '.join(filter(None, place))}: “{source['quote']}”"
    return f"- {inert(one_line(said))}"
