"""Tables over HTTP and MCP: filled in the background, one person's, corrected by one at a time."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from disks import filled, small_disk
from fastapi.testclient import TestClient
from servers import as_, people, reading_room, tables_of
from sets import whole_text, write_texts

from lexloop_server.state import Serving
from lexloop_workbench.shapes.review import REVIEW_FORMATS

LEASE = whole_text("lease_short.txt")
SECRET = LEASE.replace("4,000", "7,000")
LOAN = "LOAN\n\n1. Loan. The lender lends the borrower the sum of $90,000 on this day.\n"
ASKED = "What rent does the tenant pay?"
Room = tuple[TestClient, Serving]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    made = tmp_path_factory.mktemp("served")
    (made / "deals").mkdir()
    for name, text in (("lease.txt", LEASE), ("loan.txt", LOAN), ("secret.txt", SECRET)):
        (made / "deals" / name).write_text(text, "utf-8")
    (made / "deals" / "metadata.csv").write_text("file,tags\nsecret.txt,red\n")
    who = people(ann={"tags": ["red"]}, bob={})
    named = {"deals": str(made / "deals")}
    with reading_room(made / "data", named, people=who, audit={}) as found:
        yield found


def told(found: httpx.Response, status: int = 200) -> Any:
    assert found.status_code == status, found.text
    return found.json() if found.content else None


def made(room: Room, who: str = "ann", **more: Any) -> dict[str, Any]:
    """A table that is filled."""
    client, serving = room
    body = {"collection": "deals", "questions": [ASKED], **more}
    table: dict[str, Any] = told(client.post("/api/tables", json=body, headers=as_(who)), 201)
    tables_of(serving).idle()
    return table


def rows(room: Room, id: str, who: str = "ann", **query: Any) -> Any:
    return told(room[0].get(f"/api/tables/{id}/rows", params=query, headers=as_(who)))


def test_a_table_is_made_filled_and_listed(room: Room) -> None:
    client, _ = room
    table = made(room, title="Rents")
    held = told(client.get(f"/api/tables/{table['id']}", headers=as_("ann")))
    assert held["run"] == {"state": "done", "done": 3, "of": 3, "trouble": ""}
    assert (held["title"], held["progress"]["cells"], held["owner"]) == ("Rents", 3, "ann")
    found = rows(room, table["id"])
    assert [one["document"] for one in found["rows"]] == ["lease.txt", "loan.txt", "secret.txt"]
    [cell] = found["rows"][0]["cells"].values()
    quote = cell["citations"][0]
    assert LEASE[quote["start"] : quote["end"]] == quote["quote"]
    assert "$4,000" in cell["answer"]
    listed = told(client.get("/api/tables", headers=as_("ann")))
    assert table["id"] in [one["id"] for one in listed]


def test_a_table_is_one_persons(room: Room) -> None:
    client, _ = room
    id = made(room)["id"]
    for method, path in (
        ("GET", ""),
        ("GET", "/rows"),
        ("GET", "/export"),
        ("POST", "/run"),
        ("DELETE", "/run"),
        ("DELETE", ""),
    ):
        found = client.request(method, f"/api/tables/{id}{path}", headers=as_("bob"))
        assert found.status_code == 404, path
    for odd, status in (("..%2f..%2fx", 404), ("x" * 100, 404), ("x" * 101, 422), ("é", 404)):
        assert client.get(f"/api/tables/{odd}", headers=as_("ann")).status_code == status
    assert id not in [one["id"] for one in told(client.get("/api/tables", headers=as_("bob")))]
    his = rows(room, made(room, "bob")["id"], "bob")["rows"]  # who may not see the secret
    assert [one["document"] for one in his] == ["lease.txt", "loan.txt"]


def test_a_table_of_another_version_hides_no_other_and_is_left_as_it_is(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    client, serving = room
    id, other = made(room)["id"], made(room)["id"]
    (file,) = tables_of(serving)._folder.glob(f"*/{id}.sqlite")
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 2")
    before = file.read_bytes()
    listed = [one["id"] for one in told(client.get("/api/tables", headers=as_("ann")))]
    assert other in listed
    assert id not in listed
    assert caplog.text.count("another version of Lexloop made it") == 1
    error = told(client.get(f"/api/tables/{id}", headers=as_("ann")), 503)["error"]
    assert error["kind"] == "DataError"
    assert file.read_bytes() == before
    file.unlink()


def test_rows_are_filtered_and_bad_conditions_told(room: Room) -> None:
    id = made(room)["id"]
    assert rows(room, id, containing="LOAN")["total"] == 1
    assert rows(room, id, limit=1, offset=2)["rows"][0]["document"] == "secret.txt"
    assert rows(room, id, corrected=True)["total"] == 0
    client, _ = room
    for query in ({"sort": "x"}, {"limit": 0}, {"states": "odd"}, {"what": "x"}):
        found = client.get(f"/api/tables/{id}/rows", params=query, headers=as_("ann"))
        assert found.status_code == 422, query
    found = client.get(f"/api/tables/{id}/rows", params={"question": "x"}, headers=as_("ann"))
    assert found.status_code == 400


def test_of_two_editors_the_second_gets_a_conflict(room: Room) -> None:
    client, _ = room
    table = made(room)
    question = table["checklist"]["questions"][0]["id"]
    body = {"document": "loan.txt", "question": question, "expected": 0, "state": "not stated"}
    path = f"/api/tables/{table['id']}/cell"
    cell = told(client.put(path, json={**body, "note": "no rent"}, headers=as_("ann")))
    assert (cell["revision"], cell["correction"]["by"]) == (1, "ann")
    late = client.put(path, json={**body, "state": "stated"}, headers=as_("ann"))
    assert told(late, 409)["error"]["kind"] == "ConflictError"
    query = {"document": "loan.txt", "question": question}
    kept = told(
        client.get(f"/api/tables/{table['id']}/corrections", params=query, headers=as_("ann"))
    )
    assert [one["note"] for one in kept] == ["no rent"]
    gone = client.put(path, json={**body, "document": "none"}, headers=as_("ann"))
    assert gone.status_code == 400


@pytest.mark.parametrize("form", REVIEW_FORMATS)
def test_it_is_exported(room: Room, form: str) -> None:
    table = made(room, title="Rents / 2026")
    found = room[0].get(
        f"/api/tables/{table['id']}/export", params={"format": form}, headers=as_("ann")
    )
    assert found.status_code == 200
    assert found.headers["content-disposition"].startswith(
        f'attachment; filename="Rents 2026.{form}'
    )
    assert len(found.content) > 100


def test_tables_are_read_from_a_full_disk(tmp_path: Path) -> None:
    write_texts(tmp_path / "deals", {"lease.txt": LEASE})
    with small_disk(tmp_path / "disk", "8m") as disk:
        named = {"deals": str(tmp_path / "deals")}
        with reading_room(disk / "data", named, people=people()) as room:
            id = made(room)["id"]
            with tables_of(room[1]).opened(room[1].people.by_key("key-ann"), id) as store:
                store.want(True)  # as a run that was killed leaves it
        with filled(disk), reading_room(disk / "data", named, people=people()) as room:
            [table] = told(room[0].get("/api/tables", headers=as_("ann")))
            assert (table["trouble"], table["progress"]["done"]) == ("", 1)
            [row] = rows(room, id)["rows"]
            assert "$4,000" in str(row)
            tables_of(room[1]).idle()
            table = told(room[0].get(f"/api/tables/{id}", headers=as_("ann")))
            assert table["run"]["state"] == "failed"
            assert "disk is full" in table["run"]["trouble"]
            assert len(rows(room, id)["rows"]) == 1


def test_it_is_run_again_stopped_and_deleted(room: Room) -> None:
    client, serving = room
    id = made(room)["id"]
    again = told(client.post(f"/api/tables/{id}/run", headers=as_("ann")), 202)
    assert again["progress"]["done"] == 3
    tables_of(serving).idle()
    told(client.delete(f"/api/tables/{id}/run", headers=as_("ann")), 202)
    told(client.delete(f"/api/tables/{id}", headers=as_("ann")), 204)
    assert client.get(f"/api/tables/{id}", headers=as_("ann")).status_code == 404


def test_a_run_that_a_crash_ended_goes_on_once_it_is_looked_at(room: Room) -> None:
    client, serving = room
    id = made(room)["id"]
    tables_of(serving)._runs.clear()  # as after a start
    with tables_of(serving).opened(serving.people._known["ann"], id) as store:
        store.forget(["loan.txt"])
        store.want(True)
    began = told(client.get(f"/api/tables/{id}", headers=as_("ann")))["run"]["state"]
    assert began in ("waiting", "running", "done")
    tables_of(serving).idle()
    until = time.monotonic() + 30
    while told(client.get(f"/api/tables/{id}", headers=as_("ann")))["run"]["state"] != "done":
        assert time.monotonic() < until
    assert rows(room, id)["total"] == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"collection": "none", "questions": [ASKED]}, 404),
        ({"collection": "deals"}, 400),
        ({"collection": "deals", "questions": ["?!"]}, 400),
        ({"collection": "deals", "questions": ["x"] * 201}, 422),
        ({"collection": "deals", "checklists": ["../nda"]}, 400),
        ({"collection": "deals", "questions": [ASKED], "corpus": "/etc"}, 422),
    ],
)
def test_what_cannot_be_asked_is_told(room: Room, body: dict[str, Any], status: int) -> None:
    assert room[0].post("/api/tables", json=body, headers=as_("ann")).status_code == status


def test_checklists_are_listed(room: Room) -> None:
    listed = told(room[0].get("/api/checklists", headers=as_("ann")))
    assert [one["name"] for one in listed] == ["commercial", "dpa", "lease", "nda", "privacy"]
