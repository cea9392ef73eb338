import os
from pathlib import Path

import pytest

from lexloop.core.files import try_lock, write_bytes, write_text


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
