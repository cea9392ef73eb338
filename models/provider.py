"""Hosts of models: LangChain clients without retries of their own, and their failures.

Providers' exceptions share no base class, so they are distinguished by their HTTP status. An
exception without one means a reply that could not be read (the builtin value errors) or a failed
connection (everything else).
"""

import email.utils
import math
import os
import random
import re
import time
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from pydantic import SecretStr

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
    ModelUnknown,
    ModelWindowError,
    SettingsError,
)
from lexloop.core.settings import Connection, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from tenacity import RetryCallState

_FORM = "Write it as `provider:name`, for example `openai:gpt-4o-mini`."
LOCAL = "local"
"""The provider of models in a folder of this machine: `local:FOLDER`."""
HERE = "this machine"
"""The host of such a model, to which no text goes."""
_MARKING = ("anthropic", "ollama", LOCAL)
_SECRET_NAMES = ("_API_KEY", "_ACCESS_KEY", "_SECRET_KEY", "_TOKEN")
_SHORTEST_SECRET = 8
_SHOWN_CHARS = 300
MOST_CHARS = 1_000_000
"""The most characters of a chat model's reply, whichever provider sends it."""
_WHOLE_BYTES = 1_000_000
_STREAM_BYTES = 2_000_000
"""A stream wraps every word into an envelope of some 200 bytes."""
most_bytes: ContextVar[int | None] = ContextVar("most_bytes", default=None)
"""The maximum size of replies to this task, or None for that of chat models."""


@dataclass(frozen=True)
class Client:
    """A LangChain chat model, without retries or parameters of its own, and facts about it.

    ``name`` is the whole model string and ``provider`` its part before the colon. ``host`` is
    where text goes, for display. ``secrets`` must never be shown.
    """

    model: "BaseChatModel" = field(repr=False)
    provider: str
    name: str
    host: str
    secrets: tuple[str, ...] = field(repr=False)
    brought: bool = False  # by a caller, with parameters of its own

    @property
    def marks_ends(self) -> bool:
        """True if the provider marks the end of a streamed reply, so that a cut-off one is noticed.

        These providers were tested. Others are asked for their replies in one piece.
        """
        from langchain_openai.chat_models.base import BaseChatOpenAI

        return isinstance(self.model, BaseChatOpenAI) or self.provider in _MARKING

    @property
    def always_streams(self) -> bool:
        """True where LangChain's client streams even a reply asked for in one piece."""
        return self.provider == "ollama"

    @property
    def key_variable(self) -> str:
        """The environment variable in which the user keeps this model's key."""
        if self.provider == "openai":
            return "LEXLOOP_API_KEY (or OPENAI_API_KEY for OpenAI's own service)"
        return f"the key of {self.provider} (usually {self.provider.upper()}_API_KEY)"


def client(settings: Settings, connection: Connection) -> Client:
    """Return the client for the model that the settings name.

    The connection's address and key are used with the provider ``openai`` only: a caller who names
    another provider must not send it the key, nor text past the configured address.

    Raises:
        SettingsError: No model is set, or its string, provider or address cannot be used.
        ModelAuthError: There is no key for it.
        DataError: The folder of a local model cannot be used.
    """
    provider, name = _model_parts(settings.model.name)
    secrets = secrets_of(connection)
    options: dict[str, Any] = {"max_retries": 0, "timeout": settings.deadline_s}
    if provider == "openai":
        options |= _openai_options(connection)
    elif connection.base_url:
        raise SettingsError(
            f"The model is {settings.model.name!r}, but LEXLOOP_BASE_URL is set to an "
            "OpenAI-compatible endpoint.",
            "Use `openai:NAME` with it, or unset LEXLOOP_BASE_URL.",
        )
    model = _built(provider, name, options, secrets)
    if "temperature" in type(model).model_fields:
        model = model.model_copy(update={"temperature": None})  # LangChain has defaults of its own
    if stamp := getattr(model, "stamp", ""):  # of a local model's weights
        name = f"{PurePath(name).name}@{stamp}"  # readers of answers need not see the path
    return Client(model, provider, f"{provider}:{name}", host_of(provider, model), secrets)


