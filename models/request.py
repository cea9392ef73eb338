"""Requests to a chat model, its replies, and the JSON object read out of their text."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, ToolCall

T = TypeVar("T")
Schema = TypeVar("Schema", bound=BaseModel)

# A reply of nothing but openings must not keep the event loop busy.
_MOST_FALSE_STARTS = 100


@dataclass(frozen=True)
class ChatRequest:
    """One call of the chat model.

    Args:
        purpose: The node that asks, for usage and error messages.
        system: The instructions.
        user: The data, delimited as such.
        schema: The model that the reply must parse into, or None for free text.
        stream: Whether the reply is shown as it comes.
        turns: The messages of an agent, used instead of ``system`` and ``user``.
        tools: The tools that the agent may call, in OpenAI's form.
        instructions: Text that no reply may recite, if that is more than ``system``.
        shorter: Returns ``system`` and ``user`` with a share of the data, in (0, 1), for a model
            that cannot read all of it. None if nothing can be left out.
    """

    purpose: str
    system: str
    user: str
    schema: type[BaseModel] | None = None
    stream: bool = False
    turns: "tuple[BaseMessage, ...]" = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    instructions: str = ""
    shorter: Callable[[float], tuple[str, str]] | None = None


@dataclass(frozen=True)
class ChatReply:
    """A reply: its text, parsed if the request had a schema, and the reasoning before it.

    ``calls`` are the calls of the request's tools.
    """

    text: str
    parsed: BaseModel | None = None
    reasoning: str = ""
    calls: "tuple[ToolCall, ...]" = ()


class Chat(Protocol):
    """A chat model for those who ask it: time, cost and caching are looked after."""

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Answer a request.

        Raises:
            ModelError: There is no usable reply.
            DeadlineExceeded: The deadline has passed.
        """
        ...


def parsed(reply: ChatReply, schema: type[T]) -> T:
    """Return the parsed reply as ``schema``; the chat model has checked it."""
    if not isinstance(reply.parsed, schema):
        raise TypeError(f"expected {schema.__name__}, got {type(reply.parsed).__name__}")
    return reply.parsed


class PlainReply(BaseModel):
    """A reply in a form of its own, which is not a JSON object."""

    @classmethod
    def found_in(cls, text: str) -> dict[str, Any]:
        """Return the values of the fields that ``text`` has, which are checked like JSON's."""
        raise NotImplementedError


def json_schema(schema: type[BaseModel] | None) -> dict[str, Any] | None:
    """Return the JSON schema of a reply, or None if it is free text or has its own form."""
    if schema is None or issubclass(schema, PlainReply):
        return None
    return schema.model_json_schema()


class Unreadable(ValueError):
    """A text without an object of the schema; the message says why, fit to show the model."""


def read_json(text: str, schema: type[Schema]) -> Schema:
    """Return the first JSON object in ``text`` that ``schema`` accepts; a plain reply reads itself.

    Models fence their JSON, talk around it, or answer a request for JSON with a function call.

    Raises:
        Unreadable: No JSON object was found, or none that was found fits the schema.
    """
    problem = "it contains no complete JSON object"
    for value in [schema.found_in(text)] if issubclass(schema, PlainReply) else _objects(text):
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            problem = _described(error)
    raise Unreadable(problem)


def _described(error: ValidationError) -> str:
    """Return the problems of a validation, one phrase each, without pydantic's links."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of ``text`` that stand in no other, in order."""
    decoder = json.JSONDecoder()
    position, false_starts = text.find("{"), 0
    while position >= 0 and false_starts < _MOST_FALSE_STARTS:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end, false_starts = position + 1, false_starts + 1
        else:
            yield value
        position = text.find("{", end)
