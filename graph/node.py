"""The runner of the nodes: deadline, usage, fallback, and what is shown of an answer meanwhile."""

import re
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.callbacks import BaseCallbackManager, CallbackManager, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config, get_stream_writer
from langgraph.runtime import Runtime, get_runtime

from lexloop.core.errors import DeadlineExceeded, LexloopError, ModelError, ModelReplyError, hearing
from lexloop.core.running import Deadline, computed, current_deadline, waited, within
from lexloop.core.state import State, Update, summed
from lexloop.core.types import Degradation, Reasoning, Usage
from lexloop.graph.budget import Budget, expected_usage
from lexloop.models.chat import ChatModel, Token, asking, passes_on
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.node import unfinished
from lexloop.nodes.generate.node import recites

Writer = Callable[[Any], None]
_SENTENCE_ENDS = ".!?\n"
_AFTER_SENTENCE = re.compile(f"(?<=[{_SENTENCE_ENDS}])")
_CONTEXT_CHARS = 400
"""Characters said before that a sentence is checked with; more than a run of words takes."""


@contextmanager
def _showing(node: str, request: ChatRequest) -> Iterator["TokenStream | None"]:
    """Stream what a model writes to whoever runs the graph, if the request asks for that.

    Args:
        node: The name of the node.
        request: The request to the model.
    """
    if not request.stream:
        yield None
        return
    spoken = StreamedMessage(request.purpose, get_config())
    shown = TokenStream(node, request, get_stream_writer(), spoken)
    try:
        yield shown
    except ModelError as error:
        shown.finish(error)
        raise
    # not if the run is cancelled: the held-back text is not fully checked
    shown.finish()


class TokenStream:
    """The tokens passed on sentence by sentence, until the model recites its instructions.

    The answer as a whole is checked when it is finished; by then its beginning has been shown,
    so each sentence is checked before.

    Args:
        node: Which node speaks.
        request: What the model was asked; its instructions must not come back.
        write: LangGraph's stream writer: is given ``{"node", "token", "restart"}``.
        spoken: Is given the same, for those who stream messages or events.
    """

    def __init__(
        self, node: str, request: ChatRequest, write: Writer, spoken: "StreamedMessage"
    ) -> None:
        self._node, self._write, self._spoken = node, write, spoken
        self._instructions = request.instructions or request.system
        self._held, self._said, self._restart, self._silenced = "", "", False, False

    def __call__(self, token: Token) -> None:
        """Take the next token."""
        if token.restart:
            self._held, self._said, self._restart, self._silenced = "", "", True, False
        self._held += token.text
        if self._silenced or not any(end in token.text for end in _SENTENCE_ENDS):
            return
        self._show(max(self._held.rfind(end) for end in _SENTENCE_ENDS) + 1)

    def finish(self, error: Exception | None = None) -> None:
        """Show the rest of a complete answer, or end the stream after an error."""
        if self._held and not self._silenced and error is None:
            self._show(len(self._held))
        self._spoken.end(error)

    def _show(self, cut: int) -> None:
        ready, self._held = self._held[:cut], self._held[cut:]
        clean = ""
        for sentence in _AFTER_SENTENCE.split(ready):
            before = (self._said + clean)[-_CONTEXT_CHARS:]
            if recites(sentence, self._instructions, before):
                self._silenced = True
                break
            clean += sentence
        if not clean:
            return
        self._said += clean
        self._write({"node": self._node, "token": clean, "restart": self._restart})
        self._spoken.say(clean, self._restart)
        self._restart = False


class StreamedMessage:
    """The shown text as the run of a chat model, for callers who stream messages or events.

    They do not see the model's own run (``lexloop.models.chat``). A message that starts over gets a
    new id.

    Args:
        name: The name of the run.
        config: The config of the node's run.
    """

    def __init__(self, name: str, config: RunnableConfig) -> None:
        around = config.get("callbacks")
        manager = around if isinstance(around, BaseCallbackManager) else CallbackManager([])
        self._manager = CallbackManager(
            [handler for handler in manager.handlers if passes_on(handler)],
            parent_run_id=manager.parent_run_id,
            tags=manager.tags,
            metadata=manager.metadata,
        )
        self._name = name
        self._run: CallbackManagerForLLMRun | None = None
        self._text = ""

    def say(self, text: str, restart: bool) -> None:
        """Send the next piece. ``restart`` discards the pieces sent before."""
        if restart:
            self.end()
        if self._run is None:
            (self._run,) = self._manager.on_chat_model_start({}, [[]], name=self._name)
            self._text = ""
        self._text += text
        piece = AIMessageChunk(content=text, id=f"run-{self._run.run_id}")
        self._run.on_llm_new_token(text, chunk=ChatGenerationChunk(message=piece))

    def end(self, error: Exception | None = None) -> None:
        """End the message, with an error if one cut it short. Does nothing if none began."""
        run, self._run = self._run, None
        if run is None:
            return
        if error is not None:
            run.on_llm_error(error)
            return
        whole = AIMessage(content=self._text, id=f"run-{run.run_id}")
        run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=whole)]]))