def api_key(connection: Connection) -> SecretStr | None:
    """Return the key for an OpenAI-compatible host, or None if there is none."""
    if connection.api_key is not None:
        return connection.api_key
    if connection.base_url:
        # Servers on one's own machine ask for no key, and OPENAI_API_KEY belongs to OpenAI.
        return SecretStr("none")
    own = os.environ.get("OPENAI_API_KEY")
    return SecretStr(own) if own else None


def redacted(text: str, secrets: tuple[str, ...]) -> str:
    """Return ``text`` on one line, at most 300 characters of it, with every secret blotted out."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return " ".join(text.split())[:_SHOWN_CHARS]


def showable(error: Exception, secrets: tuple[str, ...]) -> Exception | None:
    """Return the error for chaining, or None where its traceback would show a secret."""
    shown = "".join(traceback.format_exception(error))
    return None if any(secret in shown for secret in secrets) else error


def _model_parts(model: str | None) -> tuple[str, str]:
    provider, colon, name = (model or "").strip().partition(":")
    provider = provider.replace("-", "_").lower()
    spaced = provider if provider == LOCAL else f"{provider}{name}"  # folders may have spaces
    if not (provider and colon and name) or any(part.isspace() for part in spaced):
        raise SettingsError(f"model is {model!r}, which names no chat model.", _FORM)
    return provider, name


def _openai_options(connection: Connection) -> dict[str, Any]:
    key = api_key(connection)
    if key is None:
        raise ModelAuthError(
            "There is no key for the OpenAI model: LEXLOOP_API_KEY and OPENAI_API_KEY are unset.",
            "Set one of them; for a server of your own, set LEXLOOP_BASE_URL.",
        )
    return {
        "api_key": key,
        "base_url": connection.base_url,
        "stream_usage": False,
        "http_async_client": bounded_client(connection),  # hosts are asked on one loop
    }


def _built(
    provider: str, name: str, options: dict[str, Any], secrets: tuple[str, ...]
) -> "BaseChatModel":
    if provider == LOCAL:
        from lexloop.models.local_model import local_chat

        return local_chat(name)
    from langchain.chat_models import init_chat_model

    try:
        model: BaseChatModel = init_chat_model(name, model_provider=provider, **options)
    except ImportError as error:
        raise SettingsError(
            f"The package for model provider {provider!r} is not installed.",
            f"{redacted(str(error), secrets)} Then run again.",
        ) from error
    except Exception as error:
        # Providers' exceptions share no base class; each is raised again with a type of ours.
        raise _unusable(provider, name, error, secrets) from error
    return model


def _unusable(
    provider: str, name: str, error: Exception, secrets: tuple[str, ...]
) -> ModelAuthError | SettingsError:
    if "Unsupported provider" in str(error):
        known = str(error).partition("are: ")[2] or "see LangChain's documentation"
        return SettingsError(f"Model provider {provider!r} is unknown.", f"{_FORM} Known: {known}.")
    message = redacted(str(error), secrets)
    if any(word in message.lower() for word in ("api_key", "api key", "credential", "token")):
        return ModelAuthError(
            f"{provider}:{name} could not be set up for want of a key: {message}",
            f"Set the key's environment variable, usually {provider.upper()}_API_KEY.",
        )
    return SettingsError(f"{provider}:{name} could not be set up: {message}", _FORM)


def host_of(provider: str, model: "BaseChatModel") -> str:
    """Return the host that a model sends text to, for display."""
    from langchain_openai import ChatOpenAI

    if isinstance(model, ChatOpenAI):
        address = str(model.root_async_client.base_url)
        return urlsplit(address).netloc.rpartition("@")[2]
    return HERE if provider == LOCAL else f"the {provider} service"


def secrets_of(connection: Connection) -> tuple[str, ...]:
    """Return the texts never to be shown: the connection's key and those of the environment."""
    named = [value for name, value in os.environ.items() if name.endswith(_SECRET_NAMES)]
    if connection.api_key is not None:
        named.append(connection.api_key.get_secret_value())
    if connection.credentials is not None:
        whole = connection.credentials.get_secret_value()
        # a host may echo the header, or either half of what it says
        named += [b64encode(whole.encode()).decode(), whole.partition(":")[2], whole]
    return tuple(value for value in named if len(value) >= _SHORTEST_SECRET)


