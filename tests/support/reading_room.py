"""A server within the process: its collections, people and data folder are a test's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fastapi.testclient import TestClient

from lexloop.apps.serve.app import create_app
from lexloop.apps.serve.people import key_hash
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.state import Serving

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
        data: Where it keeps what it is given.
        collections: The operator's, by name.
        server: Other settings of the server.
    """
    with patch.dict("os.environ", {"LEXLOOP_DATA_DIR": str(data)}):
        app = create_app(ServerSettings.of({"collections": collections, **server}))
    # a busy machine takes its time to open what it shows
    with patch("lexloop.apps.serve.collections._PATIENCE_S", 60.0), TestClient(app) as client:
        yield client, app.state.serving
