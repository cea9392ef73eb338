"""Runs a node by itself, as LangGraph would."""

from types import SimpleNamespace
from typing import cast

from langgraph.runtime import Runtime

from lexloop.core.settings import Settings
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import Context


def runtime(**parts: object) -> Runtime[Context]:
    """A runtime whose context has these parts, and the default settings."""
    return Runtime(context=cast("Context", SimpleNamespace(**{"settings": Settings(), **parts})))


class Nobody:
    """A chat model that is not to be asked."""

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Fail."""
        raise AssertionError(f"{request.purpose} asked a model")
