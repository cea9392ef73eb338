"""What has arrived of one reply, and whether it is a whole one."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lexloop.models.failure import failed_reply
from lexloop.models.provider import Client
from lexloop.models.reasoning import Thinking

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_REASON_KEYS = ("finish_reason", "stop_reason", "done_reason", "status")
_TOO_LONG = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_WITHHELD = frozenset({"content_filter", "safety", "recitation", "prohibited_content", "refusal"})


class Received:
    """The pieces of one reply, put together.

    Args:
        client: Who sends them.
        ended: Whether the reply must carry an end marker, as a streamed one does.
        opened: Whether the reply is taken to begin inside the model's reasoning.

    ``chars`` counts all that has come: text, reasoning and the arguments of function calls.
    """

    def __init__(self, client: Client, ended: bool, opened: bool = False) -> None:
        self.tokens_in = 0
        self.tokens_out = 0
        self.chars = 0
        self.thinking = Thinking(opened)
        # a list: a string that grows piece by piece is copied with every one
        self._arguments: list[str] = []
        self._reason = ""
        self._client = client
        self._ended = ended

    def add(self, piece: "AIMessage") -> tuple[str, bool]:
        """Take in one piece, or the whole reply; returns as ``Thinking.add`` does."""
        arguments = _arguments(piece)
        self._arguments.append(arguments)
        if usage := piece.usage_metadata:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]
        self._reason = _end_of(piece.response_metadata) or self._reason
        self.chars += len(piece.text) + len(arguments) + self.thinking.apart(piece)
        return self.thinking.add(piece.text)

    def checked(self) -> str:
        """The reply's text, or the arguments of its function call where it has no text.

        Raises:
            FailedAttempt: The reply was cut off, withheld, or empty.
        """
        name = self._client.name
        if self._reason in _TOO_LONG:
            raise failed_reply(
                f"{name} reached its limit of reply tokens (finish_reason {self._reason!r}).",
                "Raise max_tokens where it is set, use a model with a larger limit, or ask for "
                "less.",
                retry=False,
            )
        if self._reason in _WITHHELD:
            raise failed_reply(
                f"{name} withheld its reply (finish_reason {self._reason!r}).",
                "Reword the question, or use another model.",
                retry=False,
            )
        if self._ended and not self._reason:
            raise failed_reply(f"The reply of {name} was cut off before its end marker.")
        text = self.thinking.text or "".join(self._arguments).strip()
        if not text and self.thinking.reasoning:
            raise failed_reply(f"The reply of {name} is its reasoning alone, without an answer.")
        if not text:
            raise failed_reply(f"The reply of {name} is empty.")
        return text


def _end_of(metadata: Mapping[str, Any]) -> str:
    """Why the reply ended, in lower case; empty before its end."""
    if metadata.get("status") == "incomplete":
        return str((metadata.get("incomplete_details") or {}).get("reason", "length")).lower()
    for key in _REASON_KEYS:
        if reason := metadata.get(key):
            return str(reason).lower()
    # servers of Ollama before 0.1.36 end a reply without a reason
    return "done" if metadata.get("done") is True else ""


def _arguments(piece: "AIMessage") -> str:
    """What a function call of this piece passes, as JSON text."""
    from langchain_core.messages import AIMessageChunk

    if isinstance(piece, AIMessageChunk):
        return "".join(chunk["args"] or "" for chunk in piece.tool_call_chunks)
    calls = [json.dumps(call["args"]) for call in piece.tool_calls]
    calls += [call["args"] or "" for call in piece.invalid_tool_calls]
    if old := piece.additional_kwargs.get("function_call"):
        calls.append(str(old.get("arguments") or ""))
    return "\n".join(calls)
