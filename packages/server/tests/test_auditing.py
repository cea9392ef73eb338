"""What the server tells its audit log, by every protocol, and what it does where it cannot."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from disks import filled, small_disk
from mcp_sessions import opened
from servers import (
    DOGS,
    QUESTION,
    SSE,
    asked,
    client_of,
    eventually,
    openai_client,
    person,
    served_from,
)

from lexloop_server.audit import FOLDER
from lexloop_server.audit_check import verified
from lexloop_server.audit_lines import raw_lines

WHO = [person("ann", role="curator"), person("eve"), person("zoe", role="operator")]
Entries = list[dict[str, Any]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def address(data: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with an audit log; a test may name the settings of that."""
    with served_from(data, people=WHO, audit=getattr(request, "param", {})) as found:
        yield found


def lines(data: Path, *did: str) -> Entries:
    told = [json.loads(raw) for raw in raw_lines(data / FOLDER)]
    return [one for one in told if not did or one["did"] in did]


def test_each_question_is_told_with_its_documents_by_every_protocol(
    address: str, data: Path
) -> None:
    said = QUESTION["question"]
    with client_of(address, "eve") as client:
        answer = asked(client)
        asking, answered = lines(data)
        assert (asking["did"], asking["who"], asking["question"]) == ("ask", "eve", said)
        assert (asking["collections"], asking["id"]) == (["sample"], answer["id"])
        assert (answered["did"], answered["id"]) == ("answer", answer["id"])
        sources = answer["citations"] + answer["near"] + answer["passages"]
        assert answered["documents"] == {"sample": sorted({one["document"] for one in sources})}
        assert answer["citations"]
        with client.stream("POST", "/ask", json=QUESTION, headers=SSE) as events:
            assert "event: answer" in [*events.iter_lines()]
    openai_client(address, "key-eve").chat.completions.create(
        model="lexloop/sample", messages=[{"role": "user", "content": said}]
    )
    asyncio.run(called(address, "ask", question=said))
    assert [one["did"] for one in lines(data)] == ["ask", "answer"] * 4
    asyncio.run(called(address, "search", query=said))
    found = lines(data, "search")[0]
    assert (found["who"], found["question"], found["collections"]) == ("eve", said, ["sample"])
    assert found["documents"]["sample"]
    assert verified(data / FOLDER).faults == ()


async def called(address: str, tool: str, **arguments: Any) -> None:
    """Call a tool as eve."""
    async with opened(address, "eve") as client:
        assert not (await client.call_tool(tool, arguments)).is_error


@pytest.mark.parametrize("address", [{"questions": "keyed"}], indirect=True)
def test_questions_are_kept_from_the_log_where_that_is_set(address: str, data: Path) -> None:
    secret = "Is Mr Brown of Pine Street bankrupt?"
    with client_of(address, "eve") as client:
        asked(client, question=secret)
        asked(client, question=secret)
        asked(client)
    key = (data / FOLDER / "key").read_bytes()
    assert len(key) == 32
    hashes = [one["question_hmac"] for one in lines(data, "ask")]
    assert hashes[:2] == [hmac.new(key, secret.encode(), hashlib.sha256).hexdigest()] * 2
    assert hashes[2] != hashes[0]
    assert b"Brown" not in b"".join(file.read_bytes() for file in (data / FOLDER).iterdir())


def test_changes_are_told_before_they_are_made(address: str, data: Path) -> None:
    with client_of(address, "ann") as client:
        files = {"files": ("dogs.txt", DOGS.encode())}
        for method, path, more in (
            ("POST", "", {"json": {"name": "Dogs"}}),
            ("POST", "/Dogs/documents", {"files": files}),
            ("PUT", "/Dogs/grants", {"json": {"person": "eve"}}),
            ("DELETE", "/Dogs/grants", {"params": {"person": "eve"}}),
            ("DELETE", "/Dogs/documents", {"params": {"document": "dogs.txt"}}),
            ("DELETE", "/Dogs", {}),
        ):
            assert client.request(method, f"/collections{path}", **more).is_success
        assert client.delete("/collections/None").status_code == 404
    told = [{k: v for k, v in one.items() if k not in CHAIN} for one in lines(data)]
    grant = {"person": "eve"}
    assert told == [
        {"did": "make", "who": "ann", "collection": "Dogs"},
        {"did": "upload", "who": "ann", "collection": "Dogs", "replace": False,
         "documents": ["dogs.txt"]},
        {"did": "share", "who": "ann", "collection": "Dogs", "grant": {**grant, "right": "read"}},
        {"did": "take back", "who": "ann", "collection": "Dogs", "grant": grant},
        {"did": "remove", "who": "ann", "collection": "Dogs", "documents": ["dogs.txt"]},
        {"did": "delete", "who": "ann", "collection": "Dogs"},
    ]  # fmt: skip


CHAIN = {"n", "at", "before", "sha256"}


def test_a_wrong_key_is_told_by_its_address_and_never_itself(address: str, data: Path) -> None:
    for path in ("/api/me", "/v1/models"):
        headers = {"Authorization": "Bearer my-secret-guess"}
        assert httpx.get(f"{address}{path}", headers=headers).status_code == 401
    assert httpx.post(f"{address}/mcp", headers=headers).status_code == 401
    told = httpx.post(f"{address}/api/session", json={"key": "my-secret-guess"})
    assert told.status_code == 401
    assert httpx.get(f"{address}/api/me").status_code == 401  # no key is none that is wrong
    found = lines(data)
    assert [(one["did"], one["who"], one["address"]) for one in found] == [
        ("wrong key", "", "127.0.0.1")
    ] * 4
    assert b"guess" not in b"".join(raw_lines(data / FOLDER))