class Oversized(Exception):
    """A reply longer than its limit."""

    def __init__(self, most: int, unit: str = "bytes") -> None:
        super().__init__(f"it is longer than {most:,} {unit}")


def bounded_client(connection: Connection) -> Any:
    """Return an HTTP client with a size limit on replies, for the loop of model hosts.

    It signs in with the connection's name and password itself, since any part of a client library
    may be traced.

    A client library needs a hundred times a reply's memory, and a second for every few thousand
    pieces, so the bytes are counted first. Redirects are not followed: they could carry text to a
    host that nobody configured.
    """
    import openai

    signing: dict[str, Any] = {}
    if connection.credentials is not None:
        name, _, password = connection.credentials.get_secret_value().partition(":")
        signing["auth"] = (name, password)
    return openai.DefaultAsyncHttpxClient(
        follow_redirects=False,
        event_hooks={"response": [_bounding(secrets_of(connection))]},
        **signing,
    )


def oversized(error: BaseException) -> Oversized | None:
    """Return the ``Oversized`` that caused a client's exception, or None for any other cause."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, Oversized):
        cause = cause.__cause__ or cause.__context__
    return cause


def _bounding(secrets: tuple[str, ...]) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """Return a hook that bounds a response, and blots out the secrets that a refusal repeats.

    A client library raises the words of a refusal, and tracers keep them before we see them.
    """

    async def bound(response: Any) -> None:
        streamed = "text/event-stream" in response.headers.get("content-type", "")
        most = most_bytes.get() or (_STREAM_BYTES if streamed else _WHOLE_BYTES)
        counted = partial(_counted, response.aiter_bytes, most)
        # every way to read a response goes through this method; a transport of our own in its place
        # would switch the environment's proxies off
        refused = response.status_code >= _REFUSED
        response.aiter_bytes = partial(_blotted, counted, secrets) if refused else counted

    return bound


Parts = Callable[[int | None], AsyncIterator[bytes]]


async def _counted(parts: Parts, most: int, chunk_size: int | None = None) -> AsyncIterator[bytes]:
    """Count the decompressed bytes, and stop if there are too many."""
    read = 0
    async for part in parts(chunk_size):
        read += len(part)
        if read > most:
            raise Oversized(most)
        yield part


async def _blotted(
    parts: Parts, secrets: tuple[str, ...], chunk_size: int | None = None
) -> AsyncIterator[bytes]:
    whole = b"".join([part async for part in parts(chunk_size)])
    for secret in secrets:
        whole = whole.replace(secret.encode(), b"[key]")
    yield whole


_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError)
_REFUSED = 400
_PASSING = frozenset({408, 409, 425, 429})
_TOO_LONG = frozenset({400, 413, 422})
_WINDOW = re.compile(
    r"\b(?:context|window|too many tokens)\b|\bmaximum\b.{0,40}\btokens\b", re.IGNORECASE
)
"""Words that various hosts use to say that a prompt does not fit."""
_FIRST_WAIT_S, _WAIT_GROWTH, _LONGEST_WAIT_S = 0.25, 4.0, 16.0


@dataclass(eq=False)
class FailedAttempt(Exception):
    """An attempt that gave no usable reply.

    Args:
        error: Raised when no attempt is left.
        retry: Whether another attempt can help.
        wait_s: The seconds that the host asks to wait before it, or None if it does not say.
        cause: The third-party exception, unless it shows a secret.
    """

    error: ModelError
    _: KW_ONLY
    retry: bool = False
    wait_s: float | None = None
    cause: Exception | None = None


def retries(
    limit: int, deadline: float, give_up: Callable[[FailedAttempt, float], NoReturn]
) -> dict[str, Any]:
    """Return tenacity's options to repeat what raises ``FailedAttempt`` while that can help.

    Args:
        limit: The most attempts, the first included.
        deadline: When a further attempt would be too late, on ``time.monotonic``.
        give_up: Raises what the last failure comes to; called with the seconds after which another
            attempt would be too late, or with 0.
    """
    from tenacity import retry_if_exception_type, wait_exponential

    growing = wait_exponential(_FIRST_WAIT_S, _LONGEST_WAIT_S, _WAIT_GROWTH)

    def wait_s(state: "RetryCallState") -> float:
        asked = _failure(state).wait_s
        jitter = random.uniform(0.5, 1.0)  # noqa: S311 - it needs no secrecy
        return growing(state) * jitter if asked is None else asked

    def hopeless(state: "RetryCallState") -> bool:
        return not _failure(state).retry or state.attempt_number >= limit

    def stop(state: "RetryCallState") -> bool:
        return hopeless(state) or time.monotonic() + state.upcoming_sleep >= deadline

    def end(state: "RetryCallState") -> NoReturn:
        give_up(_failure(state), 0.0 if hopeless(state) else state.upcoming_sleep)

    return {
        "retry": retry_if_exception_type(FailedAttempt),
        "wait": wait_s,
        "stop": stop,
        "retry_error_callback": end,
    }


def _failure(state: "RetryCallState") -> FailedAttempt:
    failure = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(failure, FailedAttempt)  # nothing else is tried again
    return failure


def failed_call(error: Exception, client: Client) -> FailedAttempt:
    """Return the failed attempt that a provider's exception means."""
    cause = showable(error, client.secrets)
    status = status_of(error)
    message = redacted(message_of(error), client.secrets)
    where = f"{client.name} at {client.host}"
    failed: ModelError
    if status in (401, 403):
        what = f"{client.host} refused the key for {client.name} ({status}: {message})."
        failed = ModelAuthError(what, f"Check {client.key_variable}.")
    elif status == 404:
        failed = ModelUnknown(
            f"{client.host} knows no model or address for {client.name} (404: {message}).",
            "Check the model's name and LEXLOOP_BASE_URL, which usually ends in /v1.",
        )
    elif status in _TOO_LONG and _WINDOW.search(message_of(error)):
        what = f"{where} cannot read so much at once ({status}: {message})."
        hint = "Use a model with a larger context window, or ask for less: a lower plan.k."
        return FailedAttempt(ModelWindowError(what, hint), cause=cause)
    elif status is None and isinstance(error, _UNREADABLE):
        return failed_reply(f"The reply of {where} could not be read: {message}.", cause=cause)
    elif _is_passing(status):
        what = f"{where} is unavailable ({status or type(error).__name__}: {message})."
        hint = "Check that the host is reachable, or try again later."
        failed = ModelUnavailable(what, hint)
    else:
        failed = ModelError(
            f"{where} refused the request ({status}: {message}).",
            "Check the model's name and settings, and that the passages fit its context.",
        )
    return FailedAttempt(failed, retry=can_pass(error), wait_s=retry_after_s(error), cause=cause)


