"""A real server on loopback, in a thread of its own."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from openai import OpenAI

from lexloop.apps.serve.app import config_of, create_app
from lexloop.apps.serve.people import key_hash
from lexloop.apps.serve.settings import ServerSettings
from lexloop.core.settings import Connection, Settings

DOGS = """Dog Licence Act

Section 1. Licence. A keeper must hold a dog licence for each dog.

Section 2. Fee. A dog licence costs 30 dollars a year.

Section 3. Penalty. A keeper without one is liable for a civil penalty of 90 dollars ![x](//y).
"""
"""A law of which one section tries to have an image loaded."""
CATS = "Cat Act\n\nSection 1. A keeper of a cat must keep it indoors at night.\n"
PENALTY = "What is the civil penalty?"


class _Server(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def served(
    server: ServerSettings | None = None,
    settings: Settings | None = None,
    connection: Connection | None = None,
) -> Iterator[str]:
    """The address of a server, which ends with the block."""
    app = create_app(server, settings, connection)
    runs = _Server(config_of(app))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=runs.run, args=([listening],))
        thread.start()
        try:
            assert runs.listens.wait(30)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            runs.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def openai_client(address: str, key: str = "any") -> OpenAI:
    """OpenAI's own client of a server, which tries nothing twice."""
    return OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)


def person(name: str, **details: Any) -> dict[str, Any]:
    """Somebody in a server's settings whose key is ``key-NAME``."""
    return {"name": name, "key_sha256": key_hash(f"key-{name}"), **details}
