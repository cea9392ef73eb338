"""The chat model: one deadline, one count of attempts, and replies that are checked.

The deadline is the wall clock's and holds whatever the host does: a reply that never begins, one
that drips, or a ``Retry-After`` beyond it.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from lexloop.core.errors import DeadlineExceeded, ModelReplyError, ModelUnavailable
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models import background, structured
from lexloop.models.dialogue import ChatReply, ChatRequest
from lexloop.models.failure import FailedAttempt, failed_call
from lexloop.models.provider import Client, client
from lexloop.models.received import Received

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

_FIRST_WAIT_S = 0.25
_WAIT_GROWTH = 4.0
_LONGEST_WAIT_S = 16.0
_GRACE_S = 1.0
_NO_STREAM = "nostream"  # LangGraph's tag for calls that its message stream leaves out

Message = tuple[str, str]


@dataclass(frozen=True)
class Token:
    """A piece of a streamed answer.

    Args:
        text: The piece.
        restart: The answer starts over with this piece: what this call showed before is void.
    """

    text: str
    restart: bool = False


OnToken = Callable[[Token], None]


@dataclass
class _Call:
    """One request on its way through its attempts."""

    request: ChatRequest
    deadline: float
    meter: Usage
    on_token: OnToken | None
    shown: bool = field(default=False)

    def show(self, text: str, first: bool) -> None:
        if self.on_token is not None and text:
            self.on_token(Token(text, restart=first and self.shown))
            self.shown = True


def connect(settings: Settings, connection: Connection) -> "ChatModel":
    """The chat model that the settings name; nothing is sent yet.

    Raises:
        SettingsError: The model string, its provider or the address cannot be used.
        ModelAuthError: There is no key to call it with.
    """
    return ChatModel(client(settings, connection), settings)


class ChatModel:
    """A chat model that answers ``ChatRequest``s, from threads and from event loops alike.

    Args:
        client: The LangChain client.
        settings: For ``model_attempts`` and, in messages, ``deadline_s``.

    ``name`` is the model string and ``host`` the one host to which text is sent.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self.name = client.name
        self.host = client.host
        self._client = client
        self._streamed = client.model
        self._whole = client.model.model_copy(update={"disable_streaming": True})
        self._attempts = settings.model_attempts
        self._deadline_s = settings.deadline_s

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r} at {self.host!r})"

    def complete(
        self,
        request: ChatRequest,
        *,
        deadline: float,
        meter: Usage,
        on_token: OnToken | None = None,
    ) -> ChatReply:
        """Ask and wait.

        Args:
            request: The prompt, and what the reply must parse into.
            deadline: When to give up, in seconds since the epoch.
            meter: Is counted up: one model call per attempt, tokens as the host reports them.
            on_token: Called on the background thread with each piece of a streamed request.

        Raises:
            ModelAuthError: The host refused the key.
            ModelUnavailable: No attempt reached a working host.
            ModelReplyError: The reply was cut off, empty, or malformed after one repair.
            DeadlineExceeded: The deadline came first.
            ModelError: The host refused the request itself.
        """
        future = self._submit(request, deadline, meter, on_token)
        try:
            return future.result(self._patience(deadline))
        except TimeoutError as error:
            self._give_up(request, error)
        finally:
            future.cancel()

    async def acomplete(
        self,
        request: ChatRequest,
        *,
        deadline: float,
        meter: Usage,
        on_token: OnToken | None = None,
    ) -> ChatReply:
        """Ask without blocking the event loop; as ``complete`` in everything else."""
        future = self._submit(request, deadline, meter, on_token)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._patience(deadline))
        except TimeoutError as error:
            self._give_up(request, error)
        finally:
            future.cancel()

    def _submit(
        self, request: ChatRequest, deadline: float, meter: Usage, on_token: OnToken | None
    ) -> Future[ChatReply]:
        shown_to = on_token if request.stream else None
        return background.submit(self._in_time(_Call(request, deadline, meter, shown_to)))

    @staticmethod
    def _patience(deadline: float) -> float:
        """Seconds to wait for the background loop, which keeps the deadline itself."""
        return max(0.0, deadline - time.time()) + _GRACE_S

    def _give_up(self, request: ChatRequest, cause: TimeoutError | None) -> NoReturn:
        raise DeadlineExceeded(
            f"The deadline of {self._deadline_s:g} s for one question (deadline_s) ran out while "
            f"{request.purpose} waited for {self.name} at {self.host}.",
            "Raise deadline_s, or use a faster model.",
        ) from cause

    async def _in_time(self, call: _Call) -> ChatReply:
        left = call.deadline - time.time()
        if left <= 0:
            self._give_up(call.request, None)
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await self._reply(call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._give_up(call.request, error)

    async def _reply(self, call: _Call) -> ChatReply:
        request = call.request
        messages = [("system", request.system), ("user", request.user)]
        text = await self._text(call, messages)
        if request.schema is None:
            return ChatReply(text)
        try:
            return ChatReply(text, structured.read(text, request.schema))
        except structured.Unreadable as problem:
            repair = structured.repair_turn(problem)
        text = await self._text(call, [*messages, ("assistant", text), ("user", repair)])
        try:
            return ChatReply(text, structured.read(text, request.schema))
        except structured.Unreadable as problem:
            raise ModelReplyError(
                f"{self.name} did not reply to {request.purpose} in the form asked for, even "
                f"after one repair: {problem}.",
                "Use a model that follows instructions more closely.",
            ) from problem

    async def _text(self, call: _Call, messages: list[Message]) -> str:
        """The text of the first attempt that succeeds."""
        attempt = 1
        while True:
            try:
                return await self._attempt(call, messages)
            except FailedAttempt as caught:
                failure = caught
            if self._asks_usage and "stream_options" in failure.error.what:
                self._stop_asking_usage()
                continue
            if not failure.retry or attempt == self._attempts:
                raise failure.error from failure.cause
            await self._wait(call, failure, attempt)
            attempt += 1

    @property
    def _asks_usage(self) -> bool:
        return bool(getattr(self._streamed, "stream_usage", False))

    def _stop_asking_usage(self) -> None:
        """Some OpenAI-compatible hosts refuse a request for the usage of a stream."""
        self._streamed = self._streamed.model_copy(update={"stream_usage": False})

    async def _wait(self, call: _Call, failure: FailedAttempt, attempt: int) -> None:
        """Wait before the next attempt, or give up where the wait would outlast the deadline."""
        wait_s = failure.wait_s
        if wait_s is None:
            longest = min(_FIRST_WAIT_S * _WAIT_GROWTH ** (attempt - 1), _LONGEST_WAIT_S)
            wait_s = longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter needs no secrecy
        left = call.deadline - time.time()
        if wait_s >= left:
            raise ModelUnavailable(
                f"{failure.error.what} The next attempt would have to wait {wait_s:.1f} s, and "
                f"{max(0.0, left):.1f} s are left of deadline_s ({self._deadline_s:g} s).",
                "Try again later, or raise deadline_s.",
            ) from failure.cause
        await asyncio.sleep(wait_s)

    async def _attempt(self, call: _Call, messages: list[Message]) -> str:
        call.meter["model_calls"] += 1
        received = Received(self._client, ended=call.request.stream)
        try:
            async with aclosing(self._pieces(call.request, messages)) as pieces:
                async for piece in pieces:
                    first = not received.text
                    received.add(piece)
                    call.show(piece.text, first)
        finally:
            call.meter["tokens_in"] += received.tokens_in
            call.meter["tokens_out"] += received.tokens_out
        return received.checked()

    async def _pieces(
        self, request: ChatRequest, messages: list[Message]
    ) -> AsyncGenerator["AIMessage", None]:
        """What the provider sends: many pieces of a streamed reply, else the whole."""
        config: RunnableConfig = {"run_name": request.purpose}
        try:
            if request.stream:
                async for chunk in self._streamed.astream(messages, config):
                    yield chunk
            else:
                config["tags"] = [_NO_STREAM]
                yield await self._whole.ainvoke(messages, config)
        except Exception as error:
            # Providers' exceptions have no base class in common; every one is passed on, typed.
            raise failed_call(error, self._client) from error