def can_pass(error: Exception) -> bool:
    """Return whether another attempt may reach a working host; a used-up quota stays so."""
    used_up = "insufficient_quota" in f"{getattr(error, 'code', '')}"
    return _is_passing(status_of(error)) and not used_up


def _is_passing(status: int | None) -> bool:
    return status is None or status in _PASSING or status >= 500


def failed_reply(
    what: str,
    hint: str = "Try again, or use another model.",
    *,
    retry: bool = True,
    cause: Exception | None = None,
) -> FailedAttempt:
    """Return the failed attempt of a reply that arrived but cannot be used."""
    return FailedAttempt(ModelReplyError(what, hint), retry=retry, cause=cause)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of the response behind an error, or None if there is none."""
    response = getattr(error, "response", None)
    for status in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        # A reply with status 200 that could not be read is not a refusal.
        if isinstance(status, int) and status >= 300:
            return status
    return None


def message_of(error: BaseException) -> str:
    """Return the host's own words, or the innermost cause's if there was no response."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        details = body["error"] if isinstance(body.get("error"), dict) else body
        return str(details["message"] if isinstance(details.get("message"), str) else body)
    innermost: BaseException = error
    while status_of(error) is None and (cause := innermost.__cause__ or innermost.__context__):
        innermost = cause
    return str(innermost) or type(innermost).__name__


