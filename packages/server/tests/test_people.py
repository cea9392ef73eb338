"""Who asks: keys, sessions, a proxy's header, and what each of them may see."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from disks import filled, small_disk
from fastapi.testclient import TestClient
from servers import people, reading_room

from lexloop.apps.threads import LOCAL
from lexloop.core.errors import AccessError
from lexloop_server.people import COOKIE, People, key_hash, new_key
from lexloop_server.settings import ServerSettings

TWO: dict[str, Any] = {"collections": {"sample": "sample"}, "people": people()}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server with ann and bob, whom a proxy on 10.0.0.0/8 may name."""
    data = tmp_path_factory.mktemp("data")
    given = {"people": people(), "proxy": {"header": "X-User", "trusted": ["10.0.0.0/8"]}}
    with reading_room(data, {"sample": "sample"}, **given) as (found, _):
        yield found


def test_a_key_is_random_and_kept_as_a_hash_alone() -> None:
    (one, digest), (other, _) = new_key(), new_key()
    assert one != other
    assert len(one) >= 43  # 256 bits in base64
    assert key_hash(one) == digest
    assert one not in digest


@pytest.mark.parametrize("said", ["Bearer ", "Basic YW5uOmtleQ==", "Bearer nobody's", ""])
def test_what_is_nobodys_key_is_refused(client: TestClient, said: str) -> None:
    found = client.get("/api/collections", headers={"Authorization": said, "X-User": "ann"})
    assert found.status_code == 401
    assert found.headers["www-authenticate"] == "Bearer"
    assert found.json()["error"]["kind"] == "UnknownPerson"


def test_a_session_outlasts_the_server_but_not_its_key(tmp_path: Path) -> None:
    file = tmp_path / "data" / "sessions.json"
    token = People(ServerSettings.of(TWO), file).open_session("key-ann")
    person = People(ServerSettings.of(TWO), file).identified({}, "127.0.0.1", token)
    assert person is not None
    assert person.name == "ann"
    assert file.stat().st_mode & 0o077 == 0
    assert token not in file.read_text("utf-8")
    changed = [
        {**one, "key_sha256": key_hash(f"new key of {one['name']}")} for one in TWO["people"]
    ]
    assert People(ServerSettings.of({"people": changed}), file).identified({}, "", token) is None
    People(ServerSettings.of(TWO), file).end_session(token)
    assert People(ServerSettings.of(TWO), file).identified({}, "127.0.0.1", token) is None


def test_a_session_lasts_no_longer_because_the_clock_was_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = ServerSettings.of(TWO).session_hours
    known = People(ServerSettings.of(TWO), tmp_path / "sessions.json")
    right = time.time()
    monkeypatch.setattr(time, "time", lambda: right + 10 * 365 * 86_400)
    ahead = known.open_session("key-ann")
    assert known.identified({}, "", ahead) is not None
    monkeypatch.setattr(time, "time", lambda: right)
    assert known.identified({}, "", ahead) is None
    token = known.open_session("key-ann")  # nobody is locked out
    monkeypatch.setattr(time, "time", lambda: right - 86_400 * 365)
    assert known.identified({}, "", token) is None
    monkeypatch.setattr(time, "time", lambda: right + hours * 3600 - 1)
    assert known.identified({}, "", token) is not None
    monkeypatch.setattr(time, "time", lambda: right + hours * 3600)
    assert known.identified({}, "", token) is None


def test_who_signed_out_stays_out_though_the_disk_was_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        file = disk / "data" / "sessions.json"
        known = People(ServerSettings.of(TWO), file)
        token, other = known.open_session("key-ann"), known.open_session("key-bob")
        with filled(disk):
            known.end_session(token)
            assert known.identified({}, "127.0.0.1", other) is not None
        anew = People(ServerSettings.of(TWO), file)
        assert anew.identified({}, "127.0.0.1", token) is None
        assert anew.open_session("key-ann")


def test_a_sign_out_that_cannot_be_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reading_room(tmp_path, {"sample": "sample"}, people=people()) as (client, served):
        signed_in = client.post("/api/session", json={"key": "key-ann"})
        assert signed_in.status_code == 204

        def refuse(*_: object, **__: object) -> None:
            raise OSError(30, "Read-only file system")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", refuse)
            patch.setattr("lexloop_server.people.replacing", refuse)
            found = client.delete("/api/session")
        assert found.status_code == 500
        said = found.json()["error"]["what"]
        assert said == "You are signed out, but that cannot be kept: Read-only file system."
        assert client.get("/api/collections").status_code == 401
        served.people.end_session("nobody's")


@pytest.mark.parametrize("held", ["", "[]", '{"a": 1}', '{"a": ["b", "c"]}', "\ud800"])
def test_a_damaged_file_of_sessions_signs_people_out(tmp_path: Path, held: str) -> None:
    file = tmp_path / "sessions.json"
    file.write_bytes(held.encode("utf-8", "surrogatepass"))
    known = People(ServerSettings.of(TWO), file)
    assert known.identified({}, "127.0.0.1", "a") is None
    assert known.identified({}, "127.0.0.1", known.open_session("key-bob")) is not None


def test_the_proxys_word_counts_from_its_addresses_alone() -> None:
    given = {"proxy": {"header": "X-User", "trusted": ["10.0.0.0/8", "::1"]}}
    known = People(ServerSettings.of({**TWO, **given, "session_hours": 1e-9}))
    over = known.open_session("key-ann")
    assert known.identified({}, "127.0.0.1", over) is None  # after its time
    for address in ("10.1.2.3", "::1"):
        person = known.identified({"x-user": "bob"}, address, "")
        assert person is not None
        assert person.name == "bob"
    for address in ("11.1.2.3", "127.0.0.1", "", "10.0.0.1.evil.example", "testclient"):
        assert known.identified({"x-user": "bob"}, address, "") is None
    for name in ("carol", "ann, bob", "ann\x00", " "):
        with pytest.raises(AccessError):
            known.identified({"x-user": name}, "10.1.2.3", "")
    assert known.identified({}, "10.1.2.3", "") is None
    alone = People(ServerSettings()).identified({}, "127.0.0.1", "")
    assert alone is not None
    assert (alone.name, alone.collections, alone.may_upload) == (LOCAL, None, True)


def test_no_cookie_of_another_kind_is_a_session(client: TestClient) -> None:
    for cookie in (f"{COOKIE}=", f"{COOKIE}=x", "a=b; c", f"{COOKIE}=\xff", "=;=;"):
        found = client.get("/api/collections", headers={"Cookie": cookie.encode("latin-1")})
        assert found.status_code == 401
