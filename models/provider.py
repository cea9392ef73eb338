"""LangChain clients for settings and connection, which neither retry nor wait by themselves."""

import os
import traceback
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from lexloop.core.errors import ModelAuthError, SettingsError
from lexloop.core.settings import Connection, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

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
"""The bound of the replies that this task asks for; None for that of a chat model's."""


@dataclass(frozen=True)
class Client:
    """A LangChain chat model, without retries or parameters of its own, and facts about it.

    ``name`` is the whole model string, of which ``provider`` is the part before the colon; ``host``
    is where text goes, for display; ``secrets`` must never be shown.
    """

    model: "BaseChatModel" = field(repr=False)
    provider: str
    name: str
    host: str
    secrets: tuple[str, ...] = field(repr=False)

    @property
    def marks_ends(self) -> bool:
        """True where a streamed reply is known to end in a mark that one cut off lacks.

        Each of these was tried. Others are asked for their replies in one piece.
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

    The connection's address and key are used with the provider ``openai`` alone: a key must not
    go to another provider because a caller named one, nor text past the address configured.

    Raises:
        SettingsError: No model is set, or its string, provider or address cannot be used.
        ModelAuthError: There is no key to call it with.
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
        name = f"{name}@{stamp}"
    return Client(model, provider, f"{provider}:{name}", _host(provider, model), secrets)


def api_key(connection: Connection) -> SecretStr | None:
    """Return the key for an OpenAI-compatible host; None where there is none."""
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
        "http_async_client": bounded_client(),  # one of our own stays on the background loop
    }


def _built(
    provider: str, name: str, options: dict[str, Any], secrets: tuple[str, ...]
) -> "BaseChatModel":
    if provider == LOCAL:
        from lexloop.models.local_chat import local_chat

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
        # The providers' own exceptions have no base class in common; each is passed on, typed.
        raise _unusable(provider, name, error, secrets) from error
    return model


def _unusable(
    provider: str, name: str, error: Exception, secrets: tuple[str, ...]
) -> ModelAuthError | SettingsError:
    if "Unsupported provider" in str(error):
        known = str(error).partition("are: ")[2] or "see LangChain's documentation"
        return SettingsError(f"Model provider {provider!r} is unknown.", f"{_FORM} Known: {known}.")
    said = redacted(str(error), secrets)
    if any(word in said.lower() for word in ("api_key", "api key", "credential", "token")):
        return ModelAuthError(
            f"{provider}:{name} could not be set up for want of a key: {said}",
            f"Set the key's environment variable, usually {provider.upper()}_API_KEY.",
        )
    return SettingsError(f"{provider}:{name} could not be set up: {said}", _FORM)


def _host(provider: str, model: "BaseChatModel") -> str:
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
    return tuple(value for value in named if len(value) >= _SHORTEST_SECRET)


class Oversized(Exception):
    """A reply longer than its limit."""

    def __init__(self, most: int, unit: str = "bytes") -> None:
        super().__init__(f"it is longer than {most:,} {unit}")


def bounded_client() -> Any:
    """Return an HTTP client for the background loop that reads no reply beyond a limit.

    What a client library makes of a reply takes a hundred times the reply's room and a second for
    every few thousand pieces, so the bytes are counted before it sees them. It follows no redirect:
    that must not carry text to a host that nobody configured.
    """
    import openai

    return openai.DefaultAsyncHttpxClient(
        follow_redirects=False, event_hooks={"response": [_bound]}
    )


def oversized(error: BaseException) -> Oversized | None:
    """Return the ``Oversized`` that caused a client's exception; None where another reason did."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, Oversized):
        found = found.__cause__ or found.__context__
    return found


async def _bound(response: Any) -> None:
    """Count the bytes read of a response, decompressed, and stop where they are too many."""
    streamed = "text/event-stream" in response.headers.get("content-type", "")
    most = most_bytes.get() or (_STREAM_BYTES if streamed else _WHOLE_BYTES)
    parts = response.aiter_bytes

    async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        read = 0
        async for part in parts(chunk_size):
            read += len(part)
            if read > most:
                raise Oversized(most)
            yield part

    # every way to read a response goes through this method; a transport of our own in its place
    # would switch the environment's proxies off
    response.aiter_bytes = counted
