"""Who sees which collections, and what people may do with their own."""

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from servers import as_, people, reading_room
from sets import write_texts

from lexloop.core.errors import ConflictError, NotFoundError
from lexloop.store.view import View
from lexloop_server.collections import Collections
from lexloop_server.people import Person
from lexloop_server.state import Serving

ROOT = Path(__file__).parents[3]
WHO = people(
    ann={"may_upload": True, "tags": ["red"]}, bob={"may_upload": True, "collections": ["sample"]}
)
Room = tuple[TestClient, Serving]
LAW = "Article 1 Duty\nThe keeper must register the boat.\n"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    made = tmp_path_factory.mktemp("served")
    write_texts(made / "port", {"act.txt": LAW})
    named = {"sample": "sample", "port": str(made / "port"), "gone": str(made / "gone")}
    with reading_room(made / "data", named, people=WHO) as opened:
        yield opened


@pytest.fixture
def client(room: Room) -> TestClient:
    return room[0]


def send(
    client: TestClient, method: str, path: str = "", who: str = "ann", **more: Any
) -> tuple[int, Any]:
    found = client.request(method, f"/api/collections{path}", headers=as_(who), **more)
    return found.status_code, found.json() if found.content else None


def names(client: TestClient, who: str = "ann") -> list[str]:
    return [one["name"] for one in send(client, "GET", who=who)[1]]


def uploaded(client: TestClient, name: str, who: str = "ann", text: str = LAW) -> None:
    """Make a collection with one document, and wait until it is indexed."""
    assert send(client, "POST", who=who, json={"name": name}) == (201, {"name": name})
    files = {"files": ("act.txt", text.encode())}
    assert send(client, "POST", f"/{name}/documents", who, files=files)[0] == 202
    with client.stream("GET", f"/api/collections/{name}/indexing", headers=as_(who)) as events:
        assert "event: done" in [*events.iter_lines()]


def test_a_collection_that_cannot_be_opened_hides_no_other(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "lexloop.serve"):
        _, listed = send(client, "GET")
    assert [(one["name"], one["documents"]) for one in listed][:3] == [
        ("sample", 3),
        ("port", 1),
        ("gone", 0),
    ]
    assert listed[2]["trouble"] == "It cannot be opened; the server's log says why."
    assert "does not exist" in caplog.text
    assert "gone" not in json.dumps(listed[:2])
    # where the operator's folders lie is nobody's business
    assert str(ROOT) not in json.dumps(listed)
    assert "/served" not in json.dumps(listed)


def test_a_description_and_examples_are_made_of_the_contents(client: TestClient) -> None:
    port = send(client, "GET")[1][1]
    assert port["description"] == "Duty"
    assert port["titles"] == [{"document": "act.txt", "title": "Article 1 Duty"}]


def test_what_somebody_uploads_is_seen_by_nobody_else(client: TestClient) -> None:
    uploaded(client, "Boats of Ann", text="Article 1 Duty\nThe secret fleet must sail.\n")
    assert "Boats of Ann" in names(client)
    assert names(client, "bob") == ["sample"]
    # nor can he learn of it by its name: his own is another
    uploaded(client, "Boats of Ann", "bob", "Article 1 Duty\nThe rafts of Bob may float.\n")
    texts = {
        who: send(client, "GET", "/Boats of Ann/text", who, params={"document": "act.txt"})[1][
            "text"
        ]
        for who in ("ann", "bob")
    }
    assert "secret fleet" in texts["ann"]
    assert "rafts of Bob" in texts["bob"]
    assert send(client, "DELETE", "/Boats of Ann", "bob") == (204, None)
    assert "Boats of Ann" in names(client)
    assert send(client, "DELETE", "/Boats of Ann") == (204, None)
    assert "Boats of Ann" not in names(client)
    assert send(client, "GET", "/Boats of Ann/documents")[0] == 404


