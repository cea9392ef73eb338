"""An engine on loopback that refuses: every request gets one scripted answer, and is recorded."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NODES = {"nodes": {"n": {"name": "n", "version": "3.3.2", "build_type": "tar"}}}
"""What a node of OpenSearch says of itself."""


class FakeEngine:
    """The server; use it as a context manager.

    ``requests`` has the method, path and headers, in lower case, of each request, ``bodies`` what
    came with it. What ``answers`` has for the beginning of a path is answered, the longest
    beginning first: a status and a body.

    Args:
        tls: What it encrypts by.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        self.answers: dict[str, tuple[int, Any]] = {"/": (404, {}), "/_nodes": (200, NODES)}
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.engine = self
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def base(self) -> str:
        """Its address without a name, and without TLS."""
        return f"opensearch://{self.host}"

    @property
    def host(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self._http.server_port}"

    def refuse(self, status: int, kind: str, reason: str, path: str = "/") -> None:
        """Answer so to what begins with a path."""
        error = {"type": kind, "reason": reason}
        body = {"error": {**error, "root_cause": [error]}, "status": status}
        self.answers = {name: one for name, one in self.answers.items() if name < path}
        self.answers[path] = (status, body)

    def answer(self, path: str) -> tuple[int, Any]:
        return self.answers[max((p for p in self.answers if path.startswith(p)), key=len)]

    def __enter__(self) -> "FakeEngine":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    engine: FakeEngine


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Tests read the record instead."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.engine.bodies.append(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.engine.requests.append((self.command, self.path, headers))
        status, body = self.server.engine.answer(self.path)
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer
