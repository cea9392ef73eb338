"""The chat model, with one deadline, one count of attempts, and checked replies.

The deadline holds even if a reply never begins, arrives drop by drop, or the host's ``Retry-After``
is later. Reasoning models think before they answer. Some providers send this separately; local
models write it into the reply between tags, and the chat template may already have written the
opening tag.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, aclosing
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from lexloop.core.errors import (
    ModelReplyError,
    ModelUnavailable,
    ModelWindowError,
    SettingsError,
)
from lexloop.core.running import in_time, out_of_time, setting
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.objects import Objects
from lexloop.models.provider import (
    MOST_CHARS,
    Client,
    FailedAttempt,
    Oversized,
    Parameters,
    Refusals,
    client,
    failed_call,
    failed_reply,
    oversized,
    retries,
)
from lexloop.models.request import ChatReply, ChatRequest, Unreadable, json_schema, read_json

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler, Callbacks
    from langchain_core.messages import AIMessage, ToolCall
    from langchain_core.runnables import RunnableConfig


_SHARES = (0.6, 0.3)
"""How much of the data is sent to a model that could not read all, and then not so much."""
_NO_STREAM = "nostream"  # LangGraph's own tag for calls that its message stream leaves out
_REPAIR = """Your last reply could not be used: {problem}
Answer the same request again, in the requested form and with nothing else."""


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


def asking(terms: Terms) -> AbstractContextManager[None]:
    """Set the terms on which every chat model inside is asked."""
    return setting(_terms, terms)


def chat_for(step: str, choice: str, chat: "ChatModel | None") -> "ChatModel | None":
    """Return the model that a step runs on, or None. ``auto`` uses the model if there is one.

    Raises:
        SettingsError: The step is set to the model and there is none.
    """
    if choice == "model" and chat is None:
        raise SettingsError(
            f"{step} is set to 'model', but no model is configured.",
            "Set model, for example to 'openai:gpt-4o-mini', or use 'embedded'.",
        )
    return chat if choice in ("model", "auto") else None


def connect(
    settings: Settings, connection: Connection, objects: Objects | None = None
) -> "ChatModel":
    """Return the chat model that the settings name, perhaps a caller's object. Nothing is sent yet.

    Raises:
        SettingsError: The model string, its provider or the address cannot be used.
        ModelAuthError: There is no key for it.
        DataError: The folder of a local model cannot be used.
    """
    brought = objects.client(settings.model.name) if objects else None
    return ChatModel(brought or client(settings, connection), settings)


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
        SettingsError: A parameter is set that the model's provider does not support.

    ``name`` is the model string and ``host`` the only host that receives text.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self.name, self.host = client.name, client.host
        self._client, self._settings = client, settings
        self._parameters = Parameters(client, settings)
        self._limit, self._deadline_s = settings.model.attempts, settings.deadline_s
        self._opened = False  # whether this model's template opens its reasoning

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r} at {self.host!r})"

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The settings that the host refused, as ``name=value``, each with the host's words."""
        return self._parameters.left_out

    @property
    def streams(self) -> bool:
        """True if a reply that is shown comes in pieces."""
        return self._client.marks_ends

    async def window(self, deadline: float) -> int | None:
        """Return the maximum tokens of a prompt and its reply together, or None if unknown.

        Raises:
            DeadlineExceeded: ``deadline``, on ``time.monotonic``, has passed.
        """
        from lexloop.models.window import window_of

        return await window_of(self._client, self._settings, deadline)

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
            on_token: Called on the thread of hosts with each piece of a streamed request.

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
        return await in_time(lambda: self._fitted(call), deadline, late)

    async def _fitted(self, call: _Call) -> ChatReply:
        """Return the reply, leaving out data if the model cannot read all of it."""
        shorter = call.request.shorter
        for share in _SHARES:
            try:
                return await self._answer(call)
            except ModelWindowError:
                if shorter is None:
                    raise
                system, user = shorter(share)
                call.request = replace(call.request, system=system, user=user)
        return await self._answer(call)

    async def _answer(self, call: _Call) -> ChatReply:
        """Return the reply, after at most one repair, and parsed if the request has a schema."""
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
        """Make one attempt. If the host refuses a parameter, try again at once without it."""
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
            if received.tokens_cached:
                before = call.meter.get("tokens_cached", 0)
                call.meter["tokens_cached"] = before + received.tokens_cached
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

        model: Any = self._parameters.applied(call.refusals, json_schema(call.request.schema))
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
            # Providers' exceptions share no base class; each is raised again with a type of ours.
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
    """Return the callbacks of a run without those that forward prompts and replies.

    ``stream_mode="messages"``, ``astream_events`` and ``astream_log`` would forward a model's
    prompt and its reply before anything has checked it. The caller of the graph gets the checked
    answer instead (``lexloop.graph.node``). Tracers, token counters and the process's own callbacks
    still receive the call.
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


_REASON_KEYS = ("finish_reason", "stop_reason", "done_reason", "status")
_TOO_LONG = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_WITHHELD = frozenset({"content_filter", "safety", "recitation", "prohibited_content", "refusal"})
_NAMES = ("think", "thinking", "thought", "reasoning")
_TAG = re.compile(rf"<(/?)(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
_TAGS = tuple(f"<{slash}{name}>" for slash in ("", "/") for name in _NAMES)


class Thinking:
    """A reply's text and its reasoning, held apart.

    What stands before a closing tag that nothing opened was reasoning as well: the text begins
    anew behind it. A block that is never closed is reasoning to its end.

    Args:
        opened: Whether the reply is taken to begin inside its reasoning, so that nothing is text
            until a tag closes it, or until the reply ends without one.
    """

    def __init__(self, opened: bool = False) -> None:
        self.unopened = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._inside = self._supposed = opened
        self._tail = ""

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "".join(self._text).strip()

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(self._reasoning).strip()

    def add(self, piece: str) -> tuple[str, bool]:
        """Add a piece.

        Returns:
            The text that it adds, and whether the reply's text begins with it, so that text
            returned before is void.
        """
        rest = self._tail + piece
        before, end = len(self._text), 0
        for tag in _TAG.finditer(rest):
            self._take(rest[end : tag.start()])
            end = tag.end()
            if tag[1]:
                self._close()
                before = min(before, len(self._text))
            else:
                self._inside, self._supposed = True, False
        rest = rest[end:]
        cut = _tag_begins(rest)
        self._tail = rest[cut:]
        self._take(rest[:cut])
        return "".join(self._text[before:]), before == 0

    def finish(self) -> tuple[str, bool]:
        """End the reply; returns as ``add`` does."""
        before = len(self._text)
        tail, self._tail = self._tail, ""
        self._take(tail)
        if self._supposed and self._inside:
            supposed, self._reasoning = "".join(self._reasoning), []
            self._inside = False
            self._take(supposed)
        return "".join(self._text[before:]), before == 0

    def apart(self, piece: "AIMessage") -> int:
        """Add the reasoning that a provider sends separately, and return its length."""
        if isinstance(piece.content, str) and not piece.additional_kwargs:
            return 0  # nearly every piece: reading content blocks costs more than all the rest
        thoughts = [
            block.get("reasoning") or ""
            for block in piece.content_blocks
            if block["type"] == "reasoning"
        ]
        self._reasoning += thoughts
        return sum(map(len, thoughts))

    def _close(self) -> None:
        if not self._inside:
            self._reasoning += self._text
            self._text.clear()
        self.unopened = self.unopened or self._supposed or not self._inside
        self._inside = self._supposed = False

    def _take(self, piece: str) -> None:
        if self._inside:
            self._reasoning.append(piece)
            return
        if not self._text:
            piece = piece.lstrip()
        if piece:
            self._text.append(piece)


def _tag_begins(text: str) -> int:
    """Return the offset at which the end of ``text`` may begin a tag, or its length if none."""
    at = text.rfind("<")
    tail = text[at:].lower()
    return at if at >= 0 and any(tag.startswith(tail) for tag in _TAGS) else len(text)


class Received:
    """The pieces of one reply, put together.

    Args:
        model: The model's name, for messages.
        ended: Whether the reply must carry an end marker, as a streamed one does.
        opened: Whether the reply is taken to begin inside the model's reasoning.

    ``chars`` counts all that has come: text, reasoning and the arguments of function calls;
    ``calls`` are those of a reply that came in one piece.
    """

    def __init__(self, model: str, ended: bool, opened: bool) -> None:
        self.tokens_in = self.tokens_out = self.tokens_cached = self.chars = 0
        self.thinking = Thinking(opened)
        # a list: a string that grows piece by piece is copied with every one
        self._arguments: list[str] = []
        self.calls: list[ToolCall] = []
        self._reason = ""
        self._model, self._ended = model, ended

    def add(self, piece: "AIMessage") -> tuple[str, bool]:
        """Add one piece, or the whole reply; returns as ``Thinking.add`` does."""
        arguments = _arguments(piece)
        self._arguments.append(arguments)
        self.calls += piece.tool_calls
        if usage := piece.usage_metadata:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]
            self.tokens_cached += usage.get("input_token_details", {}).get("cache_read") or 0
        self._reason = _end_of(piece.response_metadata) or self._reason
        self.chars += len(piece.text) + len(arguments) + self.thinking.apart(piece)
        return self.thinking.add(piece.text)

    def checked(self) -> str:
        """Return the reply's text, or the arguments of its function call if it has no text.

        Raises:
            FailedAttempt: The reply was cut off, withheld, or empty.
        """
        name = self._model
        if self._reason in _TOO_LONG:
            raise failed_reply(
                f"{name} reached its limit of reply tokens (finish_reason {self._reason!r}).",
                "Raise max_tokens where it is set, use a model with a larger limit, or ask for "
                "less.",
                retry=False,
            )
        if self._reason in _WITHHELD:
            raise failed_reply(
                f"{name} withheld its reply (finish_reason {self._reason!r}).",
                "Reword the question, or use another model.",
                retry=False,
            )
        if self._ended and not self._reason:
            raise failed_reply(f"The reply of {name} was cut off before its end marker.")
        text = self.thinking.text or "".join(self._arguments).strip()
        if not text:
            thought = (
                "its reasoning alone, without an answer" if self.thinking.reasoning else "empty"
            )
            raise failed_reply(f"The reply of {name} is {thought}.")
        return text


def _end_of(metadata: Mapping[str, Any]) -> str:
    """Return why the reply ended, in lower case; empty before its end."""
    if metadata.get("status") == "incomplete":
        return str((metadata.get("incomplete_details") or {}).get("reason", "length")).lower()
    for key in _REASON_KEYS:
        if reason := metadata.get(key):
            return str(reason).lower()
    # servers of Ollama before 0.1.36 end a reply without a reason
    return "done" if metadata.get("done") is True else ""


def _arguments(piece: "AIMessage") -> str:
    """Return the arguments of a piece's function calls, as JSON text."""
    from langchain_core.messages import AIMessageChunk

    if isinstance(piece, AIMessageChunk):
        return "".join(chunk["args"] or "" for chunk in piece.tool_call_chunks)
    calls = [json.dumps(call["args"]) for call in piece.tool_calls]
    calls += [call["args"] or "" for call in piece.invalid_tool_calls]
    if old := piece.additional_kwargs.get("function_call"):
        calls.append(str(old.get("arguments") or ""))
    return "\n".join(calls)
