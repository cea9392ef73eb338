"""Drives the steps of the nodes: waits for models, counts usage, and falls back when allowed."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.runtime import get_runtime

from lexloop.core.errors import ModelError, ModelReplyError
from lexloop.core.state import State, Update
from lexloop.core.types import Degradation, Reasoning, Usage
from lexloop.graph.components import Components
from lexloop.graph.stream import TokenStream
from lexloop.models.chat import ChatModel
from lexloop.models.dialogue import ChatReply, ChatRequest, Dialogue

Step = Callable[[State, Components], Dialogue[Update]]
Resolve = Callable[[Any, str | None], Components]
Outcome = ChatReply | ModelError


class Node(Runnable[State, Update]):
    """A graph node that runs a step synchronously and asynchronously.

    LangGraph calls a Runnable as it is; wrapping functions for it would trace every node twice
    and cost more than all the rest of the graph.

    Args:
        name: The node's name.
        step: What it does, given the state and the components.
        resolve: From a run's context and the corpus's snapshot to the components.
        first: Whether a question begins here, so that the corpus is looked at anew.
    """

    def __init__(self, name: str, step: Step, resolve: Resolve, first: bool = False) -> None:
        self.name, self._node = name, name
        self._step, self._resolve, self._first = step, resolve, first

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step, blocking while a model is asked."""
        drive = self._drive(input, get_runtime().context)
        request = drive.start()
        while request is not None:
            request = drive.advance(drive.ask(request))
        return drive.update()

    async def ainvoke(
        self, input: State, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Update:
        """Run the step without blocking the event loop."""
        # opening an index reads files and scoring takes the processor: neither belongs on the
        # event loop, while the waiting for a model does
        drive = await asyncio.to_thread(self._drive, input, get_runtime().context)
        request = await asyncio.to_thread(drive.start)
        while request is not None:
            request = await asyncio.to_thread(drive.advance, await drive.aask(request))
        return drive.update()

    def _drive(self, state: State, context: Any) -> "_Drive":
        snapshot = None if self._first else state.get("snapshot")
        return _Drive(self._node, self._step, state, self._resolve(context, snapshot))


class _Drive:
    """One run of one step, from request to request.

    Args:
        name: The node's name.
        step: What it does.
        state: What it reads.
        parts: The components.
    """

    def __init__(self, name: str, step: Step, state: State, parts: Components) -> None:
        self._name, self._step, self._state, self._parts = name, step, state, parts
        self._meter: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        self._degraded: list[Degradation] = []
        self._reasoning: list[Reasoning] = []
        self._result: Update = {}
        self._dialogue: Dialogue[Update] = step(state, parts)

    def start(self) -> ChatRequest | None:
        """Run to the first request; None when the step needed no model."""
        return self._resume(lambda: next(self._dialogue))

    def advance(self, outcome: Outcome) -> ChatRequest | None:
        """Hand the step a reply, or throw what went wrong into it; its next request, if any."""
        if isinstance(outcome, ModelError):
            return self._resume(lambda: self._dialogue.throw(outcome))
        self._note(outcome)
        return self._resume(lambda: self._dialogue.send(outcome))

    def _note(self, reply: ChatReply) -> None:
        """Keep what a reader must know of a reply and the step does not."""
        if reply.reasoning:
            attempt = len(self._state.get("attempts", [])) + 1
            self._reasoning.append(
                {"attempt": attempt, "node": self._name, "text": reply.reasoning}
            )
        listed = {item["wanted"] for item in [*self._state.get("degraded", []), *self._degraded]}
        lost: list[Degradation] = [
            {
                "node": self._name,
                "wanted": wanted,
                "used": "the provider's own",
                "reason": said,
            }
            for wanted, said in self._chat.left_out
            if wanted not in listed
        ]
        self._degraded += lost

    def _resume(self, move: Callable[[], ChatRequest]) -> ChatRequest | None:
        try:
            request = move()
        except StopIteration as done:
            self._result = done.value
            return None
        except ModelError as error:
            self._fall_back(error)
            return None
        if dead := self._dead_model():
            self._fall_back(dead)
            return None
        return request

    def _dead_model(self) -> ModelError | None:
        """Why the model need not be asked again: it failed for good earlier in this question."""
        earlier = [d for d in self._state.get("degraded", []) if d["wanted"] == self._chat.name]
        if not earlier or self._parts.fallback is None:
            return None
        return ModelError(earlier[-1]["reason"], "The embedded implementation answers instead.")

    def _fall_back(self, error: ModelError) -> None:
        if self._parts.fallback is None:
            raise error
        # a malformed reply is this node's bad luck; the next one may ask the model again
        wanted = self._chat.name if not isinstance(error, ModelReplyError) else "a usable reply"
        self._degraded.append(
            {"node": self._name, "wanted": wanted, "used": "embedded", "reason": error.what}
        )
        self._dialogue = self._step(self._state, self._parts.fallback)
        self._resume(lambda: next(self._dialogue))

    @property
    def _chat(self) -> ChatModel:
        if self._parts.chat is None:
            raise RuntimeError(f"{self._name} asked for a model, and none is configured")
        return self._parts.chat

    def ask(self, request: ChatRequest) -> Outcome:
        """Wait for the model, blocking."""
        shown = self._stream(request)
        try:
            reply = self._chat.complete(request, **self._terms(shown))
        except ModelError as error:
            return error
        return self._shown_whole(reply, shown)

    async def aask(self, request: ChatRequest) -> Outcome:
        """Wait for the model without blocking the event loop."""
        shown = self._stream(request)
        try:
            reply = await self._chat.acomplete(request, **self._terms(shown))
        except ModelError as error:
            return error
        return self._shown_whole(reply, shown)

    def _stream(self, request: ChatRequest) -> TokenStream | None:
        return TokenStream(self._name, request, get_stream_writer()) if request.stream else None

    @staticmethod
    def _shown_whole(reply: ChatReply, shown: TokenStream | None) -> ChatReply:
        if shown is not None:
            shown.finish()
        return reply

    def _terms(self, shown: TokenStream | None) -> dict[str, Any]:
        return {"deadline": self._state["deadline"], "meter": self._meter, "on_token": shown}

    def update(self) -> Update:
        """What the step wrote, with what it cost and what degraded added."""
        update: Update = {**self._result}
        if self._state.get("snapshot") != self._parts.snapshot:
            update["snapshot"] = self._parts.snapshot
        if self._degraded:
            before = update.get("degraded", self._state.get("degraded", []))
            update["degraded"] = [*before, *self._degraded]
        if self._reasoning:
            update["reasoning"] = [*self._state.get("reasoning", []), *self._reasoning]
        if self._meter["model_calls"]:
            before_usage = update.get("usage", self._state["usage"])
            update["usage"] = {
                "model_calls": before_usage["model_calls"] + self._meter["model_calls"],
                "tokens_in": before_usage["tokens_in"] + self._meter["tokens_in"],
                "tokens_out": before_usage["tokens_out"] + self._meter["tokens_out"],
                "seconds": before_usage["seconds"],
            }
        return update