def retry_after_s(error: Exception) -> float | None:
    """Return the seconds until the host wants to be asked again (RFC 9110, section 10.2.3).

    A date is compared with the host's own clock if it sends one, since ours may be wrong by days.
    """
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        date, host_date = (
            email.utils.parsedate_tz(text) for text in (value, headers.get("date", ""))
        )
        now = email.utils.mktime_tz(host_date) if host_date else time.time()
        seconds = email.utils.mktime_tz(date) - now if date else math.nan
    return max(0.0, seconds) if math.isfinite(seconds) else None


_FIELDS = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens", "num_predict", "max_output_tokens"),
    "num_ctx": ("num_ctx",),
    "reasoning_effort": ("reasoning_effort", "effort", "reasoning"),
}
"""The fields of LangChain's classes for each setting; the first that a class has is meant."""
_WORDS = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict"),
    "reasoning_effort": ("reasoning_effort", "reasoning", "effort", "thinking", "think"),
    "stream_options": ("stream_options", "include_usage"),
    "response_format": ("response_format", "json_schema", "grammar"),
}
_FORM_ASKED = "response_format"
_OPENAI_REASONERS = re.compile(r"(?:^|[/:])(?:o\d|gpt-[5-9])(?!.*chat)")
_REFUSING = (400, 422)
_READ_CHARS = 500  # some hosts echo the whole request behind their reason

Refusals = dict[str, list[str]]
"""For each ``name=value`` the host's words, one for each way to say it that was refused."""

