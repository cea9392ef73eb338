"""Texts that outlast their process, and a file that is damaged."""

from contextlib import closing
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.core.text_cache import TextCache


def test_what_was_kept_is_found_by_others_and_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    with closing(TextCache(path, "replies")) as kept, closing(TextCache(path, "replies")) as other:
        for n in range(50):
            kept.put(f"{n:064}", "said " * 100)
        assert other.find(f"{7:064}") == "said " * 100
        assert other.find("else") is None
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with closing(TextCache(path, "replies")) as kept:
        with pytest.raises(DataError, match=r"cannot be used: .* Remove the file\."):
            kept.find(f"{7:064}")
        with pytest.raises(DataError, match="cannot be kept"):
            kept.put("new", "said")
