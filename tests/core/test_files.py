import hashlib
import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from lexloop.core.files import remedy, replacing, sync, try_lock, write_bytes, write_text

_OTHER_MEANS = (
    r"\.write_text\(|\.write_bytes\(|\.tofile\(|np\.save\(|json\.dump\(|mkstemp|os\.replace|"
    r"open\([^()]*[\"'][wx]b?[\"']"
)


def test_a_text_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    write_text(path, "old")
    write_text(path, "§ new\n")
    assert path.read_bytes() == "§ new\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["weights.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    write_bytes(path, b"old")
    with pytest.raises(TypeError):
        write_bytes(path, "no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["weights.json"]


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync", "close", "replace"])
def test_whatever_fails_leaves_the_old_file_and_nothing_else(
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


def test_every_byte_is_written_where_a_write_takes_a_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, data, write = tmp_path / "weights", bytes(range(256)), os.write
    monkeypatch.setattr(os, "write", lambda handle, left: write(handle, left[:7]))
    with replacing(path) as file:
        assert [file.write(data), file.write(b""), file.write(data)] == [256, 0, 256]
    assert path.read_bytes() == data + data
    assert file.sha256 == hashlib.sha256(data + data).hexdigest()
    assert write_bytes(path, b"abc") == hashlib.sha256(b"abc").hexdigest()


def test_what_is_not_finished_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    write_bytes(path, b"old")
    with suppress(KeyboardInterrupt), replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["weights"]


def test_a_file_is_to_blame_unless_the_machine_is() -> None:
    for error in (PermissionError(13, "no"), OSError(24, "many"), sqlite3.OperationalError()):
        assert "Check" in remedy(error, "Remove the file.")
    for other in (FileNotFoundError(2, "none"), ValueError(), sqlite3.DatabaseError()):
        assert remedy(other, "Remove the file.") == "Remove the file."


def test_no_room_writes_a_file_by_other_means() -> None:
    root = Path(__file__).parents[2]
    rooms = (
        "core prompts models documents knowledge store nodes graph evaluation finetune apps".split()
    )
    paths = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    assert len(paths) > 100
    found = [
        f"{path.relative_to(root)}: {call}"
        for path in paths
        if path != root / "core" / "files.py"
        for call in re.findall(_OTHER_MEANS, path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_what_cannot_be_synced_is_an_error(tmp_path: Path) -> None:
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "absent")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="absent"):
        write_text(tmp_path / "absent" / "file", "text")


def test_a_lock_is_held_once_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    handle = try_lock(path)
    assert handle is not None
    assert try_lock(path) is None
    os.close(handle)
    again = try_lock(path)
    assert again is not None
    os.close(again)


def test_a_lock_file_that_was_removed_meanwhile_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_lock_in_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "absent" / "lock")
