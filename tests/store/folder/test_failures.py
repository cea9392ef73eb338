"""A writer that fails: the old index still serves, and the next run converges."""

import os
import resource
from collections.abc import Callable
from functools import partial
from multiprocessing import Pipe, get_context
from pathlib import Path
from typing import Any

import pytest
from disks import small_disk
from indexes import Letters, content, generations, letter_tools, sources

from lexloop.core.errors import IndexWriteError, LexloopError
from lexloop.store import writer
from lexloop.store.folder import generations as room
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.folder.store import FolderStore
from lexloop.store.manifest import Manifest
from lexloop.store.opening import verify_index
from lexloop.store.writer import IndexBuilder, IndexUpdate, write_index

Write = Callable[..., IndexUpdate]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def loses() -> Callable[[int, bytes], int]:
    """Writing that takes an array's values, after its header, and never writes them."""
    real, taken = os.write, list[int]()

    def lose(handle: int, data: bytes) -> int:
        taken.append(len(data))
        return len(data) if len(taken) == 2 else real(handle, data)

    return lose


@pytest.mark.parametrize(
    ("room", "step", "failure"),
    [(FolderStore, "save", interrupt), (IndexBuilder, "finish", interrupt), (os, "write", None)],
    ids=["interrupted", "interrupted at the end", "bytes are lost"],
)
def test_a_writer_that_fails_leaves_the_old_index_and_nothing_else(
    index: Path,
    folder: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    *,
    room: Any,
    step: str,
    failure: Any,
) -> None:
    write()
    before, names = content(index), generations(index)
    (folder / "fees.txt").write_text("Changed.")
    with monkeypatch.context() as patch:
        patch.setattr(room, step, failure or loses())
        with pytest.raises((KeyboardInterrupt, IndexWriteError)) as told:
            write()
    assert failure or "not read as it was written" in str(told.value)
    assert generations(index) == names
    assert content(index) == before
    assert write().difference.changed == ["fees.txt"]


def test_what_fails_after_the_publishing_takes_nothing_back(
    index: Path, folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write()
    publish = Manifest.write

    def interrupted(manifest: Manifest, place: Path) -> None:
        publish(manifest, place)
        raise KeyboardInterrupt

    (folder / "fees.txt").write_text("The guest may moor.")
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write()
    assert content(index)["documents"]["fees.txt"].startswith("The guest")
    assert write().difference.nothing


def test_the_old_generation_stays_until_the_disk_knows_the_new_one(
    index: Path, folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write()
    names = generations(index)

    def fail(_: Path) -> None:
        raise OSError(5, "Input/output error")

    (folder / "fees.txt").write_text("The guest may moor.")
    with monkeypatch.context() as patch:
        patch.setattr(room, "sync", fail)
        patch.setattr(writer, "sync_generation", lambda _: None)
        write()
    assert generations(index) > names
    assert content(index)["documents"]["fees.txt"].startswith("The guest")
    assert write().difference.nothing
    assert generations(index) == {Manifest.read(index).generation}


def test_too_few_handles_are_no_reason_to_build_anew(index: Path, write: Write) -> None:
    write()

    def limited(more: int) -> None:
        free = os.open(os.devnull, os.O_RDONLY)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, free + more))
        content(index)

    said = [in_a_process(partial(limited, more)) for more in (0, 2, 5)]
    failed = [one for one in said if one]
    assert failed
    for one in failed:
        assert one.startswith("DataError: ")
        assert one.endswith("how many files may be open, then try again.")
    verify_index(index, Letters())


def test_an_unwritable_place_is_named(tmp_path: Path, folder: Path, parsed: list[str]) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for place in (tmp_path / "file" / "index", tmp_path / "file", tmp_path / ("n" * 300)):
        with pytest.raises(IndexWriteError, match="cannot be written"):
            write_index(place, sources(folder), letter_tools())
    assert (tmp_path / "file").read_text() == "a file where a folder should be"
    with pytest.raises(IndexWriteError, match="cannot be written"):
        write_index(tmp_path / "link", sources(folder), letter_tools())
    assert not (tmp_path / "nowhere").exists()


def in_a_process(work: Callable[[], object]) -> str:
    """What ``work`` raised, or nothing, in a process of its own."""
    heard, telling = Pipe(duplex=False)

    def told() -> None:
        try:
            work()
            telling.send("")
        except LexloopError as error:
            telling.send(f"{type(error).__name__}: {error}")

    process = get_context("fork").Process(target=told)
    process.start()
    process.join(60)
    return str(heard.recv()) if heard.poll() else "it did not end"


def lengthen(folder: Path) -> None:
    text = "".join(f"The owner must pay fee number {n} in time.\n\n" for n in range(600))
    (folder / "long.txt").write_text(text)


def test_a_full_disk(tmp_path: Path, folder: Path, parsed: list[str]) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "400k"):
        index = disk / "index"
        write_index(index, sources(folder), letter_tools())
        before = content(index)
        lengthen(folder)
        for _ in range(2):
            with pytest.raises(IndexWriteError, match="cannot be written"):
                write_index(index, sources(folder), letter_tools())
            assert content(index) == before
            assert len(list((index / GENERATIONS).iterdir())) == 1
        (folder / "long.txt").write_text("The owner must pay.")
        write_index(index, sources(folder), letter_tools())
        assert "long.txt" in content(index)["documents"]