_STAND_IN_S, _ENDING_S = 0.7, 0.9
"""Seconds after the deadline in which what stands in for a model may still answer, and in which the
best attempt so far is found and its citations verified. No answer is to be a second late."""

Function = Callable[[Any, Runtime[Context]], Coroutine[Any, Any, Any]]
Resolve = Callable[[Any, str | None], Context]
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


def node_of(function: Function, resolve: Resolve, first: bool = False) -> Node:
    """Return the node of a function of the state and the runtime.

    Args:
        function: What the node does.
        resolve: From what a run brings and the corpus's snapshot to the context of the nodes.
        first: Whether a question begins here, so that the corpus is looked at anew.
    """

    async def updated(state: State) -> Update:
        # an earlier node may have ended the question with the best attempt so far
        if not first and state.get("answer"):
            return {}
        runtime: Runtime[Any] = get_runtime()
        # what the last question of a thread left is nothing to the next one
        before: State = {} if first else state
        context = await computed(resolve, runtime.context, before.get("snapshot"))
        run = _Run(function.__name__, before, context)
        return await run.update(lambda context: function(state, runtime.override(context=context)))

    return Node(updated, function.__name__)


@dataclass(frozen=True)
class _Purse:
    """What a whole question has spent on models, and the calls that are under way.

    Within an agent's node its collections spend from the same one, some at once.
    """

    spent: Usage
    underway: list[ChatRequest] = field(default_factory=list)

    @property
    def expected(self) -> Usage:
        """What is spent once the calls under way are done."""
        return summed(self.spent, *map(expected_usage, self.underway))


_purse: ContextVar[_Purse | None] = ContextVar("purse", default=None)


@contextmanager
def _spending(purse: _Purse) -> Iterator[None]:
    """Set what every node inside counts its calls of models in."""
    token = _purse.set(purse)
    try:
        yield
    finally:
        _purse.reset(token)


