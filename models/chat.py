"""The chat model: one deadline, one count of attempts, and replies that are checked.

The deadline holds whatever the host does: a reply that never begins, one that drips, or a
``Retry-After`` beyond it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from lexloop.core.deadline import out_of_time
from lexloop.core.errors import ModelReplyError, ModelUnavailable, SettingsError
from lexloop.core.running import in_time
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.failure import FailedAttempt, failed_call, failed_reply, retries
from lexloop.models.parameters import Parameters, Refusals
from lexloop.models.provider import MOST_CHARS, Client, Oversized, client, oversized
from lexloop.models.reply import Received
from lexloop.models.request import ChatReply, ChatRequest, Unreadable, read_json

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler, Callbacks
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

_NO_STREAM = "nostream"  # LangGraph's own tag for calls that its message stream leaves out
_REPAIR = """Your last reply could not be used: {problem}
Answer the same request again, with one JSON object of the requested form and nothing else."""


@dataclass(frozen=True)
class Token:
    """A piece of a streamed answer; one that restarts it voids what the call showed before."""

    text: str
    restart: bool = False


Messages = list[Any]
OnToken = Callable[[Token], None]
Terms = Callable[["ChatModel", ChatRequest], Coroutine[Any, Any, ChatReply]]
"""Answers a request by a model: who asks keeps the time and the count, and hears the tokens."""
_terms: ContextVar[Terms] = ContextVar("terms")


@contextmanager
def asking(terms: Terms) -> Iterator[None]:
    """Set the terms on which every chat model inside is asked."""
    token = _terms.set(terms)
    try:
        yield
    finally:
        _terms.reset(token)


def chat_for(step: str, choice: str, chat: "ChatModel | None") -> "ChatModel | None":
    """Return the model that a step runs on, or None; ``auto`` takes one if there is one.

    Raises:
        SettingsError: The step is set to the model and there is none.
    """
    if choice == "model" and chat is None:
        raise SettingsError(
            f"{step} is set to 'model', but no model is configured.",
            "Set model, for example to 'openai:gpt-4o-mini', or use 'embedded'.",
        )
    return chat if choice in ("model", "auto") else None


def connect(settings: Settings, connection: Connection) -> "ChatModel":
    """Return the chat model that the settings name; nothing is sent yet.

    Raises:
        SettingsError: The model string, its provider or the address cannot be used.
        ModelAuthError: There is no key to call it with.
        DataError: The folder of a local model cannot be used.
    """
    return ChatModel(client(settings, connection), settings)


@dataclass
class _Call:
    """One request on its way through its attempts."""

    request: ChatRequest
    deadline: float
    meter: Usage
    on_token: OnToken | None
    refusals: Refusals
    shown: bool = False

    def show(self, text: str, first: bool) -> None:
        """Show a piece; ``first`` marks the first one of its attempt."""
        if self.on_token is not None and text:
            self.on_token(Token(text, restart=first and self.shown))
            self.shown = True


class ChatModel:
    """A chat model that answers ``ChatRequest``s, from any event loop.

    Args:
        client: The LangChain client.
        settings: For the parameters, ``model.attempts`` and, in messages, ``deadline_s``.

    Raises:
        SettingsError: A parameter is set that the model's provider has no place for.

    ``name`` is the model string and ``host`` the one host to which text is sent.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self.name, self.host = client.name, client.host
        self._client = client
        self._parameters = Parameters(client, settings)
        self._limit, self._deadline_s = settings.model.attempts, settings.deadline_s
        self._opened = False  # whether this model's template opens its reasoning

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r} at {self.host!r})"

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The settings that the host refused, as ``name=value``, each with the host's words."""
        return self._parameters.left_out

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Answer a request on the terms that ``asking`` set; they are needed."""
        return await _terms.get()(self, request)

    async def acomplete(
        self,
        request: ChatRequest,
        *,
        deadline: float,
        meter: Usage,
        on_token: OnToken | None = None,
    ) -> ChatReply:
        """Answer a request without blocking the event loop.

        Args:
            request: The prompt, and what the reply must parse into.
            deadline: When to give up, on ``time.monotonic``.
            meter: Is counted up: one model call per attempt, tokens as the host reports them.
            on_token: Called on the background thread with each piece of a streamed request.

        Raises:
            ModelAuthError: The host refused the key.
            ModelUnavailable: No attempt reached a working host.
            ModelReplyError: The reply was cut off, empty, or malformed after one repair.
            DeadlineExceeded: The deadline came first.
            ModelError: The host refused the request itself.
        """
        shown = on_token if request.stream else None
        call = _Call(request, deadline, meter, shown, self._parameters.refusals)
        when = f"while {request.purpose} waited for {self.name} at {self.host}"
        late = out_of_time(self._deadline_s, when)
        return await in_time(lambda: self._answer(call), deadline, late)

    async def _answer(self, call: _Call) -> ChatReply:
        """Return the reply, parsed where the request has a schema, after one repair at most."""
        request = call.request
        messages: Messages = [("system", request.system), ("user", request.user)]
        reply = await self._reply(call, [*request.turns] or messages)
        if request.schema is None:
            return reply
        try:
            return replace(reply, parsed=read_json(reply.text, request.schema))
        except Unreadable as problem:
            repair = _REPAIR.format(problem=problem)
        turns: Messages = [*messages, ("assistant", reply.text), ("user", repair)]
        repaired = await self._reply(call, turns)
        try:
            parsed = read_json(repaired.text, request.schema)
        except Unreadable as problem:
            raise ModelReplyError(
                f"{self.name} did not reply to {request.purpose} in the form asked for, even "
                f"after one repair: {problem}.",
                "Use a model that follows instructions more closely.",
            ) from problem
        thoughts = f"{reply.reasoning}\n\n{repaired.reasoning}".strip()
        return replace(repaired, parsed=parsed, reasoning=thoughts)

    async def _reply(self, call: _Call, messages: Messages) -> ChatReply:
        """Return the reply of the first attempt that succeeds."""
        from tenacity import AsyncRetrying

        def give_up(failure: FailedAttempt, wait_s: float) -> NoReturn:
            if not wait_s:
                raise failure.error from failure.cause
            left_s = max(0.0, call.deadline - time.monotonic())
            raise ModelUnavailable(
                f"{failure.error.what} The next attempt would have to wait {wait_s:.1f} s, and "
                f"{left_s:.1f} s are left of deadline_s ({self._deadline_s:g} s).",
                "Try again later, or raise deadline_s.",
            ) from failure.cause

        tries = AsyncRetrying(**retries(self._limit, call.deadline, give_up))
        return await tries(self._attempt, call, messages)

    async def _attempt(self, call: _Call, messages: Messages) -> ChatReply:
        """Make one attempt; where the host refuses a parameter, at once another without it."""
        while True:
            _heed_cancellation()
            try:
                reply = await self._asked(call, messages)
            except FailedAttempt as failure:
                refused = self._parameters.refused(failure.__cause__, call.refusals)
                if refused is None:
                    raise
                call.refusals = refused
            else:
                self._parameters.remember(call.refusals)
                return reply

    async def _asked(self, call: _Call, messages: Messages) -> ChatReply:
        call.meter["model_calls"] += 1
        tools = call.request.tools
        streamed = call.request.stream and self._client.marks_ends and not tools
        received = Received(
            self._client.name, streamed or self._client.always_streams, self._opened
        )
        try:
            async with aclosing(self._pieces(call, messages, streamed)) as pieces:
                async for piece in pieces:
                    _heed_cancellation()
                    shown = received.add(piece)
                    if received.chars > MOST_CHARS:
                        raise self._too_long(Oversized(MOST_CHARS, "characters"))
                    call.show(*shown)
            call.show(*received.thinking.finish())
        finally:
            call.meter["tokens_in"] += received.tokens_in
            call.meter["tokens_out"] += received.tokens_out
        text, thoughts = received.checked(), received.thinking.reasoning
        called = tuple(received.calls) if tools else ()
        reply = ChatReply(received.thinking.text if called else text, None, thoughts, called)
        self._opened = received.thinking.unopened
        return reply

    async def _pieces(
        self, call: _Call, messages: Messages, streamed: bool
    ) -> AsyncGenerator["AIMessage", None]:
        """Yield what the provider sends: pieces of a streamed reply, else the whole."""
        from langchain_core.runnables import ensure_config

        model: Any = self._parameters.applied(call.refusals)
        config: RunnableConfig = {
            "run_name": call.request.purpose,
            "tags": [_NO_STREAM],
            "callbacks": _in_private(ensure_config().get("callbacks")),
        }
        try:
            if streamed:
                async for chunk in model.astream(messages, config):
                    yield chunk
            else:
                whole = model.model_copy(update={"disable_streaming": True})
                if call.request.tools:
                    whole = whole.bind_tools(call.request.tools)
                yield await whole.ainvoke(messages, config)
        except Exception as error:
            if reason := oversized(error):
                raise self._too_long(reason) from error
            # Providers' exceptions have no base class in common; every one is passed on, typed.
            raise failed_call(error, self._client) from error

    def _too_long(self, reason: Oversized) -> FailedAttempt:
        return failed_reply(
            f"The reply of {self.name} was not read to its end: {reason}.",
            "Use another model, or ask for less.",
            retry=False,
            cause=reason,
        )


def passes_on(handler: "BaseCallbackHandler") -> bool:
    """Return whether a handler passes what it hears on to the caller of the graph.

    LangChain and LangGraph give all of these the method that taps a step's output.
    """
    return hasattr(handler, "tap_output_iter")


def _in_private(callbacks: "Callbacks") -> "Callbacks":
    """Return the callbacks of a run without those that pass on what they hear.

    ``stream_mode="messages"``, ``astream_events`` and ``astream_log`` pass on what a chat model is
    told and says before anything could check it; the caller of the graph gets the checked answer
    instead (``lexloop.graph.stream``). Tracers, counters of tokens and callbacks of the process's
    own hear of the call itself.
    """
    if callbacks is None or isinstance(callbacks, list):
        return [handler for handler in callbacks or [] if not passes_on(handler)]
    kept = callbacks.copy()
    for handler in filter(passes_on, [*kept.handlers, *kept.inheritable_handlers]):
        kept.remove_handler(handler)
    return kept


def _heed_cancellation() -> None:
    """Stop here if this task was cancelled, by its caller or by the deadline.

    Client libraries that read a stream through ``asyncio.wait_for`` lose a cancellation that
    coincides with a piece (Python before 3.12); the task still knows of it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
