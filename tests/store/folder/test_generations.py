"""One writer, any number of readers, and nothing lost when either dies."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from indexes import ANYBODY, Letters, generations

from lexloop.core.errors import IndexWriteError
from lexloop.core.files import MANIFEST
from lexloop.store.folder import store
from lexloop.store.folder.generations import (
    GENERATIONS,
    LOCK,
    SharedLock,
    is_unfinished,
    new_generation,
    writing,
)
from lexloop.store.manifest import Manifest
from lexloop.store.opening import open_index, verify_index
from lexloop.store.writer import IndexUpdate

Write = Callable[..., IndexUpdate]


def test_a_reader_keeps_its_generation(index: Path, folder: Path, write: Write) -> None:
    write()
    old = open_index(index, Letters())
    seen = old.seen_by(ANYBODY)
    expected = {chunk["text"] for chunk in seen.every_chunk()}
    first = generations(index)
    for text in ("One.", "Two."):
        (folder / "fees.txt").write_text(f"The owner must pay the fee. {text}")
        write()
    held = generations(index)
    assert len(held) == 2
    assert first < held
    # the graph is opened only now, from files that an update made obsolete
    assert seen.graph.entities
    assert {chunk["text"] for chunk in seen.every_chunk()} == expected
    for _ in range(2):
        old.close()
    write()
    assert generations(index) == {Manifest.read(index).generation}


def test_an_index_replaced_while_it_is_opened_is_opened_again(
    index: Path, folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write()
    lease, replaced = store.SharedLock, []

    def too_late(place: Path) -> SharedLock:
        if not replaced:
            replaced.append(place)
            (folder / "fees.txt").write_text("The guest may moor.")
            monkeypatch.setattr(store, "SharedLock", lease)
            write()
        return lease(place)

    monkeypatch.setattr(store, "SharedLock", too_late)
    found = open_index(index, Letters())
    assert "guest" in str(found.seen_by(ANYBODY).text_of("fees.txt"))
    assert not replaced[0].exists()
    found.close()


def test_the_second_writer_waits_and_is_refused_in_the_end(index: Path) -> None:
    refused = pytest.raises(IndexWriteError, match="Another process is writing")
    order: list[str] = []

    def second() -> None:
        with writing(index, timeout_s=10):
            order.append("second")

    thread = threading.Thread(target=second)
    with writing(index):
        with refused, writing(index, timeout_s=0.1):
            pytest.fail("two writers")
        thread.start()
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert not index.exists()


@contextmanager
def killed(work: Callable[[], object]) -> Iterator[None]:
    """Until ``work`` says on a pipe that it is there; then its process is killed."""
    reading, writing_end = os.pipe()
    number = os.fork()
    if number == 0:
        try:
            work()
            os.write(writing_end, b"x")
            signal.pause()
        finally:
            os._exit(0)
    try:
        assert os.read(reading, 1) == b"x"
        yield
    finally:
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
        os.close(reading)
        os.close(writing_end)


def test_the_lock_of_a_killed_writer_is_free(index: Path, write: Write) -> None:
    held = writing(index)
    refused = pytest.raises(IndexWriteError, match="Another process")
    with killed(held.__enter__), refused, writing(index, timeout_s=0.1):
        pytest.fail("two writers")
    assert (index / LOCK).exists()
    with writing(index, timeout_s=0.1):
        pass
    write()
    held.gen.close()


def test_a_killed_first_build_is_made_by_the_same_command(index: Path, write: Write) -> None:
    assert not is_unfinished(index)
    (index / GENERATIONS).mkdir(parents=True)
    (new_generation(index) / "texts.sqlite").write_bytes(b"half")
    (index / f".{MANIFEST}.abc").write_bytes(b"half")
    (index / LOCK).touch()
    assert is_unfinished(index)
    (index / "mine.txt").touch()
    assert not is_unfinished(index)
    (index / "mine.txt").unlink()
    write()
    assert not is_unfinished(index)
    # what is left over is swept even when nothing is to do
    (new_generation(index) / "texts.sqlite").write_bytes(b"half")
    assert write().difference.nothing
    assert {path.name for path in index.iterdir()} == {GENERATIONS, LOCK, MANIFEST}
    assert len(generations(index)) == 1
    verify_index(index, Letters())
