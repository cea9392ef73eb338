"""Steps that may need a model, written once and run both synchronously and asynchronously.

A step is a generator. Where it needs a model it yields a ``ChatRequest`` and is sent a
``ChatReply``, or has a ``ModelError`` thrown into it. Whoever drives it decides how to wait, so no
node exists twice and none blocks an event loop.
"""

import functools
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from pydantic import BaseModel

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class ChatRequest:
    """One call of the chat model.

    Args:
        purpose: The node that asks, for usage and error messages.
        system: The instructions.
        user: The data, delimited as such.
        schema: What the reply must parse into; None for free text.
        stream: Whether the reply's tokens are shown as they come.
    """

    purpose: str
    system: str
    user: str
    schema: type[BaseModel] | None = None
    stream: bool = False


@dataclass(frozen=True)
class ChatReply:
    """What the model said.

    Args:
        text: The reply.
        parsed: An instance of the request's schema, where it had one.
        reasoning: What the model thought before; none of it is in ``text``.
    """

    text: str
    parsed: BaseModel | None = None
    reasoning: str = ""


Dialogue = Generator[ChatRequest, ChatReply, T]


def unassisted(step: Callable[P, T]) -> Callable[P, Dialogue[T]]:
    """Give a step that needs no model the shape of one that may."""

    @functools.wraps(step)
    def run(*args: P.args, **kwargs: P.kwargs) -> Dialogue[T]:
        return step(*args, **kwargs)
        yield  # makes this a generator

    return run


def parsed(reply: ChatReply, schema: type[T]) -> T:
    """The reply as ``schema``; the chat model has already parsed and checked it."""
    if not isinstance(reply.parsed, schema):
        raise TypeError(f"expected {schema.__name__}, got {type(reply.parsed).__name__}")
    return reply.parsed
