"""Texts that outlast a process: processes that write at once, and a file that is damaged."""

import subprocess
import sys
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.core.text_cache import TextCache

WRITER = """
import sys
from pathlib import Path
from lexloop.core.text_cache import TextCache
kept = TextCache(Path(sys.argv[1]), "replies")
for n in range(40):
    kept.put(f"{sys.argv[2]} {n}", "said")
    assert kept.find(f"{sys.argv[2]} {n}") == "said"
kept.close()
"""


def test_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    kept = TextCache(path, "replies")
    assert all(kept.find(f"{name} {n}") == "said" for name in "ab" for n in range(40))
    kept.close()


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    kept = TextCache(path, "replies")
    for n in range(50):
        kept.put(f"{n:064}", "said " * 100)
    kept.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    kept = TextCache(path, "replies")
    with pytest.raises(DataError, match=r"cannot be used: .* Remove the file\."):
        kept.find(f"{7:064}")
    with pytest.raises(DataError, match="cannot be kept"):
        kept.put("new", "said")
    kept.close()
