"""Worker processes that answer requests, with one JSON object per line and never a pickle.

A request that crashes, or takes too much memory or time, ends only its own worker.
"""

import contextlib
import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import IO, Any, ParamSpec, Self, TypeVar

from lexloop.core.errors import LexloopError

P = ParamSpec("P")
T = TypeVar("T")
Frame = dict[str, Any]
_BLOCK = 1 << 20
_LAST_WORDS = 4096


class WorkerDied(Exception):
    """A worker process ended unexpectedly.

    Args:
        code: Its exit code, or a negative number for the signal that ended it.
        words: The end of its standard error.
    """

    def __init__(self, code: int, words: str) -> None:
        lines = words.splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        super().__init__(f"{how}: {lines[-1][:300]}" if lines and code >= 0 else how)
        self.code, self.words = code, words


class WorkerProcess:
    """A process that answers requests. It starts at once; ``close`` ends it.

    Only ``kill`` may be called from another thread.

    Args:
        module: A module whose function ``answering`` returns a function from a request to the
            frames of its answer.
        arguments: The arguments of ``answering``.
        environment: Variables to add to those of this process.

    Raises:
        LexloopError: The process cannot be started.
    """

    def __init__(
        self, module: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self.fit = True
        """True while it can be given another request."""
        self._partial: list[bytes] = []
        self._errors = _scratch_file()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", "lexloop.core.workers", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **(environment or {})},
                process_group=0,  # Ctrl-C is for the parent, which then ends its workers
            )
        except OSError as error:
            self._errors.close()
            raise LexloopError(f"No worker can be started: {error}.", "Try again.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._poll = select.poll()  # select itself takes no descriptor above 1023
        self._poll.register(self._stdout, select.POLLIN)

    def send(self, request: Frame) -> None:
        """Send a request. If the worker has died, ``receive`` raises."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(encode(request))
            self._stdin.flush()

    def receive(self, deadline: float | None = None) -> list[Frame]:
        """Wait for frames of the answer. The list is empty if only part of a frame has come.

        Args:
            deadline: When to give up, on ``time.monotonic``, or None to wait forever.

        Raises:
            WorkerDied: The process has ended.
            TimeoutError: The deadline has passed; the process was killed.
        """
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if left == 0.0 or not self._poll.poll(left):
            self.kill()
            raise TimeoutError
        block = os.read(self._stdout.fileno(), _BLOCK)
        if not block:
            raise self._ended()
        first, *more = block.split(b"\n")
        self._partial.append(first)
        lines: list[bytes] = []
        for piece in more:
            lines.append(b"".join(self._partial))
            self._partial = [piece]
        return [json.loads(line) for line in lines]

    def _ended(self) -> WorkerDied:
        self.fit = False
        code = self._process.wait()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_WORDS))
        return WorkerDied(code, self._errors.read().decode("utf-8", "replace").strip())

    def kill(self) -> None:
        """Kill the process. A thread that waits for it notices."""
        self.fit = False
        self._process.kill()

    def close(self) -> None:
        """End the process, wait for it, and close its pipes."""
        self.kill()
        self._stdout.close()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        self._errors.close()


class WorkerPool:
    """Threads with worker processes, which are started when needed and used again.

    Use it as a context manager. At its end the workers are killed, so that threads waiting for them
    end too, and pending work is cancelled.

    Args:
        start: Starts a worker.
        count: The maximum number of threads, and so of workers.
    """

    def __init__(self, start: Callable[[], WorkerProcess], count: int) -> None:
        self._start = start
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="lexloop-worker")
        self._lock = Lock()
        self._idle: list[WorkerProcess] = []
        self._all: set[WorkerProcess] = set()
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.ended = True
            for worker in self._all:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()
        self._all.clear()

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in one of the threads."""
        return self._threads.submit(work, *args, **kwargs)

    @contextmanager
    def worker(self) -> Iterator[WorkerProcess]:
        """Lend a worker to the thread. It is ended after an error, or if it is not fit.

        Raises:
            LexloopError: The worker cannot be started, or the pool has ended.
        """
        worker = self._taken()
        try:
            yield worker
        except BaseException:
            worker.fit = False
            raise
        finally:
            self._given_back(worker)

    def _taken(self) -> WorkerProcess:
        with self._lock:
            if self._idle and not self.ended:
                return self._idle.pop()
        worker = self._start()
        with self._lock:
            if not self.ended:
                self._all.add(worker)
                return worker
        worker.close()
        raise LexloopError("The workers were ended.", "Run the command again.")

    def _given_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            if worker.fit and not self.ended:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.close()


def _scratch_file() -> IO[bytes]:
    """Return an unnamed temporary file, in memory if no temporary folder can be written.

    Raises:
        LexloopError: Neither is possible.
    """
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        if sys.platform != "linux":
            what = f"No worker can be started: {error}."
            raise LexloopError(what, "Set TMPDIR to a folder that can be written.") from error
        return os.fdopen(os.memfd_create("lexloop-worker"), "w+b")


def encode(frame: Frame) -> bytes:
    """Return a frame as one line of ASCII."""
    return json.dumps(frame, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def main(module: str, *arguments: str) -> None:
    """Answer each request on standard input with frames on standard output.

    A worker ends with its standard input, so it does not outlive the process that feeds it.
    """
    # output printed by libraries must not get between the frames
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        answer: Callable[[Frame], Iterable[Frame]]
        answer = importlib.import_module(module).answering(*arguments)
        try:
            for line in sys.stdin.buffer:
                for frame in answer(json.loads(line)):
                    out.write(encode(frame))
                    out.flush()
        except BrokenPipeError:
            os._exit(0)  # nobody is left to answer


if __name__ == "__main__":
    main(*sys.argv[1:])
