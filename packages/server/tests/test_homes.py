"""Whose uploads lie in which folder: names never meet; folders of earlier versions are renamed."""

import hashlib
import json
import os
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from pydantic import ValidationError
from servers import as_, got, person, reading_room

from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.core.errors import DataError
from lexloop_server.forgetting import Orders, resume
from lexloop_server.homes import PENDING, home_of, rename_homes
from lexloop_server.settings import PersonSettings
from lexloop_server.uploads import UploadStore

ANN = "ann@law.example"
LAW = b"Article 1 Duty\nThe keeper must register the boat.\n"


def digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


ROOT = Path("/uploads")
HOSTILE = [
    *(ANN, digest(ANN), digest(digest(ANN)), digest(ANN).upper(), f"@{digest(ANN)}"),
    *("ann", digest("ann"), "Ann", "ANN", "ann ", "ann.", "a.nn", ".", "..", "...", "", " "),
    *("../ann", "ann/..", "a/b", "a\\b", "/etc", "~", "~ann", "x" * 500, "ann\0", "ann\n"),
    *("José", unicodedata.normalize("NFD", "José"), "ß", "ss", "ſ", "s", "İ", "i", "ı", "I"),
    *("CON", "nul", "aux.txt", "COM1", "local", ".lock", ".deleted-1", ".upload-1", "pending"),
    *("documents", "index", "grants.json", "collections", "\ud800", "\udcff", "犬", "０", "0"),
]


def test_no_two_names_share_a_folder_in_any_case(tmp_path: Path) -> None:
    folders = [home_of(tmp_path, name) for name in HOSTILE]
    assert len({one.name.casefold() for one in folders}) == len(HOSTILE)
    assert {one.parent for one in folders} == {tmp_path}
    for one in folders:
        one.mkdir()
    store = UploadStore(tmp_path)
    for name in HOSTILE:
        store.make(name, "Mine")
    assert len(store.every()) == len(HOSTILE)


@given(st.from_regex(r"\A\w[\w .@+-]{0,99}\Z"), st.text())
def test_no_name_is_a_folder_of_somebodys(name: str, other: str) -> None:
    try:
        named = PersonSettings(name=name, key_sha256=digest("key")).name
    except ValidationError:  # the two kinds of patterns differ in what a letter is
        reject()
    folder = home_of(ROOT, other)
    assert folder.name != named
    assert (home_of(ROOT, named) == folder) == (named == other)


def test_who_is_called_by_the_hash_of_another_sees_nothing_of_theirs(tmp_path: Path) -> None:
    people = [person(name, may_upload=True) for name in (ANN, digest(ANN), f"{ANN}.", "local")]
    with reading_room(tmp_path, {"sample": "sample"}, people=people) as (client, parts):
        made = client.post("/api/collections", json={"name": "Mine"}, headers=as_(ANN))
        assert made.status_code == 201
        one = parts.uploads.of(ANN)["Mine"]
        one.documents.mkdir()
        (one.documents / "act.txt").write_bytes(LAW)
        for who in (digest(ANN), f"{ANN}.", "local"):
            got(client, "Mine/documents", who, 404)
            listed = client.get("/api/collections", headers=as_(who)).json()
            assert "Mine" not in str(listed)
            gone = client.delete("/api/collections/Mine", headers=as_(who))
            assert gone.status_code == 404
            own = client.post("/api/collections", json={"name": "Mine"}, headers=as_(who))
            assert own.status_code == 201
            assert client.delete("/api/collections/Mine", headers=as_(who)).status_code == 204
        assert one.files() == ["act.txt"]


def earlier(root: Path, home: str, name: str) -> Path:
    """A collection as earlier versions kept it."""
    documents = root / home / name / "documents"
    documents.mkdir(parents=True)
    (documents / "act.txt").write_bytes(LAW)
    return root / home / name


def test_folders_of_earlier_versions_are_renamed_once(tmp_path: Path) -> None:
    earlier(tmp_path, "bob", "Leases")
    earlier(tmp_path, digest(ANN), "Mine")
    (tmp_path / ".kept").mkdir()
    for _ in range(2):
        rename_homes(tmp_path)
        store = UploadStore(tmp_path)
        assert {name: [*store.of(name)] for name in ("bob", ANN, digest(ANN), digest("bob"))} == {
            "bob": ["Leases"],
            ANN: ["Mine"],
            digest(ANN): [],
            digest("bob"): [],
        }
        assert len([*tmp_path.iterdir()]) == 3
        assert all(one.change() and one.files() == ["act.txt"] for one in store.every())
    rename_homes(tmp_path / "nothing")


def test_a_rename_that_cannot_be_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = earlier(tmp_path, "bob", "Leases")
    taken = home_of(tmp_path, "bob")
    taken.mkdir()
    with pytest.raises(DataError, match=f"{taken.name} already exists"):
        rename_homes(tmp_path)
    assert not (old / PENDING).exists()
    taken.rmdir()

    def refuse(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(DataError, match="Read-only"):
            rename_homes(tmp_path)
    assert UploadStore(tmp_path).of("bob") == {}
    rename_homes(tmp_path)  # a kill between the two leaves as much
    assert UploadStore(tmp_path).of("bob")["Leases"].files() == ["act.txt"]


def test_a_server_goes_on_with_the_folders_of_an_earlier_version(tmp_path: Path) -> None:
    root, people = tmp_path / "collections", [person("bob", may_upload=True)]
    with reading_room(tmp_path, {"sample": "sample"}, people=people) as (client, parts):
        made = client.post("/api/collections", json={"name": "Leases"}, headers=as_("bob"))
        assert made.status_code == 201
        path, files = "/api/collections/Leases/documents", {"files": ("act.txt", LAW)}
        assert client.post(path, files=files, headers=as_("bob")).status_code == 202
        parts.indexing.idle()
    home_of(root, "bob").rename(root / "bob")
    with reading_room(tmp_path, {"sample": "sample"}, people=people) as (client, parts):
        parts.indexing.idle()  # what begins to tidy up
        parts.indexing.idle()  # what it found
        assert [one.name for one in root.iterdir()] == [home_of(root, "bob").name]
        assert "act.txt" in str(got(client, "Leases/documents", "bob"))
        index = parts.uploads.of("bob")["Leases"].index
        sources = json.loads((index / "manifest.json").read_text())["sources"]
    assert [one["path"] for one in sources] == [str(index.with_name("documents"))]


def test_an_order_of_an_earlier_version_finds_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path))
    old = earlier(tmp_path / "collections", "bob", "Leases")
    Orders().begin({"folder": str(old), "document": "act.txt", "owner": "bob"})
    rename_homes(tmp_path / "collections")
    store = UploadStore(tmp_path / "collections")
    with closing(ThreadStore(tmp_path / FILE_NAME)) as threads:
        assert resume(store, threads) == [*store.of("bob").values()]
    assert store.of("bob")["Leases"].files() == []
    assert Orders().begun() == []
