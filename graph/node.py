"""The runner of the nodes: a deadline, a budget, stand-ins for what fails, and an account."""

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from lexloop.core.errors import DeadlineExceeded, LexloopError, ModelError, ModelReplyError, hearing
from lexloop.core.running import Deadline, computed, current_deadline, waited, within
from lexloop.core.state import State, Update, summed
from lexloop.core.types import Degradation, OpenTurn, Reasoning
from lexloop.graph.budget import Budget, Spending
from lexloop.graph.streaming import showing
from lexloop.models.chat import ChatModel, asking
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import Context, StandIns
from lexloop.nodes.evaluate.node import unfinished

_STAND_IN_S, _ENDING_S = 0.7, 0.9
"""Seconds after the deadline in which what stands in for a model may still answer, and in which the
best attempt so far is found and its citations verified. No answer is to be a second late."""

Function = Callable[[Any, Runtime[Context]], Coroutine[Any, Any, Any]]
Resolve = Callable[[Any, str | None], Context]
Narrow = Callable[[Context, State], Context]
CONTEXT_KEY = "lexloop"
"""Under this key a parent graph with a context of its own passes settings on."""


class Node(Runnable[Any, Any]):
    """A coroutine function of the state, as LangGraph runs it for both kinds of callers.

    LangGraph calls a Runnable directly. Wrapping functions for it would trace every node twice, and
    cost more than the rest of the graph. It would run a plain function on a thread of the event
    loop's pool, which callers may have filled (see ``lexloop.core.running``).

    Args:
        function: The node's function.
        name: The node's name, if it differs from the function's.
    """

    def __init__(
        self, function: Callable[[Any], Coroutine[Any, Any, Any]], name: str | None = None
    ) -> None:
        self.name = name or getattr(function, "__name__", "")
        self._function = function

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it for a caller who blocks."""
        return waited(self._function(input))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it on the caller's event loop."""
        return await self._function(input)


def node_of(
    function: Function, resolve: Resolve, first: bool = False, among: Narrow | None = None
) -> Node:
    """Return the node of a function of the state and the runtime.

    Args:
        function: What the node does.
        resolve: From what a run brings and the corpus's snapshot to the context of the nodes.
        first: Whether a question begins here, so that the corpus is looked at anew.
        among: Returns a context over what the question's state has of documents, if given.
    """

    async def updated(state: State) -> Update:
        # an earlier node may have ended the question with the best attempt so far
        if not first and state.get("answer"):
            return {}
        runtime: Runtime[Any] = get_runtime()
        # what the last question of a thread left is nothing to the next one
        before: State = {} if first else state
        context = await _context(resolve, runtime.context, before, among)
        run = _Run(function.__name__, before, context)
        return await run.update(lambda context: function(state, runtime.override(context=context)))

    return Node(updated, function.__name__)


def untimed(function: Function, resolve: Resolve, among: Narrow | None = None) -> Node:
    """Return the node of a function that waits for a person: it has no deadline and no budget."""

    async def updated(state: State) -> Update:
        runtime: Runtime[Any] = get_runtime()
        context = await _context(resolve, runtime.context, state, among)
        made: Update = await function(state, runtime.override(context=context))
        return made

    return Node(updated, function.__name__)


async def _context(resolve: Resolve, brought: Any, state: State, among: Narrow | None) -> Context:
    context = await computed(resolve, brought, state.get("turn", {}).get("snapshot"))
    return await computed(among, context, state) if among is not None else context


class _Clock:
    """The time that a question has left.

    It runs only while nodes run, and starts when the documents are open: the first question may
    have to index them, and a resumed thread opens them again. The state carries what is left.

    Args:
        left_s: The remaining seconds.
        allowed_s: The question's total seconds, for messages.
        grace_s: Seconds after the deadline in which a stand-in may still answer.
    """

    def __init__(self, left_s: float, allowed_s: float, grace_s: float) -> None:
        self._began, self._left_s = time.monotonic(), left_s
        if (around := current_deadline()) is not None:  # the deadline of an agent that asks
            self._left_s = min(left_s, around.at - self._began)
        self.deadline = Deadline(self._began + self._left_s, allowed_s, grace_s)

    def read(self) -> tuple[float, float]:
        """Return the seconds that the node took so far, and those that the question has left."""
        spent_s = time.monotonic() - self._began
        return spent_s, self._left_s - spent_s


class _Losses:
    """What a question had to do without, in earlier nodes and in this one.

    Args:
        node: The name of this node.
        before: What earlier nodes lost.
    """

    def __init__(self, node: str, before: list[Degradation]) -> None:
        self._node, self.before = node, before
        self.new: list[Degradation] = []

    def add(self, wanted: str, used: str, reason: str) -> None:
        """Note that something wanted failed for a reason, and what was used instead."""
        self.new.append({"node": self._node, "wanted": wanted, "used": used, "reason": reason})

    def add_once(self, wanted: str, used: str, reason: str) -> None:
        """Note it unless it was lost before."""
        if self.why(wanted) is None:
            self.add(wanted, used, reason)

    def why(self, wanted: str) -> str | None:
        """Return the reason why something wanted was lost, or None if it was not."""
        known = reversed([*self.before, *self.new])
        return next((loss["reason"] for loss in known if loss["wanted"] == wanted), None)


