"""Runs a node by itself, as LangGraph would; a chat model's call, for who waits."""

from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

from langgraph.runtime import Runtime
from pydantic import BaseModel

from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.models.chat import ChatModel
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import Context


def runtime(**parts: object) -> Runtime[Context]:
    """A runtime whose context has these parts, the default settings, and no chat model."""
    own = {"settings": Settings(), "view": None, "generator": SimpleNamespace(instructions="")}
    return Runtime(context=cast("Context", SimpleNamespace(**{**own, **parts})))


def update_of(
    node: Callable[[State, Runtime[Context]], Coroutine[Any, Any, Update]],
    state: Any,
    around: Runtime[Context],
) -> Update:
    """What a node writes."""
    return waited(node(state, around))


class Colour(BaseModel):
    """A form that a reply may have."""

    name: str
    depth: int


def complete(model: ChatModel, request: ChatRequest, **details: Any) -> ChatReply:
    """What a model replies, waited for."""
    return waited(model.acomplete(request, **details))
