"""Requests to every route of a server, each right but for one hostile value, and what they get.

They are made of the server's own schema and go into the application as uvicorn would pass them on,
so that headers are bytes that no client of HTTP would send.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fastapi.testclient import TestClient
from servers import DOGS, as_, eventually, person, reading_room
from sets import DATA

from lexloop_server.state import Serving

HELD: dict[str, list[Any]] = json.loads((DATA / "hostile.json").read_text("utf-8"))
"""Hostile texts, values and headers."""
URLS, DAYS, GATES, HEADERS = (HELD[name] for name in ("urls", "days", "gates", "headers"))
NUMBERS = [*HELD["numbers"], "9" * 5000]
EVENTS = [f"{event}={day}" for event in ("notice", "the sale", "", "=") for day in DAYS]
LONG = ["\x7f" * 300, "犬" * 200, "x" * 20_000, "(" * 5000, "section " + "9" * 400]
TEXTS = [*URLS, *NUMBERS, *DAYS, *EVENTS[:6], *HELD["texts"], *LONG]
VALUES = [*HELD["values"], 10**400, -(10**400), [""] * 300]
FITTING = {
    **dict.fromkeys(("host", "origin", "referer", "x-forwarded-for"), URLS),
    **dict.fromkeys(("content-length", "range", "start", "end", "page", "width"), NUMBERS),
    **dict.fromkeys(("limit", "offset", "expected", "mcp-protocol-version"), NUMBERS),
    **dict.fromkeys(("as_of", "if-modified-since", "if-range"), DAYS),
    "since": EVENTS,
}
"""What is hostile to a field of a name in particular."""
BEFORE = {
    "authorization": b"Bearer ",
    "cookie": b"lexloop_session=",
    "range": b"bytes=",
    "if-none-match": b"W/",
    "content-type": b"application/json;",
}
"""What comes before a hostile value now and then."""
NOTICE = """Notice Act

Section 1. Return. The tenant shall return the keys within 10 days after the notice.

Section 2. End. The tenant shall leave before 31 December 9999.
"""
PROXY = {
    "header": "X-User",
    "groups": "X-Groups",
    "trusted": ["127.0.0.0/8"],
    "roles": {"legal": "curator"},
}
_METHODS = ("get", "put", "post", "delete", "patch")
_ODD_METHODS = ("HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "CONNECT", "X" * 300)
_PAGES = ("/", "/index.html", "/app.js", "/nothing", "/api", "/v1", "/api/", "/api/openapi.json")
_WAIT_S = 60.0
_DEEP = b"[" * 100_000
_BOUNDARY = "edge"


@dataclass
class Request:
    """A request as a server gets it: ``path`` with its query, percent-encoded; headers as bytes."""

    method: str
    path: str
    headers: dict[str, bytes]
    body: bytes = b""
    hostile: str = ""
    """What was made hostile, for who reads of a failure."""


@dataclass
class _Parts:
    """A right request before one of its parts is made hostile."""

    method: str
    path: str
    places: dict[str, Any]
    query: dict[str, Any]
    optional: dict[str, Any]
    json: dict[str, Any] | None
    optional_json: list[str] = field(default_factory=list)


@contextmanager
def library(place: Path) -> Iterator[tuple[TestClient, Serving, dict[str, Any]]]:
    """A server where ann has a conversation, a link, a table and a collection, and their names."""
    (place / "laws").mkdir(parents=True)
    texts = {"act.txt": DOGS, "act-2.txt": DOGS.replace("30", "40"), "notice.txt": NOTICE}
    for name, text in texts.items():
        (place / "laws" / name).write_text(text, "utf-8")
    much = dict.fromkeys(("requests_per_minute", "questions_per_minute"), 1_000_000)
    given = {
        "people": [person("ann", role="operator")],
        "proxy": PROXY,
        "audit": {},
        "limits": much,
    }
    room = reading_room(place / "data", {"laws": str(place / "laws")}, **given)
    with room as (client, serving):
        headers = as_("ann")
        asked = {"question": "What does a dog licence cost?", "collections": ["laws"]}
        answer = client.post("/api/ask", json=asked, headers=headers).json()
        client.post("/api/collections", json={"name": "Mine"}, headers=headers)
        link = client.put(f"/api/threads/{answer['thread']}/link", headers=headers).json()
        table = {"id": "none", "checklist": {"questions": [{"id": "none"}]}}
        if "workbench" in serving.plugins:
            wanted = {"collection": "laws", "questions": ["What does a licence cost?"]}
            table = client.post("/api/tables", json=wanted, headers=headers).json()
            path = f"/api/tables/{table['id']}"
            eventually(lambda: client.get(path, headers=headers).json()["run"]["state"] == "done")
        known = {
            "thread": answer["thread"],
            "answer": answer["id"],
            "table": table["id"],
            "column": table["checklist"]["questions"][0]["id"],
            "link": str(link.get("id") or link.get("link") or link),
        }
        yield client, serving, known


def requests(schema: Mapping[str, Any], known: Mapping[str, Any], seed: int) -> Iterator[Request]:
    """Yield requests without end, to each route in its turn."""
    chance = random.Random(seed)
    operations = [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in _METHODS
    ]
    while True:
        for path, method, operation in operations:
            yield _made(_parts(schema, path, method, operation, known), chance)
        yield _elsewhere(chance)
        yield _uploaded(chance)
        yield _to_agents(chance)


def _parts(
    schema: Mapping[str, Any],
    path: str,
    method: str,
    operation: Mapping[str, Any],
    known: Mapping[str, Any],
) -> _Parts:
    usual = _usual(path, method, known)
    made = _Parts(method.upper(), path, {}, {}, {}, None)
    for said in operation.get("parameters", ()):
        name = said["name"]
        value = _of_schema(schema, said["schema"]) or usual.get(name, "x")
        if said["in"] == "path":
            made.places[name] = value
        elif said["in"] == "query":
            (made.query if said.get("required") else made.optional)[name] = value
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None:
        body = _resolved(schema, content["schema"])
        made.json = {name: usual.get(name, "x") for name in body.get("required", ())}
        made.optional_json = [*body.get("properties", {})]
    return made


def _of_schema(schema: Mapping[str, Any], said: Mapping[str, Any]) -> Any:
    """Return the last value that a schema names; None if it names none."""
    found = _resolved(schema, said)
    kinds = [_resolved(schema, one) for one in (found, *found.get("anyOf", ()))]
    return next((one["enum"][-1] for one in kinds if "enum" in one), None)


def _resolved(schema: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in said:
        found: Any = schema
        for part in said["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        said = found
    return said


def _usual(path: str, method: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return right values by name; what would be deleted is not there."""
    id = next((known[kind] for kind in ("thread", "answer", "table") if f"/{kind}" in path), "x")
    gone = method == "delete" and not path.endswith("/run")
    return {
        "name": "Mine" if path.endswith(("/grants", "/documents")) else "gone" if gone else "laws",
        "id": "gone" if gone else id,
        "link": known["link"],
        **dict.fromkeys(("document", "a", "old"), "act.txt"),
        **dict.fromkeys(("b", "new"), "act-2.txt"),
        **{"since": "notice=9999-12-31", "as_of": "any"},
        **{"label": "Section 1", "q": "dog", "start": 0, "end": 20, "page": 1, "format": "csv"},
        **{"collection": "laws", "questions": ["What is it?"], "key": "key-ann", "vote": "up"},
        "question": known["column"] if "/tables/" in path else "What does a dog licence cost?",
        **{"expected": 0, "state": "stated", "title": "Dogs", "model": "lexloop/laws"},
        "messages": [{"role": "user", "content": "What does a dog licence cost?"}],
    }


