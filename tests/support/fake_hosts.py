"""A loopback server that speaks the protocols of Anthropic, Ollama and OpenAI's Responses.

    host.script(Told("The employer.", cut=True), Told("The employer."))

Replies come in that order; the last one repeats. Every request's body is recorded.
"""

import itertools
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loopback import Handler, Loopback


@dataclass(frozen=True)
class Told:
    """One scripted reply.

    Args:
        text: What is said, in two pieces where it is streamed.
        thinking: What is sent apart, before it.
        cut: End the stream behind the text, without its end marker.
        reason: Why the reply ends; None names no reason, as old servers of Ollama do.
        status, body: An HTTP error instead.
    """

    text: str = ""
    thinking: str = ""
    cut: bool = False
    reason: str | None = "end"
    status: int = 200
    body: bytes = b""


class FakeHost(Loopback):
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.requests: list[dict[str, Any]] = []
        self._script: deque[Told] = deque()

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def script(self, *replies: Told) -> None:
        self._script.extend(replies)

    def reply(self, body: dict[str, Any]) -> Told:
        self.requests.append(body)
        return self._script.popleft() if len(self._script) > 1 else self._script[0]


class _Handler(Handler):
    def do_POST(self) -> None:
        self.close_connection = True
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told: Told = self.server.player.reply(body)
        if told.status != 200:
            self._send(told.status, "application/json", [told.body])
        elif self.path == "/api/chat":
            self._send(200, "application/x-ndjson", _ollama(told))
        elif self.path == "/v1/responses":
            self._send(200, "text/event-stream", _responses(told))
        elif body.get("stream"):
            self._send(200, "text/event-stream", _anthropic_events(told))
        else:
            self._send(200, "application/json", [json.dumps(_anthropic(told)).encode()])

    def _send(self, status: int, kind: str, pieces: Iterator[bytes] | list[bytes]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def _ollama(told: Told) -> Iterator[bytes]:
    spoken = [("thinking", t) for t in _halves(told.thinking)]
    spoken += [("content", t) for t in _halves(told.text)]
    for kind, text in spoken:
        message = {"role": "assistant", "content": "", kind: text}
        yield _line({"model": "m", "message": message, "done": False})
    if told.cut:
        return
    reason = {"end": "stop"}.get(told.reason or "", told.reason)
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}
    counts = {"prompt_eval_count": 11, "eval_count": 7}
    yield _line({**end, **counts, **({"done_reason": reason} if reason else {})})


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _anthropic_events(told: Told) -> Iterator[bytes]:
    start = {**_anthropic(told), "content": [], "stop_reason": None}
    yield _event("message_start", message=start)
    blocks = [("thinking", told.thinking), ("text", told.text)]
    for index, (kind, text) in enumerate(block for block in blocks if block[1]):
        yield _event(
            "content_block_start",
            index=index,
            content_block={"type": kind, kind: "", **_signed(kind)},
        )
        for half in _halves(text):
            yield _event(
                "content_block_delta", index=index, delta={"type": f"{kind}_delta", kind: half}
            )
        if not told.cut:
            yield _event("content_block_stop", index=index)
    if told.cut:
        return
    yield _event(
        "message_delta",
        delta={"stop_reason": _anthropic_reason(told), "stop_sequence": None},
        usage={"input_tokens": 11, "output_tokens": 7},
    )
    yield _event("message_stop")


def _signed(kind: str) -> dict[str, str]:
    return {"signature": ""} if kind == "thinking" else {}


def _anthropic_reason(told: Told) -> str | None:
    return {"end": "end_turn"}.get(told.reason or "", told.reason)


def _anthropic(told: Told) -> dict[str, Any]:
    thinking = [{"type": "thinking", "thinking": told.thinking, "signature": ""}]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [*(thinking if told.thinking else []), {"type": "text", "text": told.text}],
        "stop_reason": _anthropic_reason(told),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _responses(told: Told) -> Iterator[bytes]:
    empty = {"id": "resp_1", "object": "response", "created_at": 0, "model": "m", "output": []}
    settled = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": False}
    number = itertools.count()
    begun = {**empty, **settled, "status": "in_progress"}
    yield _event("response.created", sequence_number=next(number), response=begun)
    where = {"output_index": 0, "content_index": 0, "item_id": "msg_1", "logprobs": []}
    for half in _halves(told.text):
        yield _event(
            "response.output_text.delta", sequence_number=next(number), delta=half, **where
        )
    if told.cut:
        return
    whole = told.reason == "end"
    ended = {**begun, "status": "completed" if whole else "incomplete"}
    ended["incomplete_details"] = None if whole else {"reason": told.reason}
    details = {"input_tokens_details": {"cached_tokens": 0}}
    details["output_tokens_details"] = {"reasoning_tokens": 0}
    ended["usage"] = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, **details}
    kind = "response.completed" if whole else "response.incomplete"
    yield _event(kind, sequence_number=next(number), response=ended)
