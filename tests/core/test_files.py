from pathlib import Path

import pytest

from lexloop.core.files import write_bytes, write_text


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
