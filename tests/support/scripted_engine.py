"""A node of an engine on loopback that says what a script says, and records what it was asked.

    engine.script(Said(429), Said(200, {"count": 1}))

Answers come in that order; the last one repeats. What is called instead of said is given the
request: ``engine.script(passed_on_to("127.0.0.1:9200"))`` stands between a client and a node.
"""

import json
import ssl
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loopback import Handler, Loopback


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


class ScriptedEngine(Loopback):
    """The node; use it as a context manager.

    ``asked`` has the method, path and body of every request, ``headers`` its headers by names in
    lower case.

    Args:
        tls: What it encrypts by.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(_Handler)
        self.asked: list[tuple[str, str, str]] = []
        self.headers: list[dict[str, str]] = []
        self._script: deque[Said | Answer] = deque()
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)

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


class _Handler(Handler):
    def _answer(self) -> None:
        engine: ScriptedEngine = self.server.player
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
            if engine.released.wait(said.slowly_s):
                return
            self.wfile.write(bytes([byte]))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer
