"""Uploads over HTTP; the jobs that index them while the old index answers."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY, patch
from urllib.parse import urlsplit

import httpx
import pytest
from disks import filled, small_disk
from fastapi.testclient import TestClient
from fpdf import FPDF
from servers import as_, eventually, people, reading_room, served

from lexloop.core.settings import Connection, Settings
from lexloop.store.manifest import Manifest
from lexloop_server import indexing
from lexloop_server.indexing import Indexing, Job
from lexloop_server.state import Serving
from lexloop_server.uploads import UploadStore

LAW = b"Article 1 Duty\nThe keeper must register the boat.\n"
OTHER = b"Article 1 Duty\nThe keeper must register the raft.\n"
BROKEN = b"%PDF-1.4 nothing"
Room = tuple[TestClient, Serving]
Sent = tuple[str, bytes]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    who = people(ann={"may_upload": True})
    limits = {"upload_mb": 0.05, "stored_mb": 0.06}
    data = tmp_path_factory.mktemp("uploads")
    with reading_room(data, {"sample": "sample"}, people=who, limits=limits) as opened:
        yield opened


@pytest.fixture
def client(room: Room) -> TestClient:
    return room[0]


@pytest.fixture
def mine(room: Room) -> Iterator[str]:
    """A new collection of Ann's."""
    client, parts = room
    made = client.post("/api/collections", json={"name": "Mine"}, headers=as_("ann"))
    assert made.status_code == 201
    yield "Mine"
    assert not [*parts.uploads.of("ann")["Mine"].folder.glob(".upload-*")]
    assert client.delete("/api/collections/Mine", headers=as_("ann")).status_code == 204


def upload(client: TestClient, *files: Sent, **query: Any) -> tuple[int, Any]:
    sent = [("files", file) for file in files]
    found = client.post(
        "/api/collections/Mine/documents", files=sent, params=query, headers=as_("ann")
    )
    return found.status_code, found.json()


def wait(client: TestClient) -> list[tuple[str, Any]]:
    """Follow the job to its end, and return its events."""
    url = "/api/collections/Mine/indexing"
    with client.stream("GET", url, headers=as_("ann")) as events:
        told = [line for line in events.iter_lines() if line and not line.startswith(":")]  # a ping
    lines = [line.partition(": ")[2] for line in told]
    return [(kind, json.loads(data)) for kind, data in zip(lines[::2], lines[1::2], strict=True)]


def documents(client: TestClient) -> Any:
    return client.get("/api/collections/Mine/documents", headers=as_("ann")).json()


def named(client: TestClient) -> list[str]:
    return [one["name"] for one in documents(client)["documents"]]


def text(client: TestClient, name: str) -> str:
    found = client.get("/api/collections/Mine/text", params={"document": name}, headers=as_("ann"))
    return str(found.json()["text"])


def test_an_upload_is_indexed_and_what_cannot_be_read_of_it_is_told(
    client: TestClient, mine: str
) -> None:
    paper = FPDF()
    paper.set_font("Helvetica", size=12)
    paper.add_page()
    paper.multi_cell(0, 8, "The keeper must keep a list of the boats.")
    paper.add_page()
    paper.rect(20, 20, 100, 100, style="F")  # as a scanned page: it shows something
    good = (("law/act.txt", LAW), ("law/sub/other.md", OTHER), ("boats.pdf", bytes(paper.output())))
    bad = (("a.exe", b"MZ"), ("empty.txt", b""), ("law/act.txt", OTHER))
    status, told = upload(client, *good, ("broken.pdf", BROKEN), *bad)
    assert (status, told["added"]) == (202, [*(name for name, _ in good), "broken.pdf"])
    refused = {one["name"]: one["reason"] for one in told["refused"]}
    assert "not read" in refused["a.exe"]
    assert (refused["empty.txt"], refused["law/act.txt"]) == ("It is empty.", "It was sent twice.")
    events = wait(client)
    assert [kind for kind, _ in events[:-1]] == ["progress"] * (len(events) - 1)
    kind, told = events[-1]
    assert (kind, told["counts"]["documents"]) == ("done", 3)
    assert sorted(named(client)) == ["boats.pdf", "law/act.txt", "law/sub/other.md"]
    assert text(client, "law/act.txt") == LAW.decode()
    assert wait(client)[-1] == events[-1]  # who asks later is told how it ended
    skipped = {one["name"]: one for one in documents(client)["skipped"]}
    assert [skipped[name]["in_part"] for name in ("boats.pdf", "broken.pdf")] == [True, False]
    assert skipped["boats.pdf"]["reason"] == "Page 2 of boats.pdf contains no text (an image?)."
    assert "cut short" in skipped["broken.pdf"]["reason"]
    asked = {"question": "What must the keeper keep?", "collections": ["Mine"]}
    answer = client.post("/api/ask", json=asked, headers=as_("ann")).json()
    assert any("Page 2 of boats.pdf" in one["reason"] for one in answer["degraded"])
    again = {**asked, "thread": answer["thread"]}
    answer = client.post("/api/ask", json=again, headers=as_("ann")).json()
    assert not any("boats.pdf" in one["reason"] for one in answer["degraded"])


def test_a_file_that_is_there_is_replaced_only_when_that_is_said(room: Room, mine: str) -> None:
    client, parts = room
    kept = parts.uploads.of("ann")["Mine"].documents / "act.txt"
    upload(client, ("act.txt", LAW))
    status, told = upload(client, ("act.txt", OTHER))
    assert (status, told["error"]["kind"]) == (409, "ConflictError")
    (refused,) = told["error"]["refused"]
    assert (refused["name"], refused["exists"]) == ("act.txt", True)
    status, told = upload(client, ("act.txt", OTHER), ("new.txt", LAW))
    assert (status, told["added"]) == (202, ["new.txt"])
    assert told["refused"][0]["exists"]
    assert kept.read_bytes() == LAW
    assert upload(client, ("act.txt", OTHER), replace=True)[0] == 202
    wait(client)
    assert text(client, "act.txt") == OTHER.decode()
    assert named(client) == ["act.txt", "new.txt"]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data; boundary=x", b"--x\r\n" + b"a" * 10_000 + b": b\r\n\r\n"),
        ("multipart/form-data; boundary=x",
         b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nArticle'),
        ("multipart/form-data; boundary=x",
         b'--x\r\nContent-Disposition: form-data; name="else"\r\n\r\nx\r\n--x--\r\n'),
    ],
)  # fmt: skip
def test_bodies_that_are_no_upload_leave_nothing(
    room: Room, mine: str, content_type: str, body: bytes
) -> None:
    client, parts = room
    headers = {**as_("ann"), "Content-Type": content_type}
    url = "/api/collections/Mine/documents"
    found = client.post(url, content=body, headers=headers)
    assert (found.status_code, found.json()["error"]["kind"]) == (400, "InputError")
    assert [*parts.uploads.of("ann")["Mine"].folder.iterdir()] == []


def test_an_upload_that_is_too_large_leaves_nothing(room: Room, mine: str) -> None:
    client, parts = room
    status, told = upload(client, ("act.txt", LAW), ("large.txt", b"x" * 60_000))
    assert (status, told["error"]["kind"]) == (413, "TooLargeError")
    assert told["error"]["what"].startswith(
        "More than 0.05 MB were sent at once; nothing was accepted"
    )
    assert [*parts.uploads.of("ann")["Mine"].folder.iterdir()] == []
    assert upload(client, ("act.txt", LAW * 800))[0] == 202
    status, told = upload(client, ("other.txt", OTHER * 800))  # with what she has it is too much
    assert (status, told["error"]["kind"]) == (413, "TooLargeError")
    assert parts.uploads.of("ann")["Mine"].files() == ["act.txt"]


def test_a_client_that_leaves_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    opening = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="act.txt"\r\n\r\n' + LAW
    )
    head = (
        "POST /api/collections/Mine/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000\r\n\r\n"
    )
    one = UploadStore(tmp_path / "data" / "collections").make("local", "Mine")
    with served() as server:
        address = urlsplit(server)
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(head.encode() + opening)
            eventually(lambda: any(p.stat().st_size for p in one.folder.glob(".upload-*/1")))
        eventually(lambda: not [*one.folder.iterdir()])
        found = httpx.get(f"{server}/api/collections/Mine/documents")
        assert found.json()["documents"] == []


def test_a_document_is_removed_with_its_empty_folders(room: Room, mine: str) -> None:
    client, parts = room
    # what is left beside it is no document, or none that can be read
    left = (("metadata.csv", b"file,kind\nother.txt,rule\n"), ("bad.pdf", BROKEN))
    upload(client, ("a/b/act.txt", LAW), *left)
    wait(client)
    one = parts.uploads.of("ann")["Mine"]

    def remove(name: str) -> int:
        url = "/api/collections/Mine/documents"
        return client.delete(url, params={"document": name}, headers=as_("ann")).status_code

    assert [remove(name) for name in ("none.txt", "a/b", "../pending", "a")] == [404] * 4
    assert remove("a/b/act.txt") == 202
    kind, told = wait(client)[-1]
    assert (kind, documents(client)["documents"]) == ("error", [])
    assert str(one.folder.parent) not in told["error"]["what"]
    assert sorted(path.name for path in one.documents.iterdir()) == ["bad.pdf", "metadata.csv"]
    assert remove("bad.pdf") == 202
    assert wait(client)[-1] == ("done", {"counts": {}, "skipped": []})
    assert not one.indexed
    assert not one.change()


def test_a_document_is_removed_from_a_full_disk(tmp_path: Path) -> None:
    ann = people(ann={"may_upload": True})
    with (
        small_disk(tmp_path / "disk", "16m") as disk,
        reading_room(disk / "data", {"sample": "sample"}, people=ann) as (client, parts),
    ):
        client.post("/api/collections", json={"name": "Mine"}, headers=as_("ann"))
        upload(client, ("act.txt", LAW), ("other.txt", OTHER))
        wait(client)
        one = parts.uploads.of("ann")["Mine"]
        asked = {"question": "What must the keeper do?", "collections": ["Mine"]}

        def seen() -> tuple[list[str], set[str]]:
            """What is listed, and what an answer is written from."""
            found = client.post("/api/ask", json=asked, headers=as_("ann")).json()
            return named(client), {passage["document"] for passage in found["passages"]}

        assert seen() == (["act.txt", "other.txt"], {"act.txt", "other.txt"})
        with filled(disk):
            url, gone = "/api/collections/Mine/documents", {"document": "act.txt"}
            assert client.delete(url, params=gone, headers=as_("ann")).status_code == 202
            assert seen() == (["other.txt"], {"other.txt"})
            kind, told = wait(client)[-1]
            assert (kind, told["error"]["kind"]) == ("error", "IndexWriteError")
            assert seen() == (["other.txt"], {"other.txt"})
            failed = parts.indexing.of(one)
            parts.indexing.retry()
            assert parts.indexing.of(one) is failed
        parts.indexing.retry()
        assert wait(client)[-1] == ("done", {"counts": ANY, "skipped": []})
        assert seen() == (["other.txt"], {"other.txt"})
        assert not one.change()
        assert [*Manifest.read(one.index).fingerprints] == ["other.txt"]


def test_a_job_that_fails_or_dies_leaves_the_index_before(
    room: Room, mine: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, parts = room
    upload(client, ("act.txt", LAW))
    wait(client)
    one = parts.uploads.of("ann")["Mine"]

    def failed(name: str) -> Any:
        upload(client, (name, OTHER))
        kind, told = wait(client)[-1]
        assert (kind, told["error"]["kind"]) == ("error", "LexloopError")
        assert named(client) == ["act.txt"]
        assert one.change()
        return told["error"]["what"]

    with monkeypatch.context() as patch:  # where the process reads settings there is a list
        patch.setattr(parts.indexing, "_settings", SimpleNamespace(flat=list))
        assert failed("other.txt") == "Something unexpected happened (TypeError)."
    assert "The indexing of Mine failed.\nTraceback" in caplog.text
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "_MODULE", "lexloop.no_such_module")
        assert "ended before it was done" in failed("third.txt")
    # so the next server goes on with it
    again = Indexing(Settings(), Connection())
    again.resume(UploadStore(one.folder.parents[1]))
    again.idle()
    again.idle()
    again.close()
    assert not one.change()
    assert named(client) == ["act.txt", "other.txt", "third.txt"]


@pytest.mark.parametrize("said", ["newer", "older", "damaged"])
def test_an_index_of_another_version_is_made_anew_at_the_start(
    room: Room, mine: str, said: str
) -> None:
    client, parts = room
    upload(client, ("act.txt", LAW))
    wait(client)
    one = parts.uploads.of("ann")["Mine"]
    manifest = one.index / "manifest.json"
    record = json.loads(manifest.read_text("utf-8"))
    record["format"] += {"newer": 1, "older": -1}.get(said, 0)
    manifest.write_text(json.dumps(record)[: 99 if said == "damaged" else None], "utf-8")
    again = Indexing(Settings(), Connection())
    again.resume(UploadStore(one.folder.parents[1]))
    again.idle()
    again.idle()
    again.close()
    assert Manifest.read(one.index).counts["documents"] == 1
    assert named(client) == ["act.txt"]


def test_the_index_before_answers_while_the_next_is_made(
    room: Room, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = room
    upload(client, ("act.txt", LAW))
    wait(client)
    held, seen = threading.Event(), threading.Event()
    told = Job.tell

    def slowly(job: Job, kind: str, data: dict[str, Any]) -> None:
        told(job, kind, data)
        if data.get("stage") == "loading":
            seen.set()
            assert held.wait(60)

    monkeypatch.setattr(Job, "tell", slowly)
    upload(client, ("other.txt", OTHER))
    assert seen.wait(60)
    found = documents(client)
    assert ([one["name"] for one in found["documents"]], found["indexing"]) == (["act.txt"], True)
    # more that comes meanwhile waits for its turn
    first = upload(client, ("third.txt", OTHER))[1]["job"]
    assert upload(client, ("fourth.txt", OTHER))[1]["job"] == first
    held.set()
    assert wait(client)[-1][1]["counts"]["documents"] == 4
    assert documents(client)["indexing"] is False


def test_a_collection_that_is_deleted_ends_its_job(room: Room, mine: str) -> None:
    client, parts = room
    upload(client, ("act.txt", LAW))
    job = parts.indexing.of(parts.uploads.of("ann")["Mine"])
    assert job is not None
    assert client.delete("/api/collections/Mine", headers=as_("ann")).status_code == 204
    assert (job.latest[0], job.latest[1]["error"]["what"]) == (
        "error",
        "The collection was deleted.",
    )
    parts.indexing.idle()
    assert parts.uploads.of("ann") == {}
    client.post("/api/collections", json={"name": "Mine"}, headers=as_("ann"))


def test_files_of_two_people_are_indexed_side_by_side(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def meet(self: Indexing, job: Job) -> dict[str, Any]:
        both.wait(20)
        return {"counts": {}, "skipped": []}

    who = people(ann={"role": "curator"}, bob={"role": "curator"})
    with (
        reading_room(tmp_path, {"sample": "sample"}, people=who) as (client, serving),
        patch.object(Indexing, "_indexed", meet),
    ):
        for who in ("ann", "bob"):
            for name in ("first", "second"):
                made = client.post("/api/collections", json={"name": name}, headers=as_(who))
                assert made.is_success, made.text
                files = [("files", ("dogs.txt", LAW))]
                path = f"/api/collections/{name}/documents"
                assert client.post(path, files=files, headers=as_(who)).status_code == 202
        serving.indexing.idle()
    assert not both.broken
    jobs = serving.indexing._jobs.values()
    assert [job.latest[0] for job in jobs] == ["done"] * 4