_known: dict[tuple[str, str], Refusals] = {}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a request.

    Args:
        name: The setting, or the hosts' name for it if there is no setting.
        value: Its value.
        ways: The client's fields for it. Each is tried after the one before was refused.
        chosen: Whether the user set it.
    """

    name: str
    value: Any
    ways: tuple[Mapping[str, Any], ...]
    chosen: bool = True

    @property
    def said(self) -> str:
        """The parameter as ``name=value``; a host that refuses one value may take another."""
        return f"{self.name}={self.value}"

    def named_in(self, refusal: str) -> bool:
        """Return whether the words of a refusal name it."""
        words = "|".join(map(re.escape, _WORDS.get(self.name, (self.name,))))
        return re.search(rf"(?<![\w-])(?:{words})(?![\w-])", refusal, re.IGNORECASE) is not None


class Parameters:
    """The parameters of one model that the settings ask for.

    Raises:
        SettingsError: A parameter is set that the provider does not support.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        # what nobody chose goes first where a host names two that exclude each other; the form
        # is laid over what others put into the body
        self._all = sorted(
            _parameters(client, settings), key=lambda p: (p.name == _FORM_ASKED, p.chosen)
        )

    @property
    def refusals(self) -> Refusals:
        """The parameters that the host is known to refuse of this model."""
        return _known.get((self._client.host, self._client.name), {})

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The user's settings that are not sent, as ``name=value``, and the host's words."""
        refusals = self.refusals
        return [
            (parameter.said, refusals[parameter.said][-1])
            for parameter in self._all
            if parameter.chosen and len(refusals.get(parameter.said, ())) >= len(parameter.ways)
        ]

    def remember(self, refusals: Refusals) -> None:
        """Remember what a call had to leave out to succeed."""
        _known[self._client.host, self._client.name] = {**self.refusals, **refusals}

    def applied(
        self, refusals: Refusals, schema: Mapping[str, Any] | None = None
    ) -> "BaseChatModel":
        """Return the model with every parameter that was not refused.

        ``schema`` is the JSON schema of the reply, for hosts that support it.
        """
        fields: dict[str, Any] = {}
        for parameter in self._all:
            untried = parameter.ways[len(refusals.get(parameter.said, ())) :]
            fields.update(untried[0] if untried else {})
            if schema is not None and untried and parameter.name == _FORM_ASKED:
                asked = {"name": schema["title"], "schema": schema}
                # as a part of the body: LangChain would read the reply itself, and raise on one
                # that is cut off
                form = {_FORM_ASKED: {"type": "json_schema", "json_schema": asked}}
                fields["extra_body"] = {**fields.get("extra_body", {}), **form}
        return self._client.model.model_copy(update=fields)

    def refused(self, error: BaseException | None, refusals: Refusals) -> Refusals | None:
        """Return ``refusals`` with the parameter that ``error`` refuses; None if none."""
        if error is None:
            return None
        refusal = _refusal(error)
        for parameter in self._all:
            before = refusals.get(parameter.said, [])
            if len(before) < len(parameter.ways) and parameter.named_in(refusal):
                words = redacted(message_of(error), self._client.secrets)
                return {**refusals, parameter.said: [*before, words]}
        return None


def _parameters(client: Client, settings: Settings) -> list[Parameter]:
    wanted = settings.model.asked_with
    parameters = [_chosen(client, name, value) for name, value in wanted.items()]
    own = client.brought or {"temperature", "top_p"} & wanted.keys()
    if not own and _takes_temperature(client):
        parameters.append(Parameter("temperature", 0.0, ({"temperature": 0.0},), chosen=False))
    if client.provider == "openai":
        parameters.append(
            Parameter("stream_options", True, ({"stream_usage": True},), chosen=False)
        )
        parameters.append(Parameter(_FORM_ASKED, True, ({},), chosen=False))
    return parameters


def _chosen(client: Client, name: str, value: Any) -> Parameter:
    known = type(client.model).model_fields
    field = next((field for field in _FIELDS[name] if field in known), None)
    if field is None:
        raise SettingsError(
            f"{name} is {value!r}, but models of {client.provider} have no such parameter.",
            f"Unset {name}, or use a model of another provider.",
        )
    ways: tuple[dict[str, Any], ...] = ({field: value},)
    if name == "max_tokens" and client.provider == "openai":
        # the client says max_completion_tokens, which older hosts do not know
        ways = (*ways, {"extra_body": {name: value}})
    return Parameter(name, value, ways)


def _takes_temperature(client: Client) -> bool:
    """Return whether the model is not known to refuse a temperature."""
    if "temperature" not in type(client.model).model_fields:
        return False
    if client.provider == "openai" and _OPENAI_REASONERS.search(client.name.partition(":")[2]):
        return False
    profile = getattr(client.model, "profile", None) or {}
    return profile.get("temperature") is not False


def _refusal(error: BaseException) -> str:
    """Return what a refusal of the request names, or its message; "" for any other error.

    A plain ``ValueError`` is what a client raises that knows the model refuses a parameter.
    """
    if status_of(error) not in _REFUSING and type(error) is not ValueError:
        return ""
    named = getattr(error, "param", None)
    return named if isinstance(named, str) and named else message_of(error)[:_READ_CHARS]