def test_an_operator_exports_and_verifies(address: str, data: Path) -> None:
    with client_of(address, "zoe") as client:
        assert client.get("/audit").content == b""
        assert client.get("/audit/verify").json()["intact"]
    with client_of(address, "eve") as client:
        asked(client)
        assert client.get("/audit").json()["error"]["kind"] == "RoleNeeded"
    with client_of(address, "zoe") as client:
        whole = client.get("/audit")
        assert whole.headers["content-type"] == "application/x-ndjson"
        assert whole.content == b"".join(raw_lines(data / FOLDER))
        assert client.get("/audit", params={"since": "2999-01-01"}).content == b""
        assert client.get("/audit", params={"since": "soon"}).status_code == 400
        intact = client.get("/audit/verify").json()
        assert (intact["intact"], intact["lines"], intact["faults"]) == (True, 2, [])
        anchor = intact["anchor"]
        assert (anchor[:2], intact["end_stated"]) == ("2:", True)
        assert client.get("/audit/verify", params={"expect": "2"}).status_code == 400
        (file,) = (data / FOLDER).glob("*.jsonl")
        file.write_bytes(file.read_bytes().replace(b'"eve"', b'"ann"', 1))
        changed = client.get("/audit/verify", params={"expect": anchor}).json()
        assert not changed["intact"]
        (fault,) = changed["faults"]
        assert (fault["file"], fault["line"]) == ("000000000001.jsonl", 1)
        assert str(data) not in json.dumps(changed)


def test_the_last_line_is_told_to_the_servers_log(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served_from(data, people=WHO, audit={}) as address, client_of(address, "eve") as client:
        asked(client)
    ended = f"The audit log ends with line {verified(data / FOLDER).anchor}."
    assert ended in caplog.messages  # when a server ends
    caplog.clear()
    with served_from(data, people=WHO, audit={}):
        eventually(lambda: ended in caplog.messages)  # and when one begins


@pytest.mark.parametrize("address", [{"person_mb_per_day": 0.01}], indirect=True)
def test_who_fills_the_log_is_refused_alone(address: str, data: Path) -> None:
    with client_of(address, "ann") as client:
        assert client.post("/collections", json={"name": "Dogs"}).status_code == 201
        granted = client.put("/collections/Dogs/grants", json={"person": "eve"})
        assert granted.status_code == 200
        for _ in range(20):  # each leaves some 700 bytes
            refused = client.post("/ask", json={**QUESTION, "collections": ["sample"]})
        assert refused.status_code == 429
        assert refused.json()["error"]["kind"] == "RateExceeded"
        assert "audit.person_mb_per_day" in refused.json()["error"]["what"]
        assert 0 < int(refused.headers["Retry-After"]) <= 86_401
        before = len(lines(data))
        assert client.post("/ask", json=QUESTION).status_code == 429
        asyncio.run(refused_call(address))
        assert len(lines(data)) == before
        # what was given can be taken back still
        taken = client.delete("/collections/Dogs/grants", params={"person": "eve"})
        assert taken.json() == {"grants": []}
    with client_of(address, "eve") as client:
        asked(client)
    with client_of(address, "zoe") as client:
        assert client.get("/audit/verify").json()["intact"]


async def refused_call(address: str) -> None:
    """Call a tool as ann, who has filled the log."""
    async with opened(address, "ann") as client:
        result = await client.call_tool("search", {"query": "What is a bias audit?"})
        assert result.is_error
        assert "audit.person_mb_per_day" in str(result.content)


def test_without_one_there_is_none(tmp_path: Path) -> None:
    with served_from(tmp_path, people=WHO) as address, client_of(address, "zoe") as client:
        asked(client)
        for path in ("/audit", "/audit/verify"):
            told = client.get(path)
            assert (told.status_code, told.json()["error"]["kind"]) == (404, "NotFoundError")
    assert not (tmp_path / FOLDER).exists()


def test_on_a_full_disk_nothing_is_answered_and_that_is_told(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        given = {"people": WHO, "audit": {}}
        long = {**QUESTION, "question": f"What is a bias audit?{' ' * 3900}"}
        with served_from(disk, **given) as address, client_of(address, "ann") as client:
            asked(client)
            with filled(disk):
                refused = eventually(lambda: no_answer(client, long))
                assert refused["error"]["kind"] == "AuditError"
                assert "No space left" in refused["error"]["what"]
                assert str(disk) not in json.dumps(refused)
                wrong = httpx.get(
                    f"{address}/api/me", headers={"Authorization": f"Bearer {'x' * 10}"}
                )
                assert wrong.status_code == 401
            asked(client)
        assert verified(disk / FOLDER).faults == ()


def no_answer(client: httpx.Client, body: dict[str, Any]) -> Any:
    """What is told in place of an answer; None while the last block of the log has room."""
    found = client.post("/ask", json=body)
    return found.json() if found.status_code == 503 else None


def test_an_answer_that_cannot_be_told_of_is_withheld(
    address: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexloop_server import audit

    write = audit._write

    def refuse(file: Path, size: int, line: bytes) -> None:
        if b'"did":"answer"' in line:
            raise OSError(28, "No space left on device")
        write(file, size, line)

    monkeypatch.setattr(audit, "_write", refuse)
    with client_of(address, "eve") as client:
        found = client.post("/ask", json=QUESTION)
        assert (found.status_code, found.json()["error"]["kind"]) == (503, "AuditError")
        with client.stream("POST", "/ask", json=QUESTION, headers=SSE) as events:
            told = [line for line in events.iter_lines() if line.startswith("event: ")]
        assert told[-1] == "event: error"
        assert client.get("/threads").json() == {"threads": []}  # nor is it kept
    assert [one["did"] for one in lines(data)] == ["ask", "ask"]
