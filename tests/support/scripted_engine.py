"""A node of an engine on loopback that says what a script says, and records what it was asked.

    engine.script(Said(429), Said(200, {"count": 1}))

Answers come in that order; the last one repeats. What is called instead of said is given the
request: ``engine.script(passed_on_to("127.0.0.1:9200"))`` stands between a client and a node.
"""

import json
import ssl
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Said:
    """One scripted answer.

    Args:
        status: Of HTTP; 0 closes the connection instead of answering.
        body: Sent as JSON; bytes are sent as they are, as a page of HTML.
        slowly_s: Seconds between the bytes of the body.
    """

    status: int = 200
    body: Any = field(default_factory=dict)
    slowly_s: float = 0.0


def refusal(status: int, kind: str, reason: str) -> Said:
    """An error in an engine's own form."""
    error = {"type": kind, "reason": reason}
    return Said(status, {"error": {"root_cause": [error], **error}, "status": status})


def found(failed: int = 0, timed_out: bool = False) -> Said:
    """The answers to one search that finds nothing, ``failed`` of two shards missing."""
    shards = {"total": 2, "successful": 2 - failed, "skipped": 0, "failed": failed}
    answer = {"_shards": shards, "timed_out": timed_out, "hits": {"hits": []}, "status": 200}
    return Said(200, {"responses": [answer]})


Answer = Callable[[str, str, str, str], Said]
"""From a request's method, path, body and its type to what is said."""


def passed_on_to(host: str) -> Answer:
    """What a node answers."""

    def answer(method: str, path: str, body: str, kind: str) -> Said:
        headers = {"Content-Type": kind or "application/json"}
        data = body.encode() if body else None
        asked = urllib.request.Request(f"http://{host}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60) as reply:
                return Said(reply.status, json.load(reply))
        except urllib.error.HTTPError as error:
            return Said(error.code, json.load(error))

    return answer


class ScriptedEngine:
    """The node; use it as a context manager.

    ``asked`` has the method, path and body of every request, ``headers`` its headers by names in
    lower case.

    Args:
        tls: What it encrypts by.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self._script: deque[Said | Answer] = deque()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.engine = self
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def host(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def address(self) -> str:
        """An address at it."""
        return f"opensearch://{self.host}/laws"

    def script(self, *answers: Said | Answer) -> None:
        """Set what is said from now on."""
        self._script = deque(answers)

    def said(self, *request: str) -> Said:
        """What is answered to a request."""
        said = self._script.popleft() if len(self._script) > 1 else self._script[0]
        return said if isinstance(said, Said) else said(*request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    engine: ScriptedEngine


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Tests read the record instead."""

    def _answer(self) -> None:
        engine = self.server.engine
        asked = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        engine.asked.append((self.command, self.path, asked))
        engine.headers.append({name.lower(): value for name, value in self.headers.items()})
        said = engine.said(self.command, self.path, asked, self.headers.get("Content-Type") or "")
        if not said.status:
            self.connection.close()
            return
        page = isinstance(said.body, bytes)
        data = said.body if page else json.dumps(said.body).encode()
        self.send_response(said.status)
        self.send_header("Content-Type", "text/html" if page else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not said.slowly_s:
            self.wfile.write(b"" if self.command == "HEAD" else data)
            return
        for byte in data:
            if engine.over.wait(said.slowly_s):
                return
            self.wfile.write(bytes([byte]))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer
