"""Worker processes: their frames, their deaths, and threads that share them."""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import closing
from pathlib import Path

import pytest

from lexloop.core.errors import LexloopError
from lexloop.core.workers import WorkerDied, WorkerPool, WorkerProcess

ECHO = """
import os, sys, time

def answering(*arguments):
    return lambda asked: answer(asked, arguments)

def answer(asked, arguments):
    print("a library talks")
    if "die" in asked:
        print("one word", file=sys.stderr)
        print("last words", file=sys.stderr)
        os._exit(asked["die"])
    if "wait" in asked:
        time.sleep(asked["wait"])
    yield {"said": asked, "from": os.getpid(), "arguments": arguments}
    yield {"kept": os.environ.get("KEPT")}
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "echoing_worker.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def start(**environment: str) -> WorkerProcess:
    return WorkerProcess("echoing_worker", "one", "two", environment=environment)


@pytest.mark.skipif(sys.platform != "linux", reason="files in memory are Linux's")
def test_a_worker_needs_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", nowhere)
    with closing(start()) as worker:
        worker.send({"die": 3})
        with pytest.raises(WorkerDied, match="exit code 3: last words"):
            worker.receive(time.monotonic() + 60)


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    process = start(KEPT="yes")
    yield process
    process.close()


def frames(worker: WorkerProcess, count: int = 2) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    while len(found) < count:
        found += worker.receive(time.monotonic() + 20)
    return found


def test_every_request_is_answered_whatever_a_library_prints(worker: WorkerProcess) -> None:
    for text in ("first", "§\n\u2028\ud800 " * 100_000):
        worker.send({"text": text})
        said, kept = frames(worker)
        assert (said["said"], said["arguments"]) == ({"text": text}, ["one", "two"])
        assert kept == {"kept": "yes"}
    assert worker.fit


def test_a_death_is_told_with_its_last_words(worker: WorkerProcess) -> None:
    worker.send({"die": 3})
    with pytest.raises(WorkerDied, match=r"^exit code 3: last words$") as caught:
        frames(worker)
    assert (caught.value.code, worker.fit) == (3, False)
    assert caught.value.words.endswith("one word\nlast words")
    worker.send({"text": "to nobody"})
    with pytest.raises(WorkerDied):
        frames(worker)


def test_what_takes_too_long_is_ended(worker: WorkerProcess) -> None:
    worker.send({"wait": 60})
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        worker.receive(began + 0.2)
    assert time.monotonic() - began < 10
    assert not worker.fit
    with pytest.raises(TimeoutError):  # over already
        worker.receive(began)


def _asked(pool: WorkerPool, number: int) -> object:
    with pool.worker() as worker:
        worker.send({"number": number})
        return frames(worker)[0]["from"]


def test_a_worker_is_used_again_unless_it_failed() -> None:
    with WorkerPool(start, 1) as pool:
        first = pool.submit(_asked, pool, 1).result()
        assert pool.submit(_asked, pool, 2).result() == first
        with pytest.raises(ZeroDivisionError), pool.worker() as worker:
            raise ZeroDivisionError
        assert not worker.fit
        assert pool.submit(_asked, pool, 3).result() != first


def test_the_end_of_the_pool_ends_threads_that_wait_and_starts_no_worker() -> None:
    waiting = threading.Event()

    def wait_long() -> None:
        with pool.worker() as worker:
            worker.send({"wait": 60})
            waiting.set()
            worker.receive()

    began = time.monotonic()
    with WorkerPool(start, 1) as pool:
        inside, never = pool.submit(wait_long), pool.submit(_asked, pool, 1)
        assert waiting.wait(20)
    assert time.monotonic() - began < 30
    wait([inside])
    assert isinstance(inside.exception(), WorkerDied)
    assert never.cancelled()
    with pytest.raises(LexloopError, match="The workers were ended"), pool.worker():
        pass
