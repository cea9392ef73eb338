"""Questions to a server over HTTP, and what comes back."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

from lexloop.core.settings import Settings

QUESTION = {"question": "What is a bias audit?"}
SSE = {"Accept": "text/event-stream"}
ANSWER = "A bias audit is an evaluation of an AEDT, made impartially by an independent auditor. [1]"


def client_of(address: str, name: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer key-{name}"} if name else {}
    return httpx.Client(base_url=f"{address}/api", headers=headers, timeout=60)


def asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    found = client.post("/ask", json={**QUESTION, "collections": ["sample"], **body})
    assert found.status_code == 200, found.text
    answer: dict[str, Any] = found.json()
    return answer


def events(client: httpx.Client, **body: Any) -> list[tuple[str, dict[str, Any]]]:
    given = {**QUESTION, "collections": ["sample"], **body}
    with client.stream("POST", "/ask", json=given, headers=SSE) as found:
        assert found.headers["content-type"].startswith("text/event-stream")
        return list(read(found.iter_lines()))


def read(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def model_settings(**changes: Any) -> Settings:
    return Settings(
        **{
            "model": "openai:scripted",
            "model.attempts": 1,
            "retrieval.rewriter": "embedded",
            "loop.evaluator": "embedded",
            "loop.prompt_engineer": "embedded",
            **changes,
        }
    )