def test_the_operators_collections_are_read_only(client: TestClient) -> None:
    for method, path, more in (
        ("POST", "/port/documents", {"files": {"files": ("new.txt", b"x")}}),
        ("DELETE", "/port/documents", {"params": {"document": "act.txt"}}),
        ("DELETE", "/port", {}),
    ):
        status, told = send(client, method, path, **more)
        assert (status, told["error"]["kind"]) == (403, "AccessError")
    assert send(client, "POST", json={"name": "PORT"})[0] == 409
    # a name that Bob does not see is free for him
    assert send(client, "POST", who="bob", json={"name": "port"})[0] == 201
    assert send(client, "DELETE", "/port", "bob")[0] == 204


@pytest.mark.parametrize("name", ["", "../port", ".hidden", "a\x00b", "x" * 101, "\u202ea"])
def test_names_that_no_collection_can_have(client: TestClient, name: str) -> None:
    status, told = send(client, "POST", json={"name": name})
    assert (status, told["error"]["kind"]) == (400, "InputError")


def test_a_collection_without_files_is_there_and_cannot_be_asked(room: Room) -> None:
    client, parts = room
    assert send(client, "POST", json={"name": "Empty"})[0] == 201
    assert send(client, "POST", json={"name": "empty"})[0] == 409
    empty = next(one for one in send(client, "GET")[1] if one["name"] == "Empty")
    assert (empty["documents"], empty["mine"], empty["trouble"]) == (0, True, "")
    assert send(client, "GET", "/Empty/documents")[1] == {
        "documents": [], "skipped": [], "indexing": False
    }  # fmt: skip
    ann = parts.people.by_key("key-ann")
    assert "Empty" not in parts.collections.names(ann)
    with pytest.raises(ConflictError, match="not indexed yet"):
        parts.collections.settings(ann, "Empty")
    assert send(client, "GET", "/Empty/tree", params={"document": "a"})[0] == 409
    assert send(client, "DELETE", "/Empty")[0] == 204


def test_who_may_not_upload(tmp_path: Path) -> None:
    with reading_room(tmp_path, {"sample": "sample"}, people=people()) as (client, parts):
        assert send(client, "POST", json={"name": "Mine"})[0] == 403
        # what is there from before may be read, and not changed
        parts.uploads.make("ann", "Mine")
        assert "Mine" in names(client)
        assert "Mine" not in names(client, "bob")
        files = {"files": ("act.txt", b"x")}
        assert send(client, "POST", "/Mine/documents", files=files)[0] == 403
        assert send(client, "DELETE", "/Mine")[0] == 403


def test_a_request_cannot_widen_what_somebody_sees(room: Room) -> None:
    _, parts = room
    bob = Person(name="bob", collections=("sample",), tags=("blue",))
    settings = parts.collections.settings(
        bob, "sample", **{"access.tags": ["red"], "corpus": "/etc", "plan.k": 3}
    )
    assert (settings.access.tags, settings.corpus, settings.plan.k) == (("blue",), "sample", 3)
    with pytest.raises(NotFoundError):
        parts.collections.settings(bob, "port")


def test_a_collection_that_takes_long_to_open_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_texts(tmp_path / "port", {"act.txt": LAW})
    held, wanted = threading.Event(), Collections.view

    def slowly(self: Collections, person: Person, name: str) -> View:
        assert name == "sample" or held.wait(60)
        return wanted(self, person, name)

    monkeypatch.setattr(Collections, "view", slowly)
    named = {"sample": "sample", "port": str(folder)}
    with reading_room(tmp_path / "data", named) as (client, parts):
        parts.uploads.make("ann", "Hers")  # without people all is seen
        parts.collections.view(parts.people.identified({}, "", ""), "sample")
        monkeypatch.setattr("lexloop_server.collections._PATIENCE_S", 2.0)
        for _ in range(3):
            sample, port, _ = send(client, "GET")[1]
            assert (sample["documents"], sample["trouble"]) == (3, "")
            assert port["trouble"].startswith("It is being read for the first time")
        held.set()
        monkeypatch.setattr("lexloop_server.collections._PATIENCE_S", 60.0)
        assert [one["documents"] for one in send(client, "GET")[1]] == [3, 1, 0]
        (folder / "new.txt").write_text("Article 1 Fees\nThe owner must pay the fee.\n")
        assert [one["documents"] for one in send(client, "GET")[1]] == [3, 2, 0]
