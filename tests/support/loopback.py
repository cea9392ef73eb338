"""A server on loopback in a thread of its own, for what plays a model or an engine."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TICK_S = 0.02


class Loopback:
    """The server; use it as a context manager. At its end ``released`` is set.

    Args:
        handler: Answers requests; it finds this object as ``self.server.player``.
    """

    def __init__(self, handler: type["Handler"]) -> None:
        self.released = threading.Event()
        self.http = _Server(("127.0.0.1", 0), handler)
        self.http.player = self
        self._thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": TICK_S}, daemon=True
        )

    @property
    def host(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self.http.shutdown()
        self.http.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    player: Any


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of a ``Loopback``, silently."""

    server: _Server

    def log_message(self, *_: object) -> None:
        """Tests read the record instead."""
