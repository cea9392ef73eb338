"""What tests ask a chat model, and how."""

from collections.abc import Callable
from typing import Any

from fake_openai import Reply
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from running import Colour

from lexloop.models.chat import ChatModel
from lexloop.models.request import ChatReply, ChatRequest

PLAIN = ChatRequest("generate", "Be brief.", "Who must publish?")
STREAMED = ChatRequest("generate", "Be brief.", "Who must publish?", stream=True)
STRUCTURED = ChatRequest("rewrite", "Reply in JSON.", "Which colour?", schema=Colour)

Connect = Callable[..., ChatModel]
"""``connect(**settings)``: a model of the scripted server."""

Ask = Callable[..., ChatReply]
"""``ask(request, on_token, **settings)``: what the scripted server replies, in time."""

Modelled = Callable[..., Any]
"""``modelled(**settings)``: the graph whose model is the scripted server."""

Scores = Callable[..., Reply]
"""``scores(0.9, 0.2, 0.9)``: a judge's reply."""

STRICT = JsonPlusSerializer(allowed_msgpack_modules=None)
"""Lets checkpoints hold plain values alone."""
