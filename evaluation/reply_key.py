"""Which kept reply of a model answers a request: one to the same prompts, whatever their fence."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from lexloop.models.request import ChatRequest

_FENCE = re.compile(r"\bdata-[0-9a-f]{8}\b")


def reply_key(model: str, asked_with: Mapping[str, Any], request: ChatRequest) -> str:
    """Changes with the model, what it is asked with, the prompts and the form asked for.

    Args:
        model: The model and its host.
        asked_with: Parameters by name; a temperature that is not among them is 0.
        request: What is asked.

    The tag that fences data in a prompt is drawn anew whenever the prompt is rendered, so it is
    written the same for all.
    """
    fence = _FENCE.search(request.system)
    prompts = [request.system, request.user]
    if fence is not None:
        prompts = [text.replace(fence[0], "data") for text in prompts]
    others = {name: value for name, value in asked_with.items() if name != "temperature"}
    temperature = float(asked_with.get("temperature", 0.0))
    said = json.dumps([model, temperature, *prompts, *_form(request), *sorted(others.items())])
    return hashlib.sha256(said.encode()).hexdigest()


def _form(request: ChatRequest) -> list[str]:
    if request.schema is None:
        return []
    schema = request.schema.model_json_schema()
    return [request.schema.__name__, json.dumps(schema, sort_keys=True)]
