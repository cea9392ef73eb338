import hashlib
import os
import re
import sqlite3
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.core.files import (
    SUMS,
    check_sums,
    remedy,
    replacing,
    try_lock,
    write_bytes,
    write_sums,
    write_text,
)

_OTHER_MEANS = (
    r"\.write_text\(|\.write_bytes\(|\.tofile\(|np\.save\(|json\.dump\(|mkstemp|os\.replace|"
    r"open\([^()]*[\"'][wx]b?[\"']"
)


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync", "close", "replace"])
def test_a_failure_leaves_the_old_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "weights.json"
    write_text(path, "old")
    called, open_before = getattr(os, step), len(os.listdir("/proc/self/fd"))

    def fail(*arguments: int) -> None:
        if step == "close":  # whatever it says, the file is closed
            called(*arguments)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="Input/output"):
            write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["weights.json"]
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_every_byte_is_written_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, data, write = tmp_path / "weights", bytes(range(256)), os.write
    monkeypatch.setattr(os, "write", lambda handle, left: write(handle, left[:7]))
    with replacing(path) as file:
        assert [file.write(data), file.write(b""), file.write(data)] == [256, 0, 256]
    assert path.read_bytes() == data + data
    assert file.sha256 == hashlib.sha256(data + data).hexdigest()
    assert write_bytes(path, b"abc") == hashlib.sha256(b"abc").hexdigest()


def test_a_file_is_to_blame_unless_the_machine_is() -> None:
    for error in (PermissionError(13, "no"), OSError(24, "many"), sqlite3.OperationalError()):
        assert "Check" in remedy(error, "Remove the file.")
    for other in (FileNotFoundError(2, "none"), ValueError(), sqlite3.DatabaseError()):
        assert remedy(other, "Remove the file.") == "Remove the file."


def test_no_room_writes_a_file_by_other_means() -> None:
    root = Path(__file__).parents[2]
    rooms = "core prompts models documents knowledge store nodes graph apps packages/*/src".split()
    paths = [path for room in rooms for path in sorted(root.glob(f"{room}/**/*.py"))]
    assert len(paths) > 200
    found = [
        f"{path.relative_to(root)}: {call}"
        for path in paths
        if path != root / "core" / "files.py"
        for call in re.findall(_OTHER_MEANS, path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_removed_lock_file_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    opened = os.open

    def remove_after(*arguments: int) -> int:
        handle = opened(*arguments)
        path.unlink()
        return handle

    monkeypatch.setattr(os, "open", remove_after)
    assert try_lock(path) is None
    monkeypatch.undo()
    handle = try_lock(path)
    assert handle is not None
    os.close(handle)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.bin").write_bytes(b"one")
    (tmp_path / "b c.txt").write_bytes(b"two")
    return tmp_path


def test_every_file_is_summed_as_sha256sum_does_and_one_that_changed_is_named(folder: Path) -> None:
    write_sums(folder)
    one, two = (hashlib.sha256(text).hexdigest() for text in (b"one", b"two"))
    assert (folder / SUMS).read_text() == f"{one}  a.bin\n{two}  b c.txt\n"
    check_sums(folder)
    (folder / "b c.txt").write_bytes(b"three")
    with pytest.raises(DataError, match=r"b c\.txt has SHA-256"):
        check_sums(folder)
    write_sums(folder, ["a.bin"])
    assert (folder / SUMS).read_text() == f"{one}  a.bin\n"


@pytest.mark.parametrize("sums", [None, "00  gone.bin\n", "\udcff", "00  ../a.bin\n"])
def test_sums_that_cannot_be_used(folder: Path, sums: str | None) -> None:
    inner = folder / "inner"
    inner.mkdir()
    if sums is not None:
        (inner / SUMS).write_bytes(sums.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match="cannot be checked"):
        check_sums(inner)
