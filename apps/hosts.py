"""The hosts to which text of questions and documents goes."""

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lexloop.core.errors import ModelError

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings

_TRACING = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_TRACING",
)
_OPENAI = "https://api.openai.com"


def text_hosts(settings: "Settings", connection: "Connection", *corpora: str) -> list[str]:
    """Return the hosts that get text: of models and of engines; none where all stays here.

    Raises:
        LexloopError: The model cannot be used and no fallback is allowed, or an address is none.
    """
    hosts: list[str] = []
    if settings.model.name is not None:
        from lexloop.models.chat import connect
        from lexloop.models.provider import HERE

        try:
            host = connect(settings, connection).host
            hosts += [host] if host != HERE else []
        except ModelError:
            if not settings.model.fallback:
                raise
    if settings.index.embedder.startswith("openai:"):
        named = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
        address = connection.base_url or named or _OPENAI
        hosts.append(urlsplit(address).netloc.rpartition("@")[2])
    for corpus in (settings.corpus, *corpora):
        hosts += engine_hosts(corpus)
    return list(dict.fromkeys(hosts))


def engine_hosts(corpus: str) -> list[str]:
    """Return the hosts of the engine that holds an index; none where it lies on this machine.

    Raises:
        SettingsError: It is an address that cannot be used.
    """
    from lexloop.store.engine.address import Address, is_address

    if not is_address(corpus):
        return []
    return [f"{host}:{port}" for host, port in Address.parse(corpus).hosts]


def tracing() -> bool:
    """Return whether the environment asks for traces, which LangSmith gets."""
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in _TRACING)
