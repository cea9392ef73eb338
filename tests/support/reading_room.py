"""A server of collections alone: its routes over documents, people and folders of a test."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from lexloop.apps.serve import document_routes, errors, upload_routes
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.indexing import Indexing
from lexloop.apps.serve.limits import Rates
from lexloop.apps.serve.middleware import Guard
from lexloop.apps.serve.pages import Pages
from lexloop.apps.serve.people import People, key_hash
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.state import Serving
from lexloop.apps.serve.threads import FILE_NAME, ThreadStore
from lexloop.apps.serve.uploads import UploadStore
from lexloop.core.settings import Connection, Settings

KEYS = {"ann": "key-of-ann", "bob": "key-of-bob"}


def people(**more: dict[str, Any]) -> list[dict[str, Any]]:
    """Ann and Bob with their keys; ``more`` by name is added to what is known of them."""
    return [
        {"name": name, "key_sha256": key_hash(key), **more.get(name, {})}
        for name, key in KEYS.items()
    ]


def as_(name: str) -> dict[str, str]:
    """The headers with which somebody comes."""
    return {"Authorization": f"Bearer {KEYS[name]}"}


@contextmanager
def reading_room(
    data: Path, collections: dict[str, str], **server: Any
) -> Iterator[tuple[TestClient, Serving]]:
    """A client of a server, and its parts.

    Args:
        data: Where uploads lie.
        collections: The operator's, by name.
        server: Other settings of the server.
    """
    settings = ServerSettings.of({"collections": collections, **server})
    engine = Engine(Settings(), Connection())
    uploads = UploadStore(data / "collections")
    known = People(settings)
    limits = settings.limits
    rates = Rates(requests=limits.requests_per_minute, questions=limits.questions_per_minute)
    parts = Serving(
        settings=settings,
        engine=engine,
        people=known,
        rates=rates,
        collections=Collections(settings, engine, uploads),
        uploads=uploads,
        indexing=Indexing(engine.settings, engine.connection),
        pages=Pages(workers=1),
        store=ThreadStore(data / FILE_NAME),
        asking=None,  # type: ignore[arg-type]
        tools=None,  # type: ignore[arg-type]
    )
    app = FastAPI()
    app.state.serving = parts
    errors.install(app)
    app.add_middleware(Guard, settings=settings, people=known, rates=rates)
    app.include_router(document_routes.router)
    app.include_router(upload_routes.router)
    with closing(engine), closing(parts.indexing), closing(parts.pages), TestClient(app) as client:
        yield client, parts
