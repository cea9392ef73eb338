"""An OpenAI-compatible server on loopback that plays scripted replies and records every request.

A test says what the model answers, in order or per role:

    server.script(Reply("first"), Reply(status=500), Reply("third"))
    server.play("generate", Reply("Yes [1]."))     # by prompt file; the last reply repeats
    server.play("evaluate", lambda request: Reply(scores_for(request)))

What ``server.gate`` refuses is refused; scripted replies come first, then the role's, then
``server.otherwise``. Nothing sleeps: a reply
that hangs or drips ends when the client leaves or the server stops.
"""

import base64
import contextlib
import json
import re
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from loopback import TICK_S, Handler, Loopback

from lexloop.core.settings import Connection

KEY = "sk-test-5f2d8c7ae1"
ANSWER = "A bias audit is an evaluation of an AEDT, made impartially by an independent auditor. [1]"


@dataclass
class Request:
    """One request as it arrived, header names in lower case.

    ``abandoned`` is set when its client left before the end.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    abandoned: threading.Event = field(default_factory=threading.Event)

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body["messages"]

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def user(self) -> str:
        return self.messages[1]["content"]

    @property
    def instructions(self) -> str:
        """All that is not data: the system part, and the task up to the first heading."""
        return f"{self.system} {re.split(r'^.*:$', self.user, flags=re.MULTILINE)[0]}"

    @property
    def role(self) -> str | None:
        """The prompt file whose instructions this request opens with."""
        home = Path(str(files("lexloop.prompts")))
        shared = (home / "loop.md").read_text("utf-8")
        told = self.user if self.system in shared else self.system
        opening = told.splitlines()[0]
        for file in home.rglob("*.md"):
            if opening in file.read_text("utf-8").splitlines():
                return file.relative_to(home).with_suffix("").as_posix()
        return None


@dataclass
class Reply:
    """What the model answers.

    Args:
        text: The message; ``arguments``: those of a function call that comes instead.
        status, headers, body: The HTTP answer; ``body`` replaces the JSON of a completion.
        finish: The finish_reason.
        pieces: How many pieces a streamed text comes in.
        hang: Wait before the first byte, for as long as the client does.
        drip: Send pieces, or spaces before a whole reply, for as long as the client reads.
        cut: End the stream after its pieces, without finish_reason and end marker.
        usage: Whether tokens are reported (11 in, 7 out).
    """

    text: str = ""
    arguments: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    finish: str | None = "stop"
    pieces: int = 3
    hang: bool = False
    drip: bool = False
    cut: bool = False
    usage: bool = True


Script = Reply | Callable[[Request], Reply]


def reply(**fields: object) -> Reply:
    """A reply that is one JSON object."""
    return Reply(json.dumps(fields))


def refusal(status: int, message: str = "scripted failure", **headers: str) -> Reply:
    """An HTTP error in OpenAI's form; ``retry_after="1"`` becomes a Retry-After header."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Reply(status=status, body=body, headers=named)


def unsupported(message: str, param: str | None = None, code: str | None = None) -> Reply:
    """The refusal of a parameter in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Reply(status=400, body=json.dumps({"error": error}).encode())


class FakeOpenAI(Loopback):
    """The server; use it as a context manager.

    ``key`` is the only key it accepts (None: any), ``requests`` are the chat requests so far,
    ``embedded`` the batches of texts that it embedded, ``asked_to_embed`` all requests to embed.
    With ``embedding_otherwise`` it answers those with that instead of vectors.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.key: str | None = KEY
        self.otherwise: Script = Reply("ok")
        self.gate: Callable[[Request], Reply | None] = lambda request: None
        self.requests: list[Request] = []
        self.embedded: list[list[str]] = []
        self.asked_to_embed: list[Request] = []
        self.embedding_otherwise: Reply | None = None
        self.embed: Callable[[str], list[float]] = letter_counts
        self._embedding_script: deque[Reply] = deque()
        self._script: deque[Script] = deque()
        self._roles: dict[str, deque[Script]] = {}
        self._arrival = threading.Condition()

    @property
    def base_url(self) -> str:
        return f"http://{self.host}/v1"

    @property
    def connection(self) -> Connection:
        return Connection(base_url=self.base_url, api_key=self.key or "any-key-will-do")

    def script(self, *replies: Script) -> None:
        """Answer the next requests with these, whoever asks."""
        self._script.extend(replies)

    def script_embeddings(self, *replies: Reply) -> None:
        """Answer the next embedding requests with these instead of vectors."""
        self._embedding_script.extend(replies)

    def next_embedding_reply(self) -> Reply | None:
        scripted = self._embedding_script
        return scripted.popleft() if scripted else self.embedding_otherwise

    def play(self, role: str, *replies: Script) -> None:
        """Answer requests made with the prompt file ``role`` with these; the last one repeats."""
        self._roles[role] = deque(replies)

    def roles_asked(self) -> list[str | None]:
        """The roles of the requests so far, in order."""
        return [request.role for request in self.requests]

    def wait_for(self, count: int, timeout: float = 5.0) -> bool:
        """Wait until ``count`` chat requests have arrived."""
        with self._arrival:
            return self._arrival.wait_for(lambda: len(self.requests) >= count, timeout)

    def next_reply(self, request: Request) -> Reply:
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()
            chosen = self.gate(request) or self._chosen(request)
        return chosen(request) if callable(chosen) else chosen

    def _chosen(self, request: Request) -> Script:
        if self._script:
            return self._script.popleft()
        queue = self._roles.get(request.role or "")
        if queue:
            return queue.popleft() if len(queue) > 1 else queue[0]
        return self.otherwise


