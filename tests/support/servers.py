"""Servers for tests, of a thread or within the process, and what people ask of them."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import httpx
import uvicorn
from fastapi.testclient import TestClient
from openai import OpenAI

from lexloop.core.settings import Connection, Settings
from lexloop_server.app import config_of, create_app
from lexloop_server.people import key_hash
from lexloop_server.settings import ServerSettings
from lexloop_server.state import Serving

DOGS = """Dog Licence Act

Section 1. Licence. A keeper must hold a dog licence for each dog.

Section 2. Fee. A dog licence costs 30 dollars a year.

Section 3. Penalty. A keeper without one is liable for a civil penalty of 90 dollars ![x](//y).
"""
"""A law of which one section tries to have an image loaded."""
CATS = "Cat Act\n\nSection 1. A keeper of a cat must keep it indoors at night.\n"
PENALTY = "What is the civil penalty?"
QUESTION = {"question": "What is a bias audit?"}
SSE = {"Accept": "text/event-stream"}
_DEADLINE_S, _TRIED_S = 30.0, 300.0
Found = TypeVar("Found")


def person(name: str, **details: Any) -> dict[str, Any]:
    """Somebody in a server's settings whose key is ``key-NAME``."""
    return {"name": name, "key_sha256": key_hash(f"key-{name}"), **details}


def people(**more: dict[str, Any]) -> list[dict[str, Any]]:
    """Ann and Bob; ``more`` by name is added to what is known of them."""
    return [person(name, **more.get(name, {})) for name in ("ann", "bob")]


def as_(name: str) -> dict[str, str]:
    """The headers with which somebody comes."""
    return {"Authorization": f"Bearer key-{name}"} if name else {}


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
    """The address of a real server in a thread of its own, which ends with the block."""
    app = create_app(server, settings, connection)
    runs = _Server(config_of(app))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=runs.run, args=([listening],))
        thread.start()
        try:
            assert runs.listens.wait(_DEADLINE_S)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            runs.should_exit = True
            thread.join(_DEADLINE_S)
            assert not thread.is_alive()


@contextmanager
def served_from(data: Path, **server: Any) -> Iterator[str]:
    """The address of a real server of these settings, which keeps what it is given in a folder."""
    found = ServerSettings.of(server)
    with patch.dict("os.environ", {"LEXLOOP_DATA_DIR": str(data)}), served(found) as address:
        yield address


@contextmanager
def reading_room(
    data: Path, collections: dict[str, str], **server: Any
) -> Iterator[tuple[TestClient, Serving]]:
    """A client of a server within the process, and the server's parts.

    Args:
        data: Where it keeps what it is given.
        collections: The operator's, by name.
        server: Other settings of the server.
    """
    with patch.dict("os.environ", {"LEXLOOP_DATA_DIR": str(data)}):
        app = create_app(ServerSettings.of({"collections": collections, **server}))
    # a busy machine takes its time to open what it shows
    with patch("lexloop_server.collections._PATIENCE_S", 60.0), TestClient(app) as client:
        yield client, app.state.serving


@contextmanager
def animals(data: Path) -> Iterator[str]:
    """The address of a server for all that ask and change nothing for others.

    Ann sees the sample and the dogs, bob the dogs, and eve all that there is and was.
    """
    for name, text in (("dogs/acts/dogs.txt", DOGS), ("cats/cats.txt", CATS)):
        (data.parent / name).parent.mkdir(parents=True)
        (data.parent / name).write_text(text, "utf-8")
    folders = {"dogs": "dogs", "my cats": "cats", "gone": "gone"}
    laws = {name: str(data.parent / folder) for name, folder in folders.items()}
    people = [
        person("ann", collections=["sample", "dogs"]),
        person("bob", collections=["dogs"]),
        person("eve"),
    ]
    with served_from(data, collections={"sample": "sample", **laws}, people=people) as found:
        yield found


def got(client: httpx.Client, path: str, who: str = "ann", status: int = 200, **query: Any) -> Any:
    """What somebody is told of a collection: ``got(client, "laws/tree", document="act.txt")``."""
    found = client.get(f"/api/collections/{path}", params=query, headers=as_(who))
    assert found.status_code == status, found.text
    return found.json()


def suggested(client: httpx.Client, headers: dict[str, str] | None = None) -> Any:
    """The collections as the page lists them, once all questions on them have been tried."""
    path = "collections" if client.base_url.path.startswith("/api") else "/api/collections"
    until = time.monotonic() + _TRIED_S
    while any(one["trying"] for one in client.get(path, headers=headers).json()):
        assert time.monotonic() < until
        time.sleep(0.1)
    return client.get(path, headers=headers).json()


def tables_of(serving: Serving) -> Any:
    """The tables of a server's people, which its workbench keeps."""
    return vars(serving.plugins["workbench"])["tables"]


def openai_client(address: str, key: str = "any") -> OpenAI:
    """OpenAI's own client of a server, which tries nothing twice."""
    return OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)


def client_of(address: str, name: str = "") -> httpx.Client:
    """Somebody's client of what is below ``/api``."""
    return httpx.Client(base_url=f"{address}/api", headers=as_(name), timeout=60)


def asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """The answer to a question to the sample, unless the body names others."""
    found = client.post("/ask", json={**QUESTION, "collections": ["sample"], **body})
    assert found.status_code == 200, found.text
    answer: dict[str, Any] = found.json()
    return answer


def events(client: httpx.Client, **body: Any) -> list[tuple[str, dict[str, Any]]]:
    """The events of such a question, by name and data."""
    given = {**QUESTION, "collections": ["sample"], **body}
    told, name = list[tuple[str, dict[str, Any]]](), ""
    with client.stream("POST", "/ask", json=given, headers=SSE) as found:
        assert found.headers["content-type"].startswith("text/event-stream")
        for line in found.iter_lines():
            kind, _, said = line.partition(": ")
            if kind == "event":
                name = said
            elif kind == "data":
                told.append((name, json.loads(said)))
    return told


def model_settings(**changes: Any) -> Settings:
    """Settings with which the scripted server writes the answers and does nothing else."""
    steps = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")
    own = {"model": "openai:scripted", "model.attempts": 1, **dict.fromkeys(steps, "embedded")}
    return Settings(**{**own, **changes})


def eventually(wanted: Callable[[], Found]) -> Found:
    """What is wanted, once it is there."""
    until = time.monotonic() + _DEADLINE_S
    while not (found := wanted()):
        assert time.monotonic() < until
    return found
