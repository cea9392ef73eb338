"""Routes of other packages pass the checks of every route; without any, the server is whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar
from unittest.mock import patch

import anyio
import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from mcp_sessions import opened, text_of
from pydantic import Field
from servers import QUESTION, as_, got, person, reading_room, served_from

from lexloop.core.errors import InputError
from lexloop.core.running import give_way
from lexloop_server.audit_lines import raw_lines
from lexloop_server.plugins import Asker, Host, Hosted, Person, Plugin
from lexloop_server.roles import NEEDED
from lexloop_server.shapes.tools import Result
from lexloop_server.state import Serving

PEOPLE = [person("ann", role="operator"), person("bob", collections=[])]
router = APIRouter(prefix="/api")


@router.get("/titles")
async def titles(person: Asker, host: Hosted, name: str) -> list[str]:
    """The titles of a collection."""
    host.note(person, "titles", collection=name)
    return [*host.collections.view(person, name).titles.values()]


@router.get("/forgotten")
def forgotten() -> None:
    """A route whose role nobody stated."""


@router.get("/me")
def me() -> str:
    """A route of the server's."""
    return "stolen"


class Counted(Result):
    """A number of documents."""

    documents: int


class Titles(Plugin):
    """A plugin with a route, a tool and a suggestion."""

    needed: ClassVar = {
        "GET /api/titles": "curator",
        "GET /api/people": "reader",  # the server's own role for it stays
        "tool count": "curator",
    }
    router = router

    def tools(self) -> dict[str, Callable[..., Result]]:
        def count(person: Person, name: Annotated[str, Field(max_length=9)]) -> Counted:
            """Count the documents of a collection."""
            give_way()
            return Counted(documents=len(self.host.collections.view(person, name).documents))

        return {"Count": count}

    def suggested(self, view: Any, settings: Any) -> list[str]:
        return ["What is a bias audit?"]


def entry(plugin: Callable[[Host], Plugin]) -> Any:
    return SimpleNamespace(load=lambda: plugin, value="titles", dist=None)


@contextmanager
def bringing(**entries: Any) -> Iterator[None]:
    """Packages that bring these plugins and no others."""
    with patch("lexloop_server.plugins.brought", lambda _: entries):
        yield


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Serving]]:
    data = tmp_path_factory.mktemp("data")
    with (
        bringing(titles=entry(Titles)),
        reading_room(data, {"sample": "sample"}, people=PEOPLE, audit={}) as found,
    ):
        yield found


def told(client: TestClient, path: str, who: str) -> tuple[int, Any]:
    found = client.get(path, headers=as_(who))
    return found.status_code, found.json()


def test_a_route_of_a_plugin_passes_the_checks_of_every_route(
    room: tuple[TestClient, Serving],
) -> None:
    client, serving = room
    status, found = told(client, "/api/titles?name=sample", "ann")
    assert (status, len(found)) == (200, 3)
    assert client.get("/api/titles?name=sample").status_code == 401
    status, found = told(client, "/api/titles?name=sample", "bob")
    assert (status, found["error"]["kind"]) == (403, "RoleNeeded")
    assert told(client, "/api/titles?name=nothing", "ann")[0] == 404
    status, found = told(client, "/api/titles?name=sample&nmae=x", "ann")
    assert (status, "query.nmae: unknown parameter" in found["error"]["what"]) == (422, True)
    assert told(client, "/api/me", "ann")[1]["plugins"] == ["titles"]
    assert serving.audit.folder is not None
    assert b'"did":"titles","who":"ann"' in b"".join(raw_lines(serving.audit.folder))


def test_a_plugin_opens_nothing_by_mistake(room: tuple[TestClient, Serving]) -> None:
    client, _ = room
    status, found = told(client, "/api/forgotten", "ann")
    assert (status, "no role is stated" in found["error"]["what"]) == (403, True)
    assert told(client, "/api/people", "bob")[1]["error"]["kind"] == "RoleNeeded"
    assert told(client, "/api/me", "ann")[1]["name"] == "ann"


def test_its_questions_are_suggested(room: tuple[TestClient, Serving]) -> None:
    (sample,) = told(room[0], "/api/collections", "ann")[1]
    assert [example["question"] for example in sample["examples"]] == ["What is a bias audit?"]


def test_its_tool_is_offered_and_is_for_its_role(tmp_path: Path) -> None:
    async def asked(address: str, who: str) -> Any:
        async with opened(address, who) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert [*tools["count"].input_schema["properties"]] == ["name"]
            return await session.call_tool("count", {"name": "sample"})

    with bringing(titles=entry(Titles)), served_from(tmp_path, people=PEOPLE) as address:
        assert anyio.run(asked, address, "ann").structured_content == {"documents": 3}
        assert "needs the role curator" in text_of(anyio.run(asked, address, "bob"))


def test_without_plugins_the_server_asks_reads_and_lists(tmp_path: Path) -> None:
    with bringing(), reading_room(tmp_path, {"sample": "sample"}) as (client, serving):
        assert client.get("/api/me").json()["plugins"] == []
        (sample,) = client.get("/api/collections").json()
        assert (sample["documents"], sample["examples"], sample["trying"]) == (3, [], False)
        answer = client.post("/api/ask", json=QUESTION).json()
        assert answer["passed"]
        assert got(client, "sample/tree", document="law.txt")["units"]
        for path in ("tables", "search?q=bias", "collections/sample/register"):
            assert client.get(f"/api/{path}").status_code == 404
        assert serving.needed == {}
        paths = client.get("/api/openapi.json").json()["paths"]
        known = {doing.partition(" ")[2].replace(":path", "") for doing in NEEDED}
        assert {*paths} <= known


def test_a_plugin_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    def broken() -> Any:
        raise ImportError("No module named 'titles'")

    plugin = SimpleNamespace(load=broken, value="titles", dist=SimpleNamespace(name="their-titles"))
    with (
        bringing(titles=plugin),
        pytest.raises(InputError, match="their-titles brings, cannot be imported"),
        reading_room(tmp_path, {"sample": "sample"}),
    ):
        pass
