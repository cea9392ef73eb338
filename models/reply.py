"""One reply as it arrives: its text, its reasoning, and its end.

Reasoning models think before they answer. Some providers send that apart; local models write it
into the reply between tags, and a chat template may have written the opening one already.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lexloop.models.failure import failed_reply

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolCall

_REASON_KEYS = ("finish_reason", "stop_reason", "done_reason", "status")
_TOO_LONG = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_WITHHELD = frozenset({"content_filter", "safety", "recitation", "prohibited_content", "refusal"})
_NAMES = ("think", "thinking", "thought", "reasoning")
_TAG = re.compile(rf"<(/?)(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
_TAGS = tuple(f"<{slash}{name}>" for slash in ("", "/") for name in _NAMES)


class Thinking:
    """A reply's text and its reasoning, held apart.

    What stands before a closing tag that nothing opened was reasoning as well: the text begins
    anew behind it. A block that is never closed is reasoning to its end.

    Args:
        opened: Whether the reply is taken to begin inside its reasoning, so that nothing is text
            until a tag closes it, or until the reply ends without one.
    """

    def __init__(self, opened: bool = False) -> None:
        self.unopened = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._inside = self._supposed = opened
        self._tail = ""

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "".join(self._text).strip()

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(self._reasoning).strip()

    def add(self, piece: str) -> tuple[str, bool]:
        """Add a piece.

        Returns:
            The text that it adds, and whether the reply's text begins with it, so that text
            returned before is void.
        """
        rest = self._tail + piece
        before, end = len(self._text), 0
        for tag in _TAG.finditer(rest):
            self._take(rest[end : tag.start()])
            end = tag.end()
            if tag[1]:
                self._close()
                before = min(before, len(self._text))
            else:
                self._inside, self._supposed = True, False
        rest = rest[end:]
        cut = _tag_begins(rest)
        self._tail = rest[cut:]
        self._take(rest[:cut])
        return "".join(self._text[before:]), before == 0

    def finish(self) -> tuple[str, bool]:
        """End the reply; returns as ``add`` does."""
        before = len(self._text)
        tail, self._tail = self._tail, ""
        self._take(tail)
        if self._supposed and self._inside:
            supposed, self._reasoning = "".join(self._reasoning), []
            self._inside = False
            self._take(supposed)
        return "".join(self._text[before:]), before == 0

    def apart(self, piece: "AIMessage") -> int:
        """Add the reasoning that a provider sends beside the text; return its characters."""
        if isinstance(piece.content, str) and not piece.additional_kwargs:
            return 0  # nearly every piece: reading content blocks costs more than all the rest
        said = [
            block.get("reasoning") or ""
            for block in piece.content_blocks
            if block["type"] == "reasoning"
        ]
        self._reasoning += said
        return sum(map(len, said))

    def _close(self) -> None:
        if not self._inside:
            self._reasoning += self._text
            self._text.clear()
        self.unopened = self.unopened or self._supposed or not self._inside
        self._inside = self._supposed = False

    def _take(self, said: str) -> None:
        if self._inside:
            self._reasoning.append(said)
            return
        if not self._text:
            said = said.lstrip()
        if said:
            self._text.append(said)


def _tag_begins(text: str) -> int:
    """Return where the end of ``text`` may begin a tag; its length where it cannot."""
    at = text.rfind("<")
    tail = text[at:].lower()
    return at if at >= 0 and any(tag.startswith(tail) for tag in _TAGS) else len(text)


class Received:
    """The pieces of one reply, put together.

    Args:
        model: The model's name, for messages.
        ended: Whether the reply must carry an end marker, as a streamed one does.
        opened: Whether the reply is taken to begin inside the model's reasoning.

    ``chars`` counts all that has come: text, reasoning and the arguments of function calls;
    ``calls`` are those of a reply that came in one piece.
    """

    def __init__(self, model: str, ended: bool, opened: bool) -> None:
        self.tokens_in = self.tokens_out = self.chars = 0
        self.thinking = Thinking(opened)
        # a list: a string that grows piece by piece is copied with every one
        self._arguments: list[str] = []
        self.calls: list[ToolCall] = []
        self._reason = ""
        self._model, self._ended = model, ended

    def add(self, piece: "AIMessage") -> tuple[str, bool]:
        """Add one piece, or the whole reply; returns as ``Thinking.add`` does."""
        arguments = _arguments(piece)
        self._arguments.append(arguments)
        self.calls += piece.tool_calls
        if usage := piece.usage_metadata:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]
        self._reason = _end_of(piece.response_metadata) or self._reason
        self.chars += len(piece.text) + len(arguments) + self.thinking.apart(piece)
        return self.thinking.add(piece.text)

    def checked(self) -> str:
        """Return the reply's text, or its function call's arguments where it has no text.

        Raises:
            FailedAttempt: The reply was cut off, withheld, or empty.
        """
        name = self._model
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
        if not text:
            thought = (
                "its reasoning alone, without an answer" if self.thinking.reasoning else "empty"
            )
            raise failed_reply(f"The reply of {name} is {thought}.")
        return text


def _end_of(metadata: Mapping[str, Any]) -> str:
    """Return why the reply ended, in lower case; empty before its end."""
    if metadata.get("status") == "incomplete":
        return str((metadata.get("incomplete_details") or {}).get("reason", "length")).lower()
    for key in _REASON_KEYS:
        if reason := metadata.get(key):
            return str(reason).lower()
    # servers of Ollama before 0.1.36 end a reply without a reason
    return "done" if metadata.get("done") is True else ""


def _arguments(piece: "AIMessage") -> str:
    """Return the arguments of a piece's function calls, as JSON text."""
    from langchain_core.messages import AIMessageChunk

    if isinstance(piece, AIMessageChunk):
        return "".join(chunk["args"] or "" for chunk in piece.tool_call_chunks)
    calls = [json.dumps(call["args"]) for call in piece.tool_calls]
    calls += [call["args"] or "" for call in piece.invalid_tool_calls]
    if old := piece.additional_kwargs.get("function_call"):
        calls.append(str(old.get("arguments") or ""))
    return "\n".join(calls)
