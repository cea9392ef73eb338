"""What is taken of an upload, under which name, and how it is stored."""

import io
import os
from pathlib import Path

import pytest

from lexloop.core.errors import ConflictError, InputError, LexloopError, TooLargeError
from lexloop_server.uploads import Received, Receiver, UploadStore, file_name

LAW = b"Article 1 Duty\nThe keeper must register the boat.\n"
OTHER = b"Article 1 Duty\nThe keeper must register the raft.\n"
Sent = tuple[str, bytes]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("act", "not read"),
        ("manifest.json", "not read"),
        ("a/../../act.txt", "leads elsewhere"),
        ("/etc/act.txt", "leads elsewhere"),
        ("C:\\act.txt", "leads elsewhere"),
        ("a /act.txt", "leads elsewhere"),
        (".git/act.txt", "hidden"),
        ("a\x00.txt", "leads elsewhere"),
        ("a\u202etxt.txt", "leads elsewhere"),
        ("x" * 300 + ".txt", "leads elsewhere"),
        ("ab/" * 400 + "act.txt", "too long"),
        ("", "no name"),
    ],
)
def test_names_that_are_not_taken(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        file_name(name)


def test_names_that_are_taken() -> None:
    for name in ("§ 5 (2).docx", "法律.TXT", "a/metadata.csv"):
        assert file_name(name) == name
    assert file_name("e\u0301.txt") == "\u00e9.txt"  # in one spelling


def feed(receiver: Receiver, *files: Sent) -> None:
    """Give a receiver a whole body, in pieces of seven bytes."""
    parts = [
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="' + name.encode()
        + b'"\r\n\r\n' + data + b"\r\n"
        for name, data in files
    ]  # fmt: skip
    body = io.BytesIO(b"".join([*parts, b"--x--\r\n"]))
    while piece := body.read(7):
        receiver.feed(piece)
    receiver.finish()


def test_what_is_received(tmp_path: Path) -> None:
    receiver = Receiver("multipart/form-data; boundary=x", tmp_path, files=3)
    feed(receiver, ("a.txt", LAW), ("b.exe", b"x" * 101), ("c.txt", b"y" * 100))
    assert [(one.name, one.path.read_bytes()) for one in receiver.received] == [
        ("a.txt", LAW),
        ("c.txt", b"y" * 100),
    ]
    assert [one.name for one in receiver.refused] == ["b.exe"]
    assert len([*tmp_path.iterdir()]) == 2
    (tmp_path / "more").mkdir()
    with pytest.raises(TooLargeError, match="More than 2 files"):
        feed(Receiver("multipart/form-data; boundary=x", tmp_path / "more", files=2),
             ("d.txt", b""), ("e.exe", b""), ("f.txt", b""))  # fmt: skip


def test_what_a_process_left_behind_is_swept(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "collections")
    one = store.make("ann", "Mine")
    left = one.folder / ".upload-left"
    left.mkdir()
    (left / "1").write_bytes(LAW)
    gone = one.folder.parent / ".deleted-left"
    (gone / "documents").mkdir(parents=True)
    with store.staging(one) as used:
        store.sweep()
        assert used.is_dir()
    assert [path.name for path in one.folder.iterdir()] == []
    assert not gone.exists()
    assert [found.name for found in store.every()] == ["Mine"]


def test_a_disk_that_refuses_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = UploadStore(tmp_path / "collections")
    one = store.make("ann", "Mine")
    (tmp_path / "a").write_bytes(LAW)
    assert store.put(one, [Received("act.txt", tmp_path / "a")], replace=False)[0] == ["act.txt"]
    assert one.change()

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    (tmp_path / "b").write_bytes(OTHER)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(LexloopError, match="No space left"):
            store.put(one, [Received("act.txt", tmp_path / "b")], replace=True)
    assert (one.documents / "act.txt").read_bytes() == LAW
    assert one.files() == ["act.txt"]


def test_what_was_acknowledged_outlasts_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of each name that changed is flushed after the change, before anybody is told."""
    flushed: list[Path] = []
    fsync = os.fsync

    def noted(handle: int) -> None:
        fsync(handle)
        flushed.append(Path(os.readlink(f"/proc/self/fd/{handle}")))

    def since_last(*wanted: Path) -> bool:
        known, flushed[:] = {*flushed}, []
        return known >= {*wanted}

    monkeypatch.setattr(os, "fsync", noted)
    root = tmp_path / "collections"
    store = UploadStore(root)
    one = store.make("ann", "Mine")
    assert since_last(one.folder, one.folder.parent, root, tmp_path)
    (tmp_path / "a").write_bytes(LAW)
    store.put(one, [Received("of/old/act.txt", tmp_path / "a")], replace=False)
    documents = one.documents
    assert since_last(documents / "of" / "old", documents / "of", documents, one.folder)
    (documents / "of" / "old" / "other.txt").write_bytes(LAW)
    store.remove(one, "of/old/act.txt")
    assert since_last(documents / "of" / "old", one.folder)
    store.delete(one)
    assert since_last(one.folder.parent)


def test_one_person_may_store_so_much(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "collections", most_bytes=2 * len(LAW))
    first, second = store.make("ann", "First"), store.make("ann", "Second")
    (tmp_path / "0").write_bytes(LAW)
    store.put(first, [Received("0.txt", tmp_path / "0")], replace=False)
    with pytest.raises(TooLargeError, match=r"limits\.stored_mb"):
        store.reserve(second, len(LAW) + 1)
    store.reserve(second, len(LAW))
    with pytest.raises(TooLargeError):  # it is as if the other had come
        store.reserve(first, 1)
    store.reserve(store.make("bob", "First"), 2 * len(LAW))  # what another has is no matter
    store.release(second, len(LAW))
    store.reserve(first, len(LAW))


def test_files_and_folders_of_one_name(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "collections")
    one = store.make("ann", "Mine")
    names = ["act.txt", "act.txt/in.txt", "law.txt/in.txt", "law.txt"]
    for number, _ in enumerate(names):
        (tmp_path / str(number)).write_bytes(LAW)
    sent = [Received(name, tmp_path / str(number)) for number, name in enumerate(names)]
    added, refused = store.put(one, sent, replace=True)
    assert added == ["act.txt", "law.txt/in.txt"]
    assert [one.reason for one in refused] == [
        "There is a file where its folder would be.",
        "There is a folder of that name.",
    ]


def test_a_collection_has_one_name_in_any_case_and_a_person_so_many(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "collections")
    store.make("ann", "Mine")
    with pytest.raises(ConflictError):
        store.make("ann", "MINE")
    for number in range(99):
        store.make("ann", f"More {number}")
    with pytest.raises(InputError, match="You have 100 collections"):
        store.make("ann", "Another")
