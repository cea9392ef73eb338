"""Drives the steps of the nodes: waits for models, counts usage, and falls back when allowed."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import get_runtime

from lexloop.core.deadline import Deadline, within
from lexloop.core.errors import DeadlineExceeded, LexloopError, ModelError, ModelReplyError
from lexloop.core.state import State, Update
from lexloop.core.types import Degradation, Reasoning, Usage
from lexloop.graph.components import Components
from lexloop.graph.stream import Spoken, TokenStream
from lexloop.graph.workers import beside
from lexloop.models.chat import ChatModel
from lexloop.models.dialogue import ChatReply, ChatRequest, Dialogue
from lexloop.nodes.evaluate.node import unfinished

_STAND_IN_S, _ENDING_S = 0.7, 0.9
"""Seconds after the deadline in which what stands in for a model may still answer, and in which the
best attempt so far is found and its citations verified. No answer is to be a second late."""

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
        if self._is_answered(input):
            return {}
        drive = self._drive(input, get_runtime().context)
        request = drive.start()
        while request is not None:
            request = drive.advance(drive.ask(request))
        return drive.update()

    async def ainvoke(
        self, input: State, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Update:
        """Run the step without blocking the event loop."""
        if self._is_answered(input):
            return {}
        # opening an index reads files and scoring takes the processor: neither belongs on the
        # event loop, while the waiting for a model does
        context = get_runtime().context
        drive = await beside(partial(self._drive, input, context))
        request = await beside(drive.start)
        while request is not None:
            request = await beside(partial(drive.advance, await drive.aask(request)))
        return drive.update()

    def _is_answered(self, state: State) -> bool:
        """Whether an earlier step ended the question with the best attempt so far."""
        return not self._first and bool(state.get("answer"))

    def _drive(self, state: State, context: Any) -> "_Drive":
        # what the last question of a thread left is nothing to the next one
        before: State = {} if self._first else state
        parts = self._resolve(context, before.get("snapshot"))
        return _Drive(self._node, self._step, state, before, parts)


class _Drive:
    """One run of one step, from request to request; the one place that keeps the deadline.

    The question's time runs while its steps do, from when its documents are open: the first
    question may find them not indexed yet, and a thread that is resumed opens them again. The
    state carries the seconds that are left.

    Args:
        name: The node's name.
        step: What it does.
        state: What it reads.
        before: What earlier steps of this question left; nothing where it begins.
        parts: The components.
    """

    def __init__(
        self, name: str, step: Step, state: State, before: State, parts: Components
    ) -> None:
        self._name, self._step, self._state, self._before = name, step, state, before
        self._meter: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        self._degraded: list[Degradation] = []
        self._reasoning: list[Reasoning] = []
        self._result: Update = {}
        self._snapshot = parts.snapshot
        self._began = time.monotonic()
        allowed_s = parts.settings.deadline_s
        self._left_s = before.get("seconds_left", allowed_s)
        # what stands in when the time is over may still answer what has no answer yet
        spare = (parts.fallback or parts.unembedded) and not before.get("attempts")
        self._deadline = Deadline(
            self._began + self._left_s, allowed_s, _STAND_IN_S if spare else 0.0
        )
        if parts.unembedded is not None and self._lost(_embedder(parts)):
            parts = parts.unembedded
        self._begin_with(parts)

    def _begin_with(self, parts: Components) -> None:
        self._parts = parts
        self._dialogue: Dialogue[Update] = self._step(self._state, parts)

    def start(self) -> ChatRequest | None:
        """Run to the first request; None when the step needed no model."""
        return self._resume(self._enter)

    def advance(self, outcome: Outcome) -> ChatRequest | None:
        """Hand the step a reply, or throw what went wrong into it; its next request, if any."""
        if isinstance(outcome, ModelError):
            return self._resume(lambda: self._dialogue.throw(outcome))
        self._note(outcome)
        return self._resume(lambda: self._dialogue.send(outcome))

    def _enter(self) -> ChatRequest:
        self._deadline.check(f"before {self._name}")
        return next(self._dialogue)

    def _note(self, reply: ChatReply) -> None:
        """Keep what a reader must know of a reply and the step does not."""
        if reply.reasoning:
            attempt = len(self._before.get("attempts", [])) + 1
            self._reasoning.append(
                {"attempt": attempt, "node": self._name, "text": reply.reasoning}
            )
        listed = {item["wanted"] for item in [*self._before.get("degraded", []), *self._degraded]}
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
        while True:
            try:
                with within(self._deadline):
                    return self._needed(move())
            except StopIteration as done:
                self._result = done.value
                return None
            except LexloopError as error:
                if not self._stood_in(error):
                    self._end(error)
                    return None
            move = self._enter

    def _needed(self, request: ChatRequest) -> ChatRequest:
        """The request, unless its model failed for good earlier in this question."""
        if self._parts.fallback is not None and (reason := self._lost(self._chat.name)):
            raise ModelError(reason, "The embedded implementation answers instead.")
        return request

    def _lost(self, wanted: str) -> str | None:
        """Why something wanted was not to be had earlier in this question, if so."""
        lost = [d["reason"] for d in self._before.get("degraded", []) if d["wanted"] == wanted]
        return lost[-1] if lost else None

    def _stood_in(self, error: LexloopError) -> bool:
        """Begin the step anew with what stands in for what failed; False where nothing does."""
        if not isinstance(error, ModelError) or self._deadline.over:
            return False
        spare = self._parts.unembedded if error.embedder else self._parts.fallback
        if spare is None:
            return False
        if error.embedder:
            wanted, used = _embedder(self._parts), "embedded, and the search by words alone"
        else:
            # a malformed reply is this node's bad luck; the next one may ask the model again
            malformed = isinstance(error, ModelReplyError)
            wanted, used = "a usable reply" if malformed else self._chat.name, "embedded"
        self._degrade(wanted, used, error)
        self._begin_with(spare)
        return True

    def _end(self, error: LexloopError) -> None:
        """End the question with the best attempt so far; without one, raise the error."""
        judging, ending = self._name == "evaluate", replace(self._deadline, grace_s=_ENDING_S)
        end = partial(unfinished, self._before, self._parts.text_of, error)
        try:
            with within(ending):
                result = end(drafted=judging)
        except DeadlineExceeded:  # a draft that cannot be verified in time is none
            result = end(drafted=False)
        if result is None:
            raise error
        self._result = result
        wanted = "a verdict" if judging else "another attempt"
        self._degrade(wanted, "the best attempt so far", error)

    def _degrade(self, wanted: str, used: str, error: LexloopError) -> None:
        lost: Degradation = {
            "node": self._name,
            "wanted": wanted,
            "used": used,
            "reason": error.what,
        }
        self._degraded.append(lost)

    @property
    def _chat(self) -> ChatModel:
        if self._parts.chat is None:
            raise RuntimeError(f"{self._name} asked for a model, and none is configured")
        return self._parts.chat

    def ask(self, request: ChatRequest) -> Outcome:
        """Wait for the model, blocking."""
        shown = self._stream(request)
        try:
            outcome: Outcome = self._chat.complete(request, **self._terms(shown))
        except ModelError as error:
            outcome = error
        return self._told(outcome, shown)

    async def aask(self, request: ChatRequest) -> Outcome:
        """Wait for the model without blocking the event loop."""
        shown = self._stream(request)
        try:
            outcome: Outcome = await self._chat.acomplete(request, **self._terms(shown))
        except ModelError as error:
            outcome = error
        return self._told(outcome, shown)

    def _stream(self, request: ChatRequest) -> TokenStream | None:
        if not request.stream:
            return None
        spoken = Spoken(request.purpose, get_config())
        return TokenStream(self._name, request, get_stream_writer(), spoken)

    @staticmethod
    def _told(outcome: Outcome, shown: TokenStream | None) -> Outcome:
        if shown is not None:
            shown.finish(outcome if isinstance(outcome, ModelError) else None)
        return outcome

    def _terms(self, shown: TokenStream | None) -> dict[str, Any]:
        return {"deadline": self._deadline.at, "meter": self._meter, "on_token": shown}

    def update(self) -> Update:
        """What the step wrote, with what it cost and what degraded added."""
        update: Update = {**self._result}
        if self._state.get("snapshot") != self._snapshot:
            update["snapshot"] = self._snapshot
        if self._degraded:
            before = update.get("degraded", self._before.get("degraded", []))
            update["degraded"] = [*before, *self._degraded]
        spent_s = time.monotonic() - self._began
        cost = update.get("usage") or self._state["usage"]
        update["usage"] = {
            "model_calls": cost["model_calls"] + self._meter["model_calls"],
            "tokens_in": cost["tokens_in"] + self._meter["tokens_in"],
            "tokens_out": cost["tokens_out"] + self._meter["tokens_out"],
            "seconds": cost["seconds"] + spent_s,
        }
        update["seconds_left"] = self._left_s - spent_s
        if self._reasoning:
            update["reasoning"] = [*self._before.get("reasoning", []), *self._reasoning]
        return update


def _embedder(parts: Components) -> str:
    """What ``degraded`` calls the embedder: no chat model can have that name."""
    return f"embedder={parts.settings.embedder}"
