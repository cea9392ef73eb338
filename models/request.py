"""What a chat model is asked, what it says, and whoever asks it."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


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


class Chat(Protocol):
    """A chat model as its users see it: time, cost and what is kept are looked after."""

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Answer a request.

        Raises:
            ModelError: There is no usable reply.
            DeadlineExceeded: The time for it ran out.
        """
        ...


def parsed(reply: ChatReply, schema: type[T]) -> T:
    """The reply as ``schema``; the chat model has already parsed and checked it."""
    if not isinstance(reply.parsed, schema):
        raise TypeError(f"expected {schema.__name__}, got {type(reply.parsed).__name__}")
    return reply.parsed
