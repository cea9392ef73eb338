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


def text_hosts(settings: "Settings", connection: "Connection") -> list[str]:
    """Return the hosts to which the configured models send text; none where all stays here.

    Raises:
        LexloopError: The model cannot be used, and no fallback is allowed.
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
    return list(dict.fromkeys(hosts))


def tracing() -> bool:
    """Return whether the environment asks for traces, which LangSmith gets."""
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in _TRACING)
