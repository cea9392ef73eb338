"""The chat model: one deadline, one count of attempts, and replies that are checked.

The deadline holds whatever the host does: a reply that never begins, one that drips, or a
``Retry-After`` beyond it.
"""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from lexloop.core.deadline import out_of_time
from lexloop.core.errors import ModelReplyError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models import structured
from lexloop.models.attempts import Attempts, Call, OnToken, Token
from lexloop.models.background import Late, wait, waited
from lexloop.models.parameters import Parameters
from lexloop.models.provider import Client, client
from lexloop.models.request import ChatReply, ChatRequest

__all__ = ["ChatModel", "OnToken", "Token", "asking", "chat_for", "connect"]


Terms = Callable[["ChatModel", ChatRequest], Coroutine[Any, Any, ChatReply]]
"""Answers a request by a model: who asks keeps the time and the count, and hears the tokens."""
_terms: ContextVar[Terms] = ContextVar("terms")


@contextmanager
def asking(terms: Terms) -> Iterator[None]:
    """Have every chat model that is asked inside asked on these terms."""
    token = _terms.set(terms)
    try:
        yield
    finally:
        _terms.reset(token)


def chat_for(step: str, choice: str, chat: "ChatModel | None") -> "ChatModel | None":
    """The model that a step runs on; None where it runs without. ``auto`` takes one if there is.

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
    """The chat model that the settings name; nothing is sent yet.

    Raises:
        SettingsError: The model string, its provider or the address cannot be used.
        ModelAuthError: There is no key to call it with.
        DataError: The folder of a local model cannot be used.
    """
    return ChatModel(client(settings, connection), settings)


class ChatModel:
    """A chat model that answers ``ChatRequest``s, from threads and from event loops alike.

    Args:
        client: The LangChain client.
        settings: For the parameters, ``model_attempts`` and, in messages, ``deadline_s``.

    Raises:
        SettingsError: A parameter is set that the model's provider has no place for.

    ``name`` is the model string and ``host`` the one host to which text is sent.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self.name = client.name
        self.host = client.host
        self._client = client
        self._parameters = Parameters(client, settings)
        self._attempts = Attempts(
            client, self._parameters, settings.model.attempts, settings.deadline_s
        )
        self._deadline_s = settings.deadline_s

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r} at {self.host!r})"

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """Settings that the host refused, as ``name=value``, each with the host's words."""
        return self._parameters.left_out

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
        return wait(*self._call(request, deadline, meter, on_token))

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Answer a request on the terms of whoever ``asking`` names; they are needed."""
        return await _terms.get()(self, request)

    async def acomplete(
        self,
        request: ChatRequest,
        *,
        deadline: float,
        meter: Usage,
        on_token: OnToken | None = None,
    ) -> ChatReply:
        """Ask without blocking the event loop; as ``complete`` in everything else."""
        return await waited(*self._call(request, deadline, meter, on_token))

    def _call(
        self, request: ChatRequest, deadline: float, meter: Usage, on_token: OnToken | None
    ) -> tuple[Callable[[], Coroutine[Any, Any, ChatReply]], float, Late]:
        """What to run, until when, and what to raise then."""
        call = Call(request, deadline, meter, on_token if request.stream else None)
        when = f"while {request.purpose} waited for {self.name} at {self.host}"
        return lambda: self._reply(call), deadline, lambda: out_of_time(self._deadline_s, when)

    async def _reply(self, call: Call) -> ChatReply:
        request = call.request
        messages = [("system", request.system), ("user", request.user)]
        reply = await self._attempts.reply(call, messages)
        if request.schema is None:
            return reply
        try:
            return replace(reply, parsed=structured.read(reply.text, request.schema))
        except structured.Unreadable as problem:
            repair = structured.repair_turn(problem)
        turns = [*messages, ("assistant", reply.text), ("user", repair)]
        repaired = await self._attempts.reply(call, turns)
        try:
            parsed = structured.read(repaired.text, request.schema)
        except structured.Unreadable as problem:
            raise ModelReplyError(
                f"{self.name} did not reply to {request.purpose} in the form asked for, even "
                f"after one repair: {problem}.",
                "Use a model that follows instructions more closely.",
            ) from problem
        thoughts = f"{reply.reasoning}\n\n{repaired.reasoning}".strip()
        return replace(repaired, parsed=parsed, reasoning=thoughts)