def _text(chance: random.Random, name: str = "") -> str:
    text = chance.choice(TEXTS)
    if name in FITTING and chance.random() < 0.7:
        return chance.choice(FITTING[name])
    return chance.choice((text, text, f"a{text}", f"{text}z", text + chance.choice(TEXTS)))


def _value(chance: random.Random) -> Any:
    text = _text(chance)
    return chance.choice((text, text, chance.choice(VALUES), [text], {text: text}, {"a": [text]}))


def _encoded(text: object, chance: random.Random) -> str:
    """Return a text percent-encoded; now and then as no UTF-8, or not encoded."""
    said = str(text)
    if chance.random() < 0.05:
        return chance.choice(("%", "%zz", "%ff%fe", "%c0%af", "%ed%a0%80", "a;b", "a&&=b", "%00"))
    return quote(said.encode("utf-8", "surrogatepass"), safe="")


def _made(parts: _Parts, chance: random.Random) -> Request:
    """Return a request with one part made hostile."""
    ways = ["header"]
    ways += ["place"] * (2 * bool(parts.places)) + ["query"] * 3 * bool(
        parts.query | parts.optional
    )
    ways += ["json"] * (4 * (parts.json is not None)) + ["body"] * (parts.json is not None)
    way, hostile = chance.choice(ways), ""
    headers = {"host": b"localhost", "authorization": b"Bearer key-ann"}
    places, query, body = dict(parts.places), dict(parts.query), b""
    query |= {name: value for name, value in parts.optional.items() if chance.random() < 0.3}
    if way == "place":
        hostile = chance.choice([*places])
        places[hostile] = _text(chance)
    elif way == "query":
        hostile = chance.choice([*parts.query, *parts.optional])
        query[hostile] = _text(chance, hostile)
    if parts.json is not None:
        body, hostile = _body(parts, way, chance, hostile)
        headers["content-type"] = b"application/json"
    if way == "header" or chance.random() < 0.3:
        hostile = f"{hostile} {_spoil(headers, chance)}"
    path = parts.path
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", _encoded(value, chance)).replace(
            f"{{{name}:path}}", _encoded(value, chance)
        )
    asked = "&".join(f"{name}={_encoded(value, chance)}" for name, value in query.items())
    whole = f"{path}?{asked}" if asked else path
    return Request(parts.method, whole, headers, body, f"{way} {hostile}")


