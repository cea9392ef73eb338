"""An answer as OpenAI's protocol has it: a completion, whole or in chunks."""

import re
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from lexloop.apps.shapes.text import as_text

_PIECE = re.compile(r".{1,60}(?:\s+|$)|.{1,60}", re.DOTALL)
_TOLD = (
    *("id", "finding", "abstained", "passed", "verdict", "warning", "collections", "as_of"),
    *("citations", "near", "read_as"),
)


def completion(model: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return the completion that a record is, its citations under ``lexloop`` of the message."""
    message = {
        "role": "assistant",
        "content": as_text(record),
        "refusal": None,
        "lexloop": _told(record),
    }
    return {
        **_head("chat.completion", model, record["id"]),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _usage(record),
    }


class Chunks:
    """The chunks of one completion.

    What a model drafts may be thrown away by the checks, and a chunk cannot be taken back: so the
    draft is told as reasoning, and ``content`` is the answer once it was checked.

    Args:
        model: That was asked, by its name.
        id: The answer's.
        usage: Whether the last one counts tokens.
    """

    def __init__(self, model: str, id: str, usage: bool) -> None:
        self._head, self._usage = _head("chat.completion.chunk", model, id), usage

    def begin(self) -> dict[str, Any]:
        """Return the first chunk."""
        return self._delta({"role": "assistant", "content": ""})

    def draft(self, token: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk of a piece that a model writes."""
        text = f"\n\n{token['text']}" if token["restart"] else token["text"]
        return self._delta({"reasoning_content": text})

    def answer(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of the answer, and then what is told of it."""
        for piece in _PIECE.findall(as_text(record)):
            yield self._delta({"content": piece})
        yield self._delta({"lexloop": _told(record)}, "stop")
        if self._usage:
            yield {**self._head, "choices": [], "usage": _usage(record)}

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._head, "choices": [choice], **({"usage": None} if self._usage else {})}


def _head(kind: str, model: str, id: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{id}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": f"lexloop-{version('lexloop')}",
    }


def _told(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _TOLD}


def _usage(record: dict[str, Any]) -> dict[str, int]:
    used = record["usage"]
    taken, given = used["tokens_in"], used["tokens_out"]
    return {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
