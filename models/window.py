"""How many tokens a chat model reads and writes at once, as far as anybody says."""

import time
from collections.abc import Mapping
from typing import Any

from lexloop.core.running import in_time, out_of_time
from lexloop.core.settings import Settings
from lexloop.models.provider import LOCAL, Client

_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""What servers of OpenAI's protocol call it in their list of models; OpenAI itself says nothing."""
_INSIDE = "meta"
"""Where llama.cpp's server has what it says of a model."""


async def window_of(client: Client, settings: Settings, deadline: float) -> int | None:
    """Return the maximum tokens of a prompt and its reply together, or None if unknown.

    It comes from the settings or from the host's list of models. A host that refuses the list, or
    sends something else, leaves it unknown.

    Args:
        client: The model's client.
        settings: For ``model.num_ctx``.
        deadline: When to give up, on ``time.monotonic``.

    Raises:
        DeadlineExceeded: The host did not list its models in time.
    """
    from langchain_openai import ChatOpenAI

    model: Any = client.model
    if client.provider == LOCAL:
        return int(model.local.window)
    if not isinstance(model, ChatOpenAI):
        return settings.model.num_ctx
    late = out_of_time(deadline - time.monotonic(), f"while {client.host} listed its models")

    async def listed() -> Any:
        try:
            return await model.root_async_client.models.list()
        except Exception:  # noqa: BLE001 - any failure means that the window is unknown
            return None

    models = await in_time(listed, deadline, late)
    return told_window(models, client.name.partition(":")[2])


def told_window(listed: Any, name: str) -> int | None:
    """Return the window that a list of models gives for one, or None if it gives no valid one."""
    for model in getattr(listed, "data", None) or []:
        extra = getattr(model, "model_extra", None)
        if getattr(model, "id", None) != name or not isinstance(extra, Mapping):
            continue
        inside = extra.get(_INSIDE)
        known = {**(inside if isinstance(inside, Mapping) else {}), **extra}
        windows = [known.get(key) for key in _NAMES]
        return next((n for n in windows if isinstance(n, int) and n > 0), None)
    return None