def _body(parts: _Parts, way: str, chance: random.Random, hostile: str) -> tuple[bytes, str]:
    said: Any = dict(parts.json or {})
    if way == "json":
        hostile = chance.choice([*parts.optional_json, *said, "x"])
        said[hostile] = _value(chance)
    elif way == "body":
        whole = chance.choice((*VALUES, _DEEP, b"", b"\xff\xfe", b"{", b'{"a":' * 50_000))
        return (whole if isinstance(whole, bytes) else json.dumps(whole).encode()), "body"
    return json.dumps(said).encode(), hostile


def _spoil(headers: dict[str, bytes], chance: random.Random) -> str:
    """Give some headers hostile values, as far as HTTP lets them through; return which."""
    stopped = chance.random() < 0.1  # a request goes no further than the check of these
    names = [chance.choice(GATES)] if stopped else chance.sample(HEADERS, 4)
    for name in names:
        said = _text(chance, name).encode("utf-8", "surrogatepass")
        before = BEFORE.get(name, b"") if chance.random() < 0.7 else b""
        headers[name] = (before + said).translate(None, b"\x00\r\n").strip()
    if not {"x-user", "x-groups"}.isdisjoint(names):
        del headers["authorization"]
        headers.setdefault("x-groups", b"legal")
        headers.setdefault("x-user", b"kim")
    return " ".join(names)


def _elsewhere(chance: random.Random) -> Request:
    """Return a request to the page, to no route, or by no method that there is."""
    headers = {"host": b"localhost", "authorization": b"Bearer key-ann"}
    path = chance.choice((*_PAGES, f"/{_encoded(_text(chance), chance)}"))
    hostile = _spoil(headers, chance)
    return Request(chance.choice(("GET", *_ODD_METHODS)), path, headers, b"", hostile)


def _uploaded(chance: random.Random) -> Request:
    """Return an upload of which a part's headers are hostile; nothing of it is to be indexed."""
    name, field, kind = (_text(chance).encode("utf-8", "surrogatepass") for _ in range(3))
    head = chance.choice(
        (
            b'Content-Disposition: form-data; name="files"; filename="' + name + b'"',
            b"Content-Disposition: form-data; name=" + field + b"; filename=" + name,
            b"Content-Disposition: " + kind,
            kind + b": " + name,
        )
    )
    boundary = chance.choice((_BOUNDARY.encode(), _BOUNDARY.encode(), field[:200]))
    headers = {
        "host": b"localhost",
        "authorization": b"Bearer key-ann",
        "content-type": (b"multipart/form-data; boundary=" + boundary).translate(None, b"\x00\r\n"),
    }
    edge = b"--" + _BOUNDARY.encode()
    body = edge + b"\r\n" + head + b"\r\n\r\n\r\n" + edge + b"--\r\n"
    return Request("POST", "/api/collections/Mine/documents", headers, body, "upload")


def _to_agents(chance: random.Random) -> Request:
    """Return a message of MCP."""
    params: Any = {"name": "search", "arguments": {"query": _value(chance)}}
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    hostile = chance.choice(("arguments", *said))
    if hostile != "arguments":
        said[hostile] = _value(chance)
    headers = {
        "host": b"localhost",
        "authorization": b"Bearer key-ann",
        "accept": b"application/json, text/event-stream",
        "content-type": b"application/json",
    }
    if chance.random() < 0.3:
        hostile = _spoil(headers, chance)
    return Request("POST", "/mcp", headers, json.dumps(said).encode(), f"mcp {hostile}")


@dataclass
class Met:
    """What requests got: how often each status, and each failure of the server with its request."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def met(client: TestClient, sent: Iterator[Request], count: int) -> Met:
    """Send so many requests, one after the other."""
    made = Met()
    assert client.portal is not None
    for _, request in zip(range(count), sent, strict=False):
        status, why = client.portal.call(_answered, client.app, request)
        made.statuses[status] += 1
        if status >= 500:
            made.failures.append(f"{status} {why} {request}"[:1500])
    return made


async def _answered(app: Any, request: Request) -> tuple[int, str]:
    """Return the status of what an application answers, and the error that it raises."""
    path, _, query = request.path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.encode(), value) for name, value in request.headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8321),
        "state": {},
    }
    came, statuses, over = [request.body], list[int](), asyncio.Event()

    async def receive() -> dict[str, Any]:
        if came:
            return {"type": "http.request", "body": came.pop(), "more_body": False}
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
            for name, value in message["headers"]:
                assert not {b"\r", b"\n", b"\x00"} & {*(bytes([one]) for one in name + value)}
        elif not message.get("more_body"):
            over.set()

    why = ""
    try:
        async with asyncio.timeout(_WAIT_S):
            await app(scope, receive, send)
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        why, statuses = f"{type(error).__name__}: {error}", [*statuses, 599]
    finally:
        over.set()
    return statuses[-1] if statuses else 599, why
