"""The attempts at one model call: how often, how long apart, and what of them is shown."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lexloop.core.errors import ModelUnavailable
from lexloop.core.types import Usage
from lexloop.models.audience import in_private
from lexloop.models.bounded import MOST_CHARS, Oversized, oversized
from lexloop.models.failure import FailedAttempt, failed_call, failed_reply
from lexloop.models.parameters import Parameters, Refusals
from lexloop.models.provider import Client
from lexloop.models.received import Received
from lexloop.models.request import ChatReply, ChatRequest

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

_FIRST_WAIT_S = 0.25
_WAIT_GROWTH = 4.0
_LONGEST_WAIT_S = 16.0
_NO_STREAM = "nostream"  # LangGraph's own tag for calls that its message stream leaves out

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
class Call:
    """One request on its way through its attempts.

    Args:
        request: What is asked.
        deadline: When to give up, on ``time.monotonic``.
        meter: What is counted up.
        on_token: Who is shown the pieces of the reply.
    """

    request: ChatRequest
    deadline: float
    meter: Usage
    on_token: OnToken | None
    shown: bool = field(default=False)

    def show(self, text: str, first: bool) -> None:
        """Show a piece; ``first``: it is the first one of its attempt."""
        if self.on_token is not None and text:
            self.on_token(Token(text, restart=first and self.shown))
            self.shown = True


class Attempts:
    """Tries a call until a reply is whole, no attempt is left, or waiting is pointless.

    Args:
        client: The LangChain client, whose own retries are off.
        parameters: What it is asked with.
        limit: The most attempts, the first included.
        deadline_s: The deadline setting, for messages.
    """

    def __init__(
        self, client: Client, parameters: Parameters, limit: int, deadline_s: float
    ) -> None:
        self._client = client
        self._parameters = parameters
        self._limit = limit
        self._deadline_s = deadline_s
        self._opened = False  # whether this model's template opens its reasoning

    async def reply(self, call: Call, messages: list[Message]) -> ChatReply:
        """The reply of the first attempt that succeeds, not yet parsed.

        An attempt that the host refuses because of a parameter is repeated at once without it.

        Raises:
            ModelError: What the last attempt failed with.
        """
        attempt, refusals = 1, self._parameters.refusals
        while True:
            _heed_cancellation()
            try:
                reply = await self._attempt(call, messages, refusals)
            except FailedAttempt as caught:
                failure = caught
            else:
                self._parameters.remember(refusals)
                return reply
            if refused := self._parameters.refused(failure.__cause__, refusals):
                refusals = refused
                continue
            if not failure.retry or attempt == self._limit:
                raise failure.error from failure.cause
            await self._wait(call, failure, attempt)
            attempt += 1

    async def _wait(self, call: Call, failure: FailedAttempt, attempt: int) -> None:
        """Wait before the next attempt, or give up where the wait would outlast the deadline."""
        wait_s = failure.wait_s
        if wait_s is None:
            wait_s = backoff_s(attempt)
        left = call.deadline - time.monotonic()
        if wait_s >= left:
            raise ModelUnavailable(
                f"{failure.error.what} The next attempt would have to wait {wait_s:.1f} s, and "
                f"{max(0.0, left):.1f} s are left of deadline_s ({self._deadline_s:g} s).",
                "Try again later, or raise deadline_s.",
            ) from failure.cause
        await asyncio.sleep(wait_s)

    async def _attempt(self, call: Call, messages: list[Message], refusals: Refusals) -> ChatReply:
        call.meter["model_calls"] += 1
        streamed = call.request.stream and self._client.marks_ends
        received = Received(
            self._client, ended=streamed or self._client.always_streams, opened=self._opened
        )
        model = self._parameters.applied(refusals)
        try:
            async with aclosing(self._pieces(model, call, messages, streamed)) as pieces:
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
        reply = ChatReply(received.checked(), reasoning=received.thinking.reasoning)
        self._opened = received.thinking.unopened
        return reply

    async def _pieces(
        self, model: "BaseChatModel", call: Call, messages: list[Message], streamed: bool
    ) -> AsyncGenerator["AIMessage", None]:
        """What the provider sends: many pieces of a streamed reply, else the whole."""
        from langchain_core.runnables import ensure_config

        config: RunnableConfig = {
            "run_name": call.request.purpose,
            "tags": [_NO_STREAM],
            "callbacks": in_private(ensure_config().get("callbacks")),
        }
        try:
            if streamed:
                async for chunk in model.astream(messages, config):
                    yield chunk
            else:
                whole = model.model_copy(update={"disable_streaming": True})
                yield await whole.ainvoke(messages, config)
        except Exception as error:
            if reason := oversized(error):
                raise self._too_long(reason) from error
            # Providers' exceptions have no base class in common; every one is passed on, typed.
            raise failed_call(error, self._client) from error

    def _too_long(self, reason: Oversized) -> FailedAttempt:
        return failed_reply(
            f"The reply of {self._client.name} was not read to its end: {reason}.",
            "Use another model, or ask for less.",
            retry=False,
            cause=reason,
        )


def backoff_s(attempt: int) -> float:
    """Seconds to wait after the failed ``attempt`` (from 1) where the host asks for none."""
    longest = min(_FIRST_WAIT_S * _WAIT_GROWTH ** (attempt - 1), _LONGEST_WAIT_S)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter needs no secrecy


def _heed_cancellation() -> None:
    """Stop here if this task was cancelled, by its caller or by the deadline.

    Client libraries that read a stream through ``asyncio.wait_for`` lose a cancellation that
    coincides with a piece (Python before 3.12); the task still knows of it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