def letter_counts(text: str) -> list[float]:
    """An embedding of 26 dimensions: how often each letter occurs."""
    return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


class _Handler(Handler):
    def do_POST(self) -> None:
        self.close_connection = True
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._answer(request)
            return
        request.abandoned.set()

    def _answer(self, request: Request) -> None:
        fake: FakeOpenAI = self.server.player
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.path == "/v1/embeddings":
            fake.asked_to_embed.append(request)
            if scripted := fake.next_embedding_reply():
                self._play(request, scripted)
            else:
                self._send(200, json.dumps(self._embeddings(request)).encode())
        elif request.path != "/v1/chat/completions":
            self._play(request, refusal(404, f"no such address: {request.path}"))
        else:
            reply = fake.next_reply(request)
            if fake.key is not None and given != fake.key:
                # Real hosts echo the key in part; this one is worse.
                reply = refusal(401, f"Incorrect API key provided: {given}")
            self._play(request, reply)

    def _embeddings(self, request: Request) -> dict[str, Any]:
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        self.server.player.embedded.append(texts)
        vectors: list[Any] = [self.server.player.embed(text) for text in texts]
        if request.body.get("encoding_format") == "base64":
            packed = [struct.pack(f"<{len(vector)}f", *vector) for vector in vectors]
            vectors = [base64.b64encode(vector).decode() for vector in packed]
        data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return {"object": "list", "data": data, "model": request.body["model"], "usage": usage}

    def _play(self, request: Request, reply: Reply) -> None:
        if reply.hang and self._left(forever=True):
            request.abandoned.set()
            return
        if reply.status != 200 or reply.body is not None:
            self._send(reply.status, reply.body or b"", reply.headers)
        elif request.body.get("stream"):
            self._stream(request, reply)
        elif reply.drip:
            self._drip(request)
        else:
            self._send(200, json.dumps(_completion(request, reply)).encode(), reply.headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, request: Request, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta in _deltas(reply):
            self._event(_chunk(request, delta))
        while reply.drip and not self._left():
            self._event(_chunk(request, {"content": "drip "}))
        if reply.drip:
            request.abandoned.set()
        if reply.cut or reply.drip:
            return
        self._event(_chunk(request, {}, reply.finish))
        if reply.usage and request.body.get("stream_options", {}).get("include_usage"):
            self._event({**_chunk(request, {}), "choices": [], "usage": _USAGE})
        self.wfile.write(b"data: [DONE]\n\n")

    def _drip(self, request: Request) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while not self._left():
            self.wfile.write(b" ")
        request.abandoned.set()

    def _event(self, data: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())

    def _left(self, forever: bool = False) -> bool:
        """Whether the client left, or the server stops, within one tick or ever."""
        while not self.server.player.released.is_set():
            waiting = select.poll()  # select itself takes no descriptor above 1023
            waiting.register(self.connection, select.POLLIN)
            if waiting.poll(TICK_S * 1000) and not self.connection.recv(1, socket.MSG_PEEK):
                return True
            if not forever:
                return False
        return True


_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    if reply.arguments is not None:
        call = {"name": "answer", "arguments": reply.arguments}
        yield {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
        return
    size = max(1, -(-len(reply.text) // reply.pieces))
    for start in range(0, len(reply.text), size):
        yield {"content": reply.text[start : start + size]}


def _chunk(request: Request, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.body["model"],
        "choices": [choice],
    }


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.arguments is not None:
        call = {"name": "answer", "arguments": reply.arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
        message["content"] = None
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    return {**completion, "usage": _USAGE} if reply.usage else completion
