import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexloop.documents.reading.folder import hash_sources, list_sources
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits, Loaded, SourceFile
from lexloop.documents.reading.workers import read_files


def sources(folder: Path) -> list[SourceFile]:
    return hash_sources(folder, list_sources(folder)[0])[0]


def read(folder: Path, **options: object) -> list[Loaded]:
    return list(read_files(sources(folder), Sidecars(), **options))  # type: ignore[arg-type]


def children() -> set[str]:
    """The processes that this one has started and not yet waited for."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        found |= set((task / "children").read_text().split())
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    gc.collect()
    files, processes = set(os.listdir("/proc/self/fd")), children()
    yield
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= len(files)
    assert children() <= processes


def test_results_come_in_the_order_of_the_files_with_the_progress(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.txt").write_text("The law applies.\n" * (1 + 200 * (19 - number)))
    told: list[tuple[str, int, int]] = []
    loaded = read(tmp_path, workers=3, progress=lambda *step: told.append(step))
    assert [one.documents[0].name for one in loaded] == [f"{n:02}.txt" for n in range(20)]
    assert told == [("reading", n, 20) for n in range(1, 21)]


def test_a_file_that_takes_too_long_or_too_much_is_reported_and_the_rest_read(
    tmp_path: Path, bomb_pdf: bytes
) -> None:
    (tmp_path / "bomb.pdf").write_bytes(bomb_pdf)
    (tmp_path / "fine.txt").write_text("The law.")
    slow, fine = read(tmp_path, workers=1, limits=Limits(seconds=1.5))
    assert slow.skipped[0].reason == "It took longer than 1.5 s."
    assert fine.documents[0].text == "The law."
    large, fine = read(tmp_path, workers=1, limits=Limits(memory=200 << 20))
    assert "more than 200 MiB of memory" in large.skipped[0].reason
    assert fine.documents[0].text == "The law."


def test_stopping_early_ends_the_workers(tmp_path: Path, bomb_pdf: bytes) -> None:
    (tmp_path / "a.txt").write_text("The law.")
    (tmp_path / "b.pdf").write_bytes(bomb_pdf)
    reading = read_files(sources(tmp_path), Sidecars(), workers=2)
    assert next(reading).documents[0].name == "a.txt"
    began = time.monotonic()
    reading.close()
    assert time.monotonic() - began < 1.0


def test_a_file_that_changes_or_vanishes_is_reported(tmp_path: Path) -> None:
    for name in ("changed.txt", "fine.txt", "vanished.txt", "pipe.txt"):
        (tmp_path / name).write_text("The law.")
    files = sources(tmp_path)
    (tmp_path / "changed.txt").write_text("Another law.")
    (tmp_path / "vanished.txt").unlink()
    (tmp_path / "pipe.txt").unlink()
    os.mkfifo(tmp_path / "pipe.txt")
    found = {one.file.name: one.skipped for one in read_files(files, Sidecars())}
    assert "changed while it was being read" in found["changed.txt"][0].reason
    assert "vanished" in found["vanished.txt"][0].reason
    assert "not a regular file" in found["pipe.txt"][0].reason
    assert found["fine.txt"] == ()


def test_a_worker_imports_no_library_before_a_file_needs_it(tmp_path: Path) -> None:
    heavy = (
        "{'pypdfium2', 'docx', 'bs4', 'lxml', 'yaml', 'charset_normalizer', 'numpy', 'pydantic'}"
    )
    modules = "lexloop.core.workers, lexloop.documents.reading.workers"
    code = f"import sys, {modules}; print({heavy} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert said.stdout == "set()\n"


def test_a_module_beside_the_user_is_not_taken_for_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken')")
    (tmp_path / "a.txt").write_text("The law.")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path)[0].documents[0].text == "The law."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("comments.txt", "<!---->" * 35 + "x"),
        ("tables.html", "<table><tr><td>" * 4_000 + "x"),
        ("headings.html", "<span class=title>a" * 4_000),
        ("items.html", "<ol>" + "<li>a</li>" * 8_000),
    ],
)
def test_what_says_the_same_again_and_again_takes_no_longer_than_it_is_long(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (loaded,) = read(tmp_path, limits=Limits(seconds=20))
    assert not loaded.skipped
    assert len(loaded.documents) == 1