class _Run:
    """One run of one node. It keeps the deadline.

    A question's time runs only while its nodes run, and starts when its documents are open: the
    first question may have to index them, and a resumed thread opens them again. The state carries
    the remaining seconds.

    Args:
        name: The node's name.
        before: The state left by earlier nodes of this question; empty at its beginning.
        context: What the nodes get from outside.
    """

    def __init__(self, name: str, before: State, context: Context) -> None:
        self._name, self._before, self._context = name, before, context
        self._meter, self._snapshot = summed(), context.snapshot
        self._purse = _purse.get() or _Purse(summed(*filter(None, [before.get("usage")])))
        self._budget = Budget.of(context.settings)
        self._degraded: list[Degradation] = []
        self._reasoning: list[Reasoning] = []
        self._began = time.monotonic()
        allowed_s = context.settings.deadline_s
        self._left_s = before.get("seconds_left", allowed_s)
        if (around := current_deadline()) is not None:  # the deadline of an agent that asks
            self._left_s = min(self._left_s, around.at - self._began)
        # after the deadline, a fallback may still answer a question without an answer
        stands_in = context.settings.model.fallback and (context.fallback or context.unembedded)
        grace_s = _STAND_IN_S if stands_in and not before.get("attempts") else 0.0
        self._deadline = Deadline(self._began + self._left_s, allowed_s, grace_s)
        if context.unembedded is not None and self._lost(_embedder(context)):
            self._context = context.unembedded

    async def update(self, work: Callable[[Context], Coroutine[Any, Any, Update]]) -> Update:
        """Do the node's work, or have it done by what stands in; add its cost and what was lost."""
        with asking(self._ask), _spending(self._purse), hearing() as losses:
            while True:
                try:
                    with within(self._deadline):
                        self._deadline.check(f"before {self._name}")
                        made = await work(self._context)
                    break
                except LexloopError as error:
                    if not self._stood_in(error):
                        made = await computed(self._ended, error)
                        break
        for loss in losses:
            self._degrade_once(*loss)
        return {**made, **self._account(made)}

    async def _ask(self, chat: ChatModel, request: ChatRequest) -> ChatReply:
        """Have the model answer, unless it failed for good earlier in this question."""
        if self._context.fallback is not None and (reason := self._lost(chat.name)):
            raise ModelError(reason, "The embedded implementation answers instead.")
        self._budget.check(self._purse.expected, request)
        call = summed()
        self._purse.underway.append(request)
        try:
            with _showing(self._name, request) as shown:
                reply = await chat.acomplete(
                    request, deadline=self._deadline.at, meter=call, on_token=shown
                )
        finally:
            self._purse.underway.remove(request)
            for spent in (self._meter, self._purse.spent):
                spent.update(summed(spent, call))
        if reply.reasoning:
            attempt = len(self._before.get("attempts", [])) + 1
            self._reasoning.append(
                {"attempt": attempt, "node": self._name, "text": reply.reasoning}
            )
        for wanted, why in chat.left_out:
            self._degrade_once(wanted, "the provider's own", why)
        return reply

    def _stood_in(self, error: LexloopError) -> bool:
        """Switch to a fallback for what failed, and return whether there is one.

        If a model's reply is malformed and no attempt could be the answer yet, the embedded
        implementation takes over even if the settings forbid a fallback.
        """
        if not isinstance(error, ModelError) or self._deadline.over:
            return False
        context, malformed = self._context, isinstance(error, ModelReplyError)
        spare = context.unembedded if error.embedder else context.fallback
        needed = malformed and not self._before.get("attempts")
        if spare is None or not (needed or context.settings.model.fallback):
            return False
        if error.embedder:
            wanted, used = _embedder(context), "embedded, and the search by words alone"
        else:
            # a malformed reply is this node's bad luck; the next one may ask the model again
            lasting = None if malformed else context.chat
            wanted, used = lasting.name if lasting else "a usable reply", "embedded"
        self._degrade(wanted, used, error.what)
        self._context = spare
        return True

    def _ended(self, error: LexloopError) -> Update:
        """End the question with the best attempt so far; without one, raise the error."""
        judging, ending = self._name == "evaluate", replace(self._deadline, grace_s=_ENDING_S)
        end = partial(unfinished, self._before, self._context.text_of, error)
        try:
            with within(ending):
                made = end(drafted=judging)
        except DeadlineExceeded:  # a draft that cannot be verified in time does not count
            made = end(drafted=False)
        if made is None:
            raise error
        wanted = "a verdict" if judging else "another attempt"
        self._degrade(wanted, "the best attempt so far", error.what)
        return made

    def _degrade(self, wanted: str, used: str, reason: str) -> None:
        self._degraded.append(
            {"node": self._name, "wanted": wanted, "used": used, "reason": reason}
        )

    def _degrade_once(self, wanted: str, used: str, reason: str) -> None:
        if self._lost(wanted) is None:
            self._degrade(wanted, used, reason)

    def _lost(self, wanted: str) -> str | None:
        """Return the reason why something wanted was lost earlier in this question, if it was."""
        known = [*self._before.get("degraded", []), *self._degraded]
        return next((loss["reason"] for loss in reversed(known) if loss["wanted"] == wanted), None)

    def _account(self, made: Update) -> Update:
        """Return what the question cost so far, what it lost, and what is left of its time."""
        spent_s = time.monotonic() - self._began
        so_far = made.get("usage") or self._before["usage"]
        account: Update = {
            "usage": self._budget.priced(summed(so_far, {**self._meter, "seconds": spent_s})),
            "seconds_left": self._left_s - spent_s,
        }
        if self._before.get("snapshot") != self._snapshot:
            account["snapshot"] = self._snapshot
        if self._degraded:
            before = made.get("degraded", self._before.get("degraded", []))
            account["degraded"] = [*before, *self._degraded]
        if self._reasoning:
            account["reasoning"] = [*self._before.get("reasoning", []), *self._reasoning]
        return account


def _embedder(context: Context) -> str:
    """Return the name of the embedder in ``degraded``, which no chat model can have."""
    return f"index.embedder={context.settings.index.embedder}"
