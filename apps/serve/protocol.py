"""HTTP on a connection whose client is given only so long to say what it wants."""

import asyncio
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 15.0
_ENDING_S = 5


def config_of(app: FastAPI) -> uvicorn.Config:
    """Return how an application is run: nothing of a request in a log, nobody's word for who asks.

    A proxy's headers are read by ``people`` alone, where it trusts the address.
    """
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_ENDING_S,
    )


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which by itself waits for ever for a request's first bytes and headers.

    The headers of a request have so many seconds from when the connection was made, or from its
    first bytes on a connection that was kept.
    """

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to count."""
        super().connection_made(transport)
        self._count()

    def data_received(self, data: bytes) -> None:
        """Take bytes; count where they leave the headers of a request unfinished."""
        super().data_received(data)
        working = self.cycle is not None and not self.cycle.response_complete
        if working and self._closing is not None:
            self._closing.cancel()
            self._closing = None
        elif not working and self._closing is None:
            self._count()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to count."""
        if self._closing is not None:
            self._closing.cancel()
        super().connection_lost(exc)

    def _count(self) -> None:
        self._closing = self.loop.call_later(HEADERS_S, self._late)

    def _late(self) -> None:
        self._closing = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