class _StandIns:
    """The context that the node works with: the settings' own, until something in it fails.

    Args:
        context: What the settings choose.
        losses: What the question lost. An embedder lost in an earlier node is not tried again.
        attempted: Whether the question has an answer already, if not a good one.
    """

    def __init__(self, context: Context, losses: _Losses, attempted: bool) -> None:
        self.context, self._losses, self._attempted = context, losses, attempted
        if context.stand_ins.embedder is not None and losses.why(_embedder(context)):
            self.context = context.stand_ins.embedder

    def heed(self, chat: ChatModel) -> None:
        """Raise if the model failed for good earlier in this question and has a stand-in.

        Raises:
            ModelError: It did.
        """
        if self.context.stand_ins.chat is not None and (reason := self._losses.why(chat.name)):
            raise ModelError(reason, "The embedded implementation answers instead.")

    def take_over(self, error: ModelError) -> bool:
        """Replace what failed by its stand-in, and return whether there is one.

        If a model's reply is malformed and no attempt could be the answer yet, the embedded
        implementation takes over even if the settings forbid a fallback.
        """
        context, malformed = self.context, isinstance(error, ModelReplyError)
        spare = context.stand_ins.embedder if error.embedder else context.stand_ins.chat
        needed = malformed and not self._attempted
        if spare is None or not (needed or context.settings.model.fallback):
            return False
        if error.embedder:
            wanted, used = _embedder(context), "embedded, and the search by words alone"
        else:
            # a malformed reply is this node's bad luck; the next one may ask the model again
            wanted, used = (
                context.chat.name if context.chat and not malformed else "a usable reply",
                "embedded",
            )
        self._losses.add(wanted, used, error.what)
        self.context = spare
        return True


class _Run:
    """One run of one node, within the question's time and budget.

    Args:
        name: The node's name.
        before: The state left by earlier nodes of this question; empty at its beginning.
        context: What the nodes get from outside.
    """

    def __init__(self, name: str, before: State, context: Context) -> None:
        self._name, self._before, self._snapshot = name, before, context.corpus.snapshot
        self._reasoning: list[Reasoning] = []
        settings, attempted = context.settings, bool(before.get("attempts"))
        self._losses = _Losses(name, before.get("degraded", []))
        self._stand_ins = _StandIns(context, self._losses, attempted)
        self._spending = Spending(Budget.of(settings), before.get("usage", summed()))
        # after the deadline, a stand-in may still answer a question without an answer
        spared = settings.model.fallback and context.stand_ins != StandIns()
        grace_s, allowed_s = _STAND_IN_S * (spared and not attempted), settings.deadline_s
        left_s = before.get("turn", {}).get("seconds_left", allowed_s)
        self._clock = _Clock(left_s, allowed_s, grace_s)

    async def update(self, work: Callable[[Context], Coroutine[Any, Any, Update]]) -> Update:
        """Do the node's work, or have it done by what stands in; add its cost and what was lost."""
        deadline = self._clock.deadline
        with asking(self._ask), self._spending.shared(), hearing() as losses:
            while True:
                try:
                    with within(deadline):
                        deadline.check(f"before {self._name}")
                        made = await work(self._stand_ins.context)
                    break
                except LexloopError as error:
                    if (
                        deadline.over
                        or not isinstance(error, ModelError)
                        or not self._stand_ins.take_over(error)
                    ):
                        made = await computed(self._ended, error)
                        break
        for loss in losses:
            self._losses.add_once(*loss)
        return {**made, **self._account(made)}

    async def _ask(self, chat: ChatModel, request: ChatRequest) -> ChatReply:
        """Have the model answer, and note what it cost, thought and left out."""
        self._stand_ins.heed(chat)
        with self._spending.on(request) as meter, showing(self._name, request) as shown:
            reply = await chat.acomplete(
                request, deadline=self._clock.deadline.at, meter=meter, on_token=shown
            )
        if reply.reasoning:
            attempt = len(self._before.get("attempts", [])) + 1
            self._reasoning.append(
                {"attempt": attempt, "node": self._name, "text": reply.reasoning}
            )
        for wanted, why in chat.left_out:
            self._losses.add_once(wanted, "the provider's own", why)
        return reply

    def _ended(self, error: LexloopError) -> Update:
        """End the question with the best attempt so far; without one, raise the error."""
        judging = self._name == "evaluate"
        end = partial(unfinished, self._before, self._stand_ins.context, error)
        try:
            with within(replace(self._clock.deadline, grace_s=_ENDING_S)):
                made = end(drafted=judging)
        except DeadlineExceeded:  # a draft that cannot be verified in time does not count
            made = end(drafted=False)
        if made is None:
            raise error
        wanted = "a verdict" if judging else "another attempt"
        self._losses.add(wanted, "the best attempt so far", error.what)
        return made

    def _account(self, made: Update) -> Update:
        """Return what the question cost so far, what it lost, and what is left of its time."""
        spent_s, left_s = self._clock.read()
        so_far = made.get("usage") or self._before["usage"]
        turn: OpenTurn = {**self._before.get("turn", {}), **made.get("turn", {})}
        account: Update = {
            "usage": self._spending.added_to({**so_far, "seconds": so_far["seconds"] + spent_s}),
            # whole, for callers who put the updates of a stream together
            "turn": {**turn, "seconds_left": left_s, "snapshot": self._snapshot},
        }
        if self._losses.new:
            account["degraded"] = [*made.get("degraded", self._losses.before), *self._losses.new]
        if self._reasoning:
            account["reasoning"] = [*self._before.get("reasoning", []), *self._reasoning]
        return account


def _embedder(context: Context) -> str:
    """Return the name of the embedder in ``degraded``, which no chat model can have."""
    return f"index.embedder={context.settings.index.embedder}"
