"""Everything that a request may hold is bounded, by the schemas of all routes and tools."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from servers import as_, person

from lexloop_server.app import create_app
from lexloop_server.audit import FOLDER
from lexloop_server.settings import ServerSettings

Schema = dict[str, Any]
_SHORT = ("binary", "date", "date-time")
"""What is bounded by its form, or by its route alone."""


class Walk:
    """Finds in schemas what has no limit."""

    def __init__(self, known: Schema) -> None:
        self.known, self.unbounded = known, list[str]()

    def __call__(self, schema: Schema, at: str, inside: frozenset[str] = frozenset()) -> None:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name not in inside:
                self(self.known[name], f"{at}({name})", inside | {name})
            return
        for kind in ("anyOf", "oneOf", "allOf"):
            for number, one in enumerate(schema.get(kind, ())):
                self(one, f"{at}|{number}", inside)
        if limit := self._lacking(schema):
            self.unbounded.append(f"{at}: {limit}")
        parts = {
            **{f".{name}": one for name, one in schema.get("properties", {}).items()},
            **{f"[{n}]": one for n, one in enumerate(schema.get("prefixItems", ()))},
        }
        for name in ("items", "additionalProperties", "propertyNames"):
            if isinstance(schema.get(name), dict) and schema.get("maxItems") != 0:
                named = {"type": "string"} if name == "propertyNames" else {}
                parts[f"<{name}>"] = {**named, **schema[name]}
        for name, one in parts.items():
            self(one, f"{at}{name}", inside)

    def _lacking(self, schema: Schema) -> str:
        """The limit that a schema should have and has not."""
        if {"enum", "const"} & schema.keys() or schema.get("format") in _SHORT:
            return ""
        more = schema.get("additionalProperties", False)
        wanted: dict[str, tuple[str, ...]] = {
            "string": ("maxLength",),
            "array": ("maxItems",),
            "integer": ("maximum",),
            "number": ("maximum",),
            "object": () if more is False else ("propertyNames", "maxProperties"),
        }
        if (kind := schema.get("type")) in wanted:
            lacking = [name for name in wanted[kind] if name not in schema]
            return " and ".join(lacking)
        combined = {"anyOf", "oneOf", "allOf", "properties"} & schema.keys()
        return "" if kind or combined else "a type"


def requests_of(app: FastAPI) -> Iterator[tuple[str, str, str, Schema]]:
    """Each value of each request: method and path, where it stands, its name, its schema."""
    for path, methods in app.openapi()["paths"].items():
        for method, told in methods.items():
            for one in told.get("parameters", ()):
                yield f"{method.upper()} {path}", one["in"], one["name"], one["schema"]
            for kind, held in told.get("requestBody", {}).get("content", {}).items():
                yield f"{method.upper()} {path}", "body", kind, held["schema"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def client(data: Path) -> Iterator[TestClient]:
    who = [person("ann", role="operator"), person("zoe", role="curator")]
    given = {"people": who, "audit": {}, "limits": {"body_mb": 0.5}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXLOOP_DATA_DIR", str(data))
        with TestClient(create_app(ServerSettings.of(given)), headers=as_("zoe")) as found:
            yield found


def app_of(client: TestClient) -> FastAPI:
    assert isinstance(client.app, FastAPI)
    return client.app


def test_every_value_of_every_route_has_a_limit(client: TestClient) -> None:
    app = app_of(client)
    walk = Walk(app.openapi()["components"]["schemas"])
    routes = [*requests_of(app)]
    assert {place for _, place, *_ in routes} == {"path", "query", "header", "body"}
    assert len(routes) > 70
    for route, place, name, schema in routes:
        walk(schema, f"{route} {place} {name}")
    assert walk.unbounded == []


def test_every_argument_of_every_tool_has_a_limit(client: TestClient) -> None:
    from lexloop_server.mcp import LexloopMcp

    serving = app_of(client).state.serving
    offered = LexloopMcp(serving, lambda _: serving)
    assert len(offered.tools) > 4
    unbounded = []
    for tool in offered.tools.values():
        walk = Walk(tool.parameters.get("$defs", {}))
        walk(tool.parameters, tool.name)
        unbounded += walk.unbounded
    assert unbounded == []


def test_a_walk_finds_what_has_no_limit() -> None:
    walk = Walk({"Deep": {"type": "object", "properties": {"x": {"type": "string"}}}})
    walk(
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "string", "maxLength": 3}},
                "b": {"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "null"}]},
                "c": {"type": "object", "additionalProperties": True},
                "d": {"type": "integer", "minimum": 0},
                "e": {},
                "f": {"type": "string", "enum": ["g"]},
            },
        },
        "tool",
    )
    assert walk.unbounded == [
        "tool.a: maxItems",
        "tool.b|0(Deep).x: maxLength",
        "tool.c: propertyNames and maxProperties",
        "tool.d: maximum",
        "tool.e: a type",
    ]


def filled(schema: Schema, known: Schema, long: str) -> Any:
    """A value of a schema in which every string is this one."""
    if "$ref" in schema:
        return filled(known[schema["$ref"].rpartition("/")[2]], known, long)
    for kind in ("anyOf", "oneOf", "allOf"):
        if kind in schema:
            return filled(schema[kind][0], known, long)
    if {"enum", "const"} & schema.keys():
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        return [filled(one, known, long) for one in items if one]
    if kind == "object":
        return {n: filled(one, known, long) for n, one in schema.get("properties", {}).items()}
    return {"string": long, "integer": 1, "number": 1, "boolean": False}.get(str(kind))


def logged(data: Path) -> int:
    return sum(one.stat().st_size for one in (data / FOLDER).glob("*.jsonl"))


@pytest.mark.parametrize("char", ["\x7f", "x"])
def test_what_is_too_long_is_refused_and_written_nowhere(
    client: TestClient, data: Path, char: str
) -> None:
    """The name of a collection, a million long, once left six megabytes before it was refused."""
    app, before = app_of(client), logged(data)
    known = app.openapi()["components"]["schemas"]
    told = client.post("/api/collections", json={"name": char * 400_000})
    assert told.status_code == 422
    assert len(told.content) < 2000
    for path, methods in app.openapi()["paths"].items():
        for method, about in methods.items():
            content = about.get("requestBody", {}).get("content", {})
            if method == "get" or "multipart/form-data" in content or path == "/api/session":
                continue
            long_path = path.replace("{", "").replace("}", "")
            for one in about.get("parameters", ()):
                if one["in"] == "path":
                    long_path = path.replace(f"{{{one['name']}}}", quote(char * 5000))
            body = {
                kind: filled(held["schema"], known, char * 120_000)
                for kind, held in content.items()
            }.get("application/json")
            query = {
                one["name"]: char * 5000
                for one in about.get("parameters", ())
                if one["in"] == "query" and one["schema"].get("type") != "boolean"
            }
            told = client.request(method, long_path, json=body, params=query)
            if body is not None or query or "{" in path:
                assert 400 <= told.status_code < 500, (method, path, told.text[:200])
    assert logged(data) == before


def test_a_body_of_any_route_has_a_limit(client: TestClient, data: Path) -> None:
    """Half a megabyte in this server's settings, whatever the route and its headers say."""
    before = logged(data)
    body, size = b"[" * 600_000, str(600_000)
    routes = {
        (method, path)
        for path, methods in app_of(client).openapi()["paths"].items()
        for method, told in methods.items()
        if "application/json" in told.get("requestBody", {}).get("content", {})
    }
    assert len(routes) >= 7
    for method, path in [*sorted(routes), ("post", "/mcp")]:
        place = path.replace("{", "").replace("}", "")
        told = client.request(
            method, place, content=body, headers={"Content-Length": size, **JSON_BODY}
        )
        assert told.status_code == 413, (method, path, told.text[:200])
        assert "More than" in json.dumps(told.json())
    assert logged(data) == before


JSON_BODY = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def test_a_query_parameter_that_a_route_does_not_take_is_refused(
    client: TestClient, data: Path
) -> None:
    """Ignored, a misspelt ``forget`` only removes a file, and ``document`` means them all."""
    app, before = app_of(client), logged(data)
    for path, methods in app.openapi()["paths"].items():
        for method in methods if path.startswith("/api/") else ():
            told = client.request(method, path, params={"documnet": "x"}, headers=as_("ann"))
            assert told.status_code == 422, (method, path, told.text[:200])
            assert "query.documnet: unknown parameter" in told.json()["error"]["what"]
    assert logged(data) == before
    path = "/api/collections/laws/documents?document=a.txt&forgte=true"
    assert "did you mean forget?" in client.delete(path).json()["error"]["what"]


def test_every_query_parameter_of_the_schema_is_taken(client: TestClient) -> None:
    app, tried = app_of(client), 0
    for route, place, name, _ in requests_of(app):
        method, path = route.split()
        if place == "query":
            told = client.request(method, path, params={name: "1"}, headers=as_("ann"))
            assert "unknown parameter" not in told.text, route
            tried += 1
    assert tried > 25
