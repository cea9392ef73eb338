"""Collections shared by name: who sees them as what, what a grant allows, and what ends with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import DOGS, PENALTY, as_, people, person, reading_room, served_from

from lexloop.core.errors import DataError
from lexloop_server.sharing import FILE
from lexloop_server.uploads import UploadStore

WHO = [
    person("ann", role="curator"),
    person("bob", role="curator", tags=["staff"]),
    person("eve", role="reader", tags=["staff"]),
    person("zoe", role="operator"),
]
SHARED = "ann~Dogs"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on which ann has the dogs."""
    with served_from(tmp_path_factory.mktemp("data"), people=WHO) as found:
        assert call(found, "POST", json={"name": "Dogs"})[0] == 201
        upload(found, "Dogs")
        yield found


@pytest.fixture(autouse=True)
def _nothing_shared(address: str) -> Iterator[None]:
    yield
    for grant in call(address, "GET", "/Dogs/grants")[1]["grants"]:
        whom = {name: grant[name] for name in ("person", "tag") if grant[name] is not None}
        assert call(address, "DELETE", "/Dogs/grants", params=whom)[0] == 200


def call(address: str, method: str, path: str = "", who: str = "ann", **more: Any) -> Any:
    url = f"{address}/api/collections{path}"
    found = httpx.request(method, url, headers=as_(who), timeout=60, **more)
    return found.status_code, found.json() if found.content else None


def upload(address: str, name: str, who: str = "ann", file: str = "dogs.txt") -> None:
    """Send a document, and wait until it is indexed."""
    files = {"files": (file, DOGS.encode())}
    assert call(address, "POST", f"/{name}/documents", who, files=files)[0] == 202
    url = f"{address}/api/collections/{name}/indexing"
    with httpx.stream("GET", url, headers=as_(who), timeout=60) as events:
        assert "event: done" in [*events.iter_lines()]


def share(address: str, status: int = 200, who: str = "ann", **grant: Any) -> Any:
    found, told = call(address, "PUT", "/Dogs/grants", who, json=grant)
    assert found == status, told
    return told


def seen(address: str, who: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in call(address, "GET", who=who)[1]}


def ask(address: str, who: str, **body: Any) -> tuple[int, Any]:
    given = {"question": PENALTY, "collections": [SHARED], **body}
    found = httpx.post(f"{address}/api/ask", json=given, headers=as_(who), timeout=60)
    return found.status_code, found.json()


def test_a_person_sees_what_is_theirs_and_what_is_shared(address: str) -> None:
    for who in ("bob", "eve", "zoe"):
        assert [*seen(address, who)] == ["sample"]
    assert share(address, person="eve") == {
        "grants": [{"person": "eve", "tag": None, "right": "read"}]
    }
    assert [*seen(address, "bob")] == ["sample"]
    hers = seen(address, "eve")[SHARED]
    assert (hers["mine"], hers["owner"], hers["may_change"], hers["documents"]) == (
        False, "ann", False, 1
    )  # fmt: skip
    own = seen(address, "ann")["Dogs"]
    assert (own["mine"], own["owner"], own["may_change"]) == (True, "", True)
    status, answer = ask(address, "eve")
    assert status == 200
    assert "90 dollars" in answer["answer"]
    assert {one["collection"] for one in answer["citations"]} == {SHARED}
    models = httpx.get(f"{address}/v1/models", headers=as_("eve")).json()["data"]
    assert f"lexloop/{SHARED}" in [one["id"] for one in models]
    completed = httpx.post(
        f"{address}/v1/chat/completions",
        headers=as_("eve"),
        timeout=60,
        json={"model": f"lexloop/{SHARED}", "messages": [{"role": "user", "content": PENALTY}]},
    )
    assert "90 dollars" in completed.json()["choices"][0]["message"]["content"]
    question = "What is the civil penalty for a keeper without a dog licence?"
    both = ask(address, "eve", question=question, collections=["sample", SHARED])[1]
    assert SHARED in both["collections"]


def test_existence_is_told_to_nobody_with_whom_it_is_not_shared(address: str) -> None:
    files = {"files": ("a.txt", b"x")}
    for method, path, more in (
        ("GET", "/documents", {}),
        ("GET", "/tree", {"params": {"document": "dogs.txt"}}),
        ("GET", "/indexing", {}),
        ("POST", "/documents", {"files": files}),
        ("DELETE", "/documents", {"params": {"document": "dogs.txt"}}),
        ("GET", "/grants", {}),
        ("PUT", "/grants", {"json": {"person": "bob", "right": "curate"}}),
        ("DELETE", "/grants", {"params": {"person": "bob"}}),
        ("DELETE", "", {}),
    ):
        for name, other in (("Dogs", "Cats"), (SHARED, "ann~Cats")):
            there = call(address, method, f"/{name}{path}", "bob", **more)
            nowhere = call(address, method, f"/{other}{path}", "bob", **more)
            assert there[0] == nowhere[0] == 404
            assert there[1]["error"]["what"].replace("Dogs", "Cats") == nowhere[1]["error"]["what"]
    there, nowhere = ask(address, "bob"), ask(address, "bob", collections=["ann~Cats"])
    assert there[0] == nowhere[0] == 404
    assert there[1]["error"]["what"].replace("Dogs", "Cats") == nowhere[1]["error"]["what"]
    # nor by a name that is taken
    assert call(address, "POST", who="bob", json={"name": "Dogs"})[0] == 201
    assert call(address, "DELETE", "/Dogs", "bob")[0] == 204


