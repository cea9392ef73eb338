"""An engine on loopback that refuses: every request gets one answer, by its path."""

import ssl
from typing import Any

from scripted_engine import Said, ScriptedEngine, refusal

NODES = {"nodes": {"n": {"name": "n", "version": "3.3.2", "build_type": "tar"}}}
"""What a node of OpenSearch says of itself."""


class FakeEngine(ScriptedEngine):
    """The server; use it as a context manager.

    What ``answers`` has for the beginning of a path is answered, the longest beginning first: a
    status and a body.

    Args:
        tls: What it encrypts by.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self.answers: dict[str, tuple[int, Any]] = {"/": (404, {}), "/_nodes": (200, NODES)}
        self.script(lambda method, path, body, kind: Said(*self._answer(path)))

    @property
    def base(self) -> str:
        """Its address without a name, and without TLS."""
        return f"opensearch://{self.host}"

    @property
    def requests(self) -> list[tuple[str, str, dict[str, str]]]:
        """The method, path and headers of each request."""
        pairs = zip(self.asked, self.headers, strict=True)
        return [(method, path, headers) for (method, path, _), headers in pairs]

    @property
    def bodies(self) -> list[bytes]:
        """What came with each request."""
        return [body.encode() for _, _, body in self.asked]

    def refuse(self, status: int, kind: str, reason: str) -> None:
        """Answer so to everything."""
        self.answers = {"/": (status, refusal(status, kind, reason).body)}

    def _answer(self, path: str) -> tuple[int, Any]:
        return self.answers[max((p for p in self.answers if path.startswith(p)), key=len)]
