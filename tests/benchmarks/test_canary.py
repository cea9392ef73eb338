"""A password in the model's address is sent to the host, and stands nowhere else."""

import json
import logging
import os
import subprocess
import sys
import threading
import traceback
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply, Request, refusal
from langchain_core.tracers import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import Client

from lexloop.apps.shapes.record import answer_record, text_hosts
from lexloop.core.errors import LexloopError
from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

NAME, PASSWORD, KEY = "canary-name", "canary-p4ssw0rd", "canary-key"
_BASIC = b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
_QUESTION = "What is the penalty for a first violation?"
_MODEL = {"model": "openai:played", "model.attempts": 1, "model.fallback": True}
"""The fallback answers where the host of this refuses, so that what it says is kept as well."""


def _said() -> dict[str, str]:
    """All that was said, by where; ``sent`` is the header with which the host was asked."""
    with FakeOpenAI() as server, _tracing() as (client, traced):
        server.key, server.otherwise = None, _echo
        address = server.base_url.replace("://", f"://{NAME}:{PASSWORD}@")
        connection = Connection.from_environment({"LEXLOOP_BASE_URL": address})
        settings = Settings(**_MODEL)
        return {
            "connection": f"{connection!r} {connection} {connection.model_dump_json()}",
            "settings": f"{settings!r} {settings} {settings.model_dump_json()}",
            **_asked(connection, settings, client),
            "command": _command(address),
            "refused addresses": " ".join(map(_refusal, _refused(address))),
            "sent": server.requests[0].headers.get("authorization", ""),
            "traces": "\n".join(traced),
        }


def _echo(request: Request) -> Reply:
    return refusal(401, f"Bad login: {request.headers.get('authorization')} {PASSWORD}")


def _asked(connection: Connection, settings: Settings, client: Client) -> dict[str, str]:
    saver = InMemorySaver()
    graph = build_graph(Resources(connection, settings), checkpointer=saver)
    traced = LangChainTracer(client=client)
    config: Any = {"configurable": {"thread_id": "1"}, "callbacks": [traced]}
    result = graph.invoke({"question": _QUESTION}, config)
    client.flush()
    state, strict = graph.get_state(config).values, settings.changed(**{"model.fallback": False})
    try:
        build_graph(Resources(connection, strict)).invoke({"question": _QUESTION})
        error = "none"
    except LexloopError as raised:
        error = "".join(traceback.format_exception(raised))
    record = answer_record(state, settings, text_hosts(settings, connection))
    return {
        "answer": json.dumps(result, default=str),
        "record": json.dumps(record, default=str),
        "error": error,
        "checkpoints": repr([*saver.storage.items(), *saver.blobs.items(), *saver.writes.items()]),
    }


def _command(address: str) -> str:
    """What the command prints, whose host refuses it."""
    command = [
        sys.executable,
        "-m",
        "lexloop.apps.cli",
        "ask",
        _QUESTION,
        "--json",
        "--model",
        "openai:played",
    ]
    environ = {**os.environ, "LEXLOOP_BASE_URL": address}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _refused(address: str) -> list[dict[str, str]]:
    """Addresses that cannot be used, and hold a secret."""
    return [
        {"base_url": f"{address}?api_key={KEY}"},
        {"base_url": address.replace("http", "ftp")},
        {"base_url": address.replace("http://", "")},
        {"base_url": f"http://{NAME}:1/{PASSWORD}@host/v1"},
        {"corpus": f"opensearch://{NAME}:{PASSWORD}@host:9200/laws"},
        {"corpus": f"elasticsearch+tls://host/laws?api_key={KEY}"},
    ]


def _refusal(given: dict[str, Any]) -> str:
    kind = Settings if "corpus" in given else Connection
    try:
        kind(**given)
    except (LexloopError, ValueError) as error:
        return "".join(traceback.format_exception(error))
    return f"taken: {PASSWORD}"


@contextmanager
def _tracing() -> Iterator[tuple[Client, list[str]]]:
    """A client of LangSmith's whose server is here, and what it was sent."""
    traced: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            traced.append(self.rfile.read(length).decode("utf-8", "replace"))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_PATCH = do_POST

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield Client(api_url=address, api_key="none", auto_batch_tracing=False), traced
        finally:
            server.shutdown()


def test_a_password_in_the_address_is_said_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    found = _said()
    sent, said = found.pop("sent"), {**found, "logs": caplog.text}
    assert sent == f"Basic {_BASIC}" == "Basic Y2FuYXJ5LW5hbWU6Y2FuYXJ5LXA0c3N3MHJk"
    for secret in (PASSWORD, _BASIC, KEY):
        assert [place for place, text in said.items() if secret in text] == []
    assert "ModelAuthError" in said["error"]
    assert "ModelAuthError" in said["command"]
    assert "[key]" in said["traces"]
    assert NAME not in said["connection"]
    assert "taken" not in said["refused addresses"]