def test_what_is_taken_back_is_gone_at_once_with_what_was_answered_from_it(address: str) -> None:
    share(address, tag="staff")
    status, answer = ask(address, "eve")
    assert status == 200
    thread = f"{address}/api/threads/{answer['thread']}"
    assert httpx.get(thread, headers=as_("eve")).status_code == 200
    taken = call(address, "DELETE", "/Dogs/grants", params={"tag": "staff"})
    assert taken == (200, {"grants": []})
    assert call(address, "DELETE", "/Dogs/grants", params={"tag": "staff"})[0] == 200
    assert [*seen(address, "eve")] == ["sample"]
    assert ask(address, "eve")[0] == 404
    closed = httpx.get(thread, headers=as_("eve"))
    assert (closed.status_code, closed.json()["error"]["kind"]) == (403, "AccessError")
    export = httpx.get(f"{thread}/export", params={"format": "md"}, headers=as_("eve"))
    assert export.status_code == 403


def test_a_grant_to_read_changes_nothing_and_one_to_curate_only_documents(address: str) -> None:
    share(address, tag="staff", right="read")
    files = {"files": ("more.txt", DOGS.encode())}
    status, told = call(address, "POST", f"/{SHARED}/documents", "bob", files=files)
    assert (status, told["error"]["kind"]) == (403, "AccessError")
    share(address, tag="staff", right="curate")
    assert share(address, person="bob")["grants"] == [
        {"person": None, "tag": "staff", "right": "curate"},
        {"person": "bob", "tag": None, "right": "read"},
    ]
    assert seen(address, "bob")[SHARED]["may_change"]  # by his tag, whatever his name says
    upload(address, SHARED, "bob", "more.txt")
    told = call(address, "GET", "/Dogs/documents")[1]["documents"]
    assert [one["name"] for one in told] == ["dogs.txt", "more.txt"]
    gone = call(address, "DELETE", f"/{SHARED}/documents", "bob", params={"document": "more.txt"})
    assert gone[0] == 202
    for method, path, more in (
        ("DELETE", "", {}),
        ("GET", "/grants", {}),
        ("PUT", "/grants", {"json": {"person": "zoe"}}),
    ):
        assert call(address, method, f"/{SHARED}{path}", "bob", **more)[0] == 403
    # the right of a grant is none where the role does not reach
    refused = call(address, "POST", f"/{SHARED}/documents", "eve", files=files)
    assert refused[1]["error"]["kind"] == "RoleNeeded"
    assert not seen(address, "eve")[SHARED]["may_change"]


@pytest.mark.parametrize(
    "grant",
    [
        {},
        {"person": "bob", "tag": "staff"},
        {"person": "../bob"},
        {"person": "x" * 101},
        {"person": "bob\nann"},
        {"person": "bob", "right": "own"},
        {"person": "bob", "more": 1},
        {"tag": ""},
    ],
)
def test_grants_that_cannot_be_are_refused(address: str, grant: dict[str, Any]) -> None:
    share(address, 422, **grant)
    assert call(address, "GET", "/Dogs/grants")[1] == {"grants": []}


def test_whose_grant_goes_has_to_be_said(address: str) -> None:
    for whom in ({}, {"person": "bob", "tag": "staff"}, {"person": "a\x00"}):
        assert call(address, "DELETE", "/Dogs/grants", params=whom)[0] == 400


def test_the_operators_collections_are_shared_by_the_settings_alone(address: str) -> None:
    told = call(address, "PUT", "/sample/grants", json={"person": "bob"})
    assert (told[0], told[1]["error"]["kind"]) == (403, "AccessError")


def test_grants_outlast_the_server_and_go_with_their_collection(tmp_path: Path) -> None:
    room = {"data": tmp_path, "collections": {"sample": "sample"}, "people": WHO}
    name = "Ünicode 犬"
    with reading_room(**room) as (client, _):

        def send(method: str, path: str = "", who: str = "ann", **more: Any) -> Any:
            return client.request(method, f"/api/collections{path}", headers=as_(who), **more)

        assert send("POST", json={"name": name}).status_code == 201
        assert send("PUT", f"/{name}/grants", json={"person": "bob"}).status_code == 200
        # who is named need not be known yet
        assert send("PUT", f"/{name}/grants", json={"person": "Zoë"}).status_code == 200
    (kept,) = tmp_path.glob(f"collections/*/*/{FILE}")
    assert kept.stat().st_mode & 0o077 == 0
    with reading_room(**room) as (client, parts):
        bob = parts.people.by_key("key-bob")
        assert [*parts.collections.held(bob)] == [f"ann~{name}"]
        headers = as_("ann")
        assert client.delete(f"/api/collections/{name}", headers=headers).status_code == 204
        assert parts.collections.held(bob) == {}
        given = {"name": name}
        assert client.post("/api/collections", headers=headers, json=given).status_code == 201
        assert parts.collections.held(bob) == {}
    assert [*tmp_path.glob(f"collections/*/*/{FILE}")] == []


@pytest.mark.parametrize("held", ["", "[]", "{}", '{"owner": "ann", "grants": [{}]}', "\xff"])
def test_a_damaged_file_of_grants_is_named_at_the_start(tmp_path: Path, held: str) -> None:
    one = UploadStore(tmp_path / "collections").make("ann", "Dogs")
    (one.folder / FILE).write_bytes(held.encode("latin-1"))
    room = reading_room(tmp_path, {"sample": "sample"}, people=people())
    with pytest.raises(DataError, match="with whom Dogs is shared"), room:
        pass


def test_where_there_are_no_people_there_is_nobody_to_share_with(tmp_path: Path) -> None:
    with reading_room(tmp_path, {"sample": "sample"}) as (client, _):
        assert client.post("/api/collections", json={"name": "Dogs"}).status_code == 201
        told = client.put("/api/collections/Dogs/grants", json={"person": "bob"})
    assert (told.status_code, told.json()["error"]["what"]) == (
        400, "There is nobody to share with."
    )  # fmt: skip
    assert json.loads(told.content)
