"""The runner of the nodes: deadline, usage, shown tokens, fallback where it is allowed."""

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import Runtime, get_runtime

from lexloop.core.deadline import Deadline, current_deadline, within
from lexloop.core.errors import DeadlineExceeded, LexloopError, ModelError, ModelReplyError
from lexloop.core.losses import Loss, hearing
from lexloop.core.running import computed, waited
from lexloop.core.state import AgentState, AgentUpdate, State, Update
from lexloop.core.types import Degradation, Reasoning, Usage
from lexloop.graph.stream import StreamedMessage, TokenStream
from lexloop.models.chat import ChatModel, asking
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.node import unfinished

_STAND_IN_S, _ENDING_S = 0.7, 0.9
"""Seconds after the deadline in which what stands in for a model may still answer, and in which the
best attempt so far is found and its citations verified. No answer is to be a second late."""

Function = (
    Callable[[State, Runtime[Context]], Coroutine[Any, Any, Update]]
    | Callable[[AgentState, Runtime[Context]], Coroutine[Any, Any, AgentUpdate]]
)
Resolve = Callable[[Any, str | None], Context]
CONTEXT_KEY = "lexloop"
"""Under this key a parent graph with a context of its own passes settings on."""


class NodeRunnable(Runnable[State, Update]):
    """A node's function, as LangGraph runs it for both kinds of callers.

    LangGraph calls a Runnable as it is; wrapping functions for it would trace every node twice
    and cost more than all the rest of the graph.

    Args:
        function: What the node does.
        resolve: From what a run brings and the corpus's snapshot to the context of the nodes.
        first: Whether a question begins here, so that the corpus is looked at anew.
    """

    def __init__(self, function: Function, resolve: Resolve, first: bool = False) -> None:
        self.name = function.__name__
        self._function, self._resolve, self._first = function, resolve, first

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node, blocking while a model is asked."""
        return waited(self.ainvoke(input, config))

    async def ainvoke(
        self, input: State, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Update:
        """Run the node without blocking the event loop."""
        # an earlier node may have ended the question with the best attempt so far
        if not self._first and input.get("answer"):
            return {}
        run = await computed(self._begin, input, get_runtime())
        return await run.update()

    def _begin(self, state: State, runtime: Runtime[Any]) -> "_Run":
        # what the last question of a thread left is nothing to the next one
        before: State = {} if self._first else state
        context = self._resolve(runtime.context, before.get("snapshot"))
        return _Run(self._function, state, before, runtime, context)


class _Run:
    """One run of one node; the one place that keeps the deadline.

    The question's time runs while its nodes do, from when its documents are open: the first
    question may find them not indexed yet, and a thread that is resumed opens them again. The
    state carries the seconds that are left.

    Args:
        function: What the node does.
        state: What it reads.
        before: What earlier nodes of this question left; nothing where it begins.
        runtime: LangGraph's.
        context: What the nodes get from outside.
    """

    def __init__(
        self,
        function: Function,
        state: State,
        before: State,
        runtime: Runtime[Any],
        context: Context,
    ) -> None:
        self._function, self._name = function, function.__name__
        self._state, self._before, self._runtime = state, before, runtime
        self._meter: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        self._degraded: list[Degradation] = []
        self._told: list[Loss] = []
        self._reasoning: list[Reasoning] = []
        self._snapshot = context.snapshot
        self._began = time.monotonic()
        allowed_s = context.settings.deadline_s
        self._left_s = before.get("seconds_left", allowed_s)
        if (around := current_deadline()) is not None:  # that of an agent which asks
            self._left_s = min(self._left_s, around.at - self._began)
        # what stands in when the time is over may still answer what has no answer yet
        spare = (context.fallback or context.unembedded) and not before.get("attempts")
        self._deadline = Deadline(
            self._began + self._left_s, allowed_s, _STAND_IN_S if spare else 0.0
        )
        if context.unembedded is not None and self._lost(_embedder(context)):
            context = context.unembedded
        self._context = context

    async def update(self) -> Update:
        """Run the node, and what stands in for a failed one; add what it cost and what degraded."""
        while True:
            try:
                with within(self._deadline), asking(self._ask), hearing() as self._told:
                    self._deadline.check(f"before {self._name}")
                    runtime = self._runtime.override(context=self._context)
                    function: Any = self._function
                    return self._with_cost(await function(self._state, runtime))
            except LexloopError as error:
                if not self._stood_in(error):
                    return self._with_cost(await computed(self._end, error))

    async def _ask(self, chat: ChatModel, request: ChatRequest) -> ChatReply:
        """Have the model answer, unless it failed for good earlier in this question."""
        if self._context.fallback is not None and (reason := self._lost(chat.name)):
            raise ModelError(reason, "The embedded implementation answers instead.")
        shown = None
        if request.stream:
            spoken = StreamedMessage(request.purpose, get_config())
            shown = TokenStream(self._name, request, get_stream_writer(), spoken)
        try:
            reply = await chat.acomplete(
                request, deadline=self._deadline.at, meter=self._meter, on_token=shown
            )
        except ModelError as error:
            if shown is not None:
                shown.finish(error)
            raise
        # not where the run is cancelled: what was held back was not checked to its end
        if shown is not None:
            shown.finish()
        self._note(chat, reply)
        return reply

    def _note(self, chat: ChatModel, reply: ChatReply) -> None:
        """Keep what a reader must know of a reply and the node does not."""
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
            for wanted, said in chat.left_out
            if wanted not in listed
        ]
        self._degraded += lost

    def _stood_in(self, error: LexloopError) -> bool:
        """Have what stands in for what failed do it anew; False where nothing does."""
        if not isinstance(error, ModelError) or self._deadline.over:
            return False
        context = self._context
        spare = context.unembedded if error.embedder else context.fallback
        if spare is None:
            return False
        if error.embedder:
            wanted, used = _embedder(context), "embedded, and the search by words alone"
        else:
            # a malformed reply is this node's bad luck; the next one may ask the model again
            lasting = context.chat if not isinstance(error, ModelReplyError) else None
            wanted, used = lasting.name if lasting else "a usable reply", "embedded"
        self._degrade(wanted, used, error)
        self._context = spare
        return True

    def _end(self, error: LexloopError) -> Update:
        """End the question with the best attempt so far; without one, raise the error."""
        judging, ending = self._name == "evaluate", replace(self._deadline, grace_s=_ENDING_S)
        end = partial(unfinished, self._before, self._context.text_of, error)
        try:
            with within(ending):
                result = end(drafted=judging)
        except DeadlineExceeded:  # a draft that cannot be verified in time is none
            result = end(drafted=False)
        if result is None:
            raise error
        wanted = "a verdict" if judging else "another attempt"
        self._degrade(wanted, "the best attempt so far", error)
        return result

    def _degrade(self, wanted: str, used: str, error: LexloopError) -> None:
        lost: Degradation = {
            "node": self._name,
            "wanted": wanted,
            "used": used,
            "reason": error.what,
        }
        self._degraded.append(lost)

    def _lost(self, wanted: str) -> str | None:
        """Return the reason why something wanted failed earlier in this question, if it did."""
        lost = [d["reason"] for d in self._before.get("degraded", []) if d["wanted"] == wanted]
        return lost[-1] if lost else None

    def _with_cost(self, result: Update) -> Update:
        update: Update = {**result}
        if self._state.get("snapshot") != self._snapshot:
            update["snapshot"] = self._snapshot
        lost: list[Degradation] = [
            {"node": self._name, "wanted": wanted, "used": used, "reason": reason}
            for wanted, used, reason in self._told
            if self._lost(wanted) is None
        ]
        self._degraded += lost
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


def _embedder(context: Context) -> str:
    """Return the name of the embedder in ``degraded``, which no chat model can have."""
    return f"index.embedder={context.settings.index.embedder}"
