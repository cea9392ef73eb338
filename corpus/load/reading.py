"""Files -> documents, several at a time in worker processes, in the files' order."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document, Limits, Loaded, Part, Skipped, SourceFile
from lexloop.corpus.load.sidecar import Sidecars, finished
from lexloop.corpus.load.worker import OUT_OF_MEMORY, Frame, encode, from_frame, request

Progress = Callable[[str, int, int], None]
_AHEAD = 4
"""Files read ahead of the one that is waited for, for each worker."""
_COMMAND = (sys.executable, "-P", "-m", "lexloop.corpus.load.worker")
_BLOCK = 1 << 20
_LAST_WORDS = 4096
_NO_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate memory")


def silent(stage: str, done: int, total: int) -> None:
    """Report progress to nobody."""


def read_files(
    files: Sequence[SourceFile],
    sidecars: Sidecars,
    progress: Progress = silent,
    workers: int | None = None,
    limits: Limits | None = None,
) -> Generator[Loaded, None, None]:
    """Read files as they are asked for, a few ahead and no more, in their order.

    Args:
        files: As ``hash_sources`` gives them; one that changed since is reported.
        sidecars: As ``read_sidecars`` gives them.
        progress: Called with ``reading``, the files done and the files in all.
        workers: How many files are parsed at once; None for one a processor.
        limits: What each file may cost.

    Yields:
        What each file gave. Closing the iterator early ends the workers.
    """
    if not files:
        return
    pool = _Pool(limits or Limits())
    count = max(1, min(workers or os.cpu_count() or 1, len(files)))
    threads = ThreadPoolExecutor(count, thread_name_prefix="lexloop-reading")
    try:
        waiting: deque[Future[Loaded]] = deque()
        left = iter(files)
        for done in range(len(files)):
            while len(waiting) < count * _AHEAD and (file := next(left, None)) is not None:
                waiting.append(threads.submit(_read, file, sidecars, pool))
            loaded = waiting.popleft().result()
            progress("reading", done + 1, len(files))
            yield loaded
    finally:
        pool.kill()
        threads.shutdown(cancel_futures=True)
        pool.close()


def _read(file: SourceFile, sidecars: Sidecars, pool: "_Pool") -> Loaded:
    """One file, with what the sidecars say of its documents."""
    if (why := sidecars.bars(file.name)) is not None:
        return Loaded(file, (), (Skipped(file.name, why),))
    found = pool.read(file)
    applied = [sidecars.applied(one) for one in found if isinstance(one, Document)]
    return Loaded(
        file,
        tuple(finished(one) for one in applied if isinstance(one, Document)),
        tuple(one for one in (*found, *applied) if isinstance(one, Skipped)),
    )


class _Pool:
    """Worker processes, started when needed and used again. For use by several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = Lock()
        self._idle: list[WorkerProcess] = []
        self._all: set[WorkerProcess] = set()
        self._closed = False

    def read(self, file: SourceFile) -> list[Document | Skipped]:
        """Read the documents of a file, and what of it cannot be read.

        An archive whose member ends the worker is read on from the next member. Nothing of a part
        that fails is kept.
        """
        found: list[Document | Skipped] = []
        start: int | None = 0
        while start is not None:
            start = self._read_from(start, file, found)
        return found

    def _read_from(
        self, start: int, file: SourceFile, found: list[Document | Skipped]
    ) -> int | None:
        """Read from a part on; give the part to go on with, None where there is none."""
        part, begun = Part(file.name, -1), len(found)
        worker, fit = None, False
        try:
            worker = self._take()
            for frame in worker.ask(request(file, start, self._limits)):
                if "end" in frame:
                    fit = frame["end"]
                elif "failed" in frame:
                    found[begun:] = [Skipped(part.name, frame["failed"])]
                elif isinstance(one := from_frame(frame), Part):
                    part, begun = one, len(found)
                else:
                    found.append(one)
        except CorpusError as error:
            found[begun:] = [Skipped(part.name, error.what)]
            return part.number + 1 if part.number >= 0 else None
        finally:
            if worker is not None:
                self._give(worker, fit)
        return None

    def _take(self) -> "WorkerProcess":
        with self._lock:
            if self._closed:
                raise CorpusError("Reading was ended.", "Run the command again.")
            if self._idle:
                return self._idle.pop()
            worker = WorkerProcess(self._limits)
            self._all.add(worker)
            return worker

    def _give(self, worker: "WorkerProcess", fit: bool) -> None:
        with self._lock:
            if fit and not self._closed:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.close()

    def kill(self) -> None:
        """End every worker, so that the threads which wait for them end too."""
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.kill()

    def close(self) -> None:
        """End every worker and wait for it; no thread may be reading any more."""
        self.kill()
        for worker in self._all:
            worker.close()
        self._all.clear()


class WorkerProcess:
    """Started at once; ``close`` ends it. Not for two threads at a time, but for ``kill``.

    Raises:
        CorpusError: The process cannot be started.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lines: deque[bytes] = deque()
        self._partial: list[bytes] = []
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [*_COMMAND, str(limits.memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                process_group=0,  # Ctrl-C is for the parent, which then ends its workers
            )
        except OSError as error:
            self._errors.close()
            raise CorpusError(f"No worker can be started: {error}.", "Try again.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)

    def ask(self, asked: Frame) -> Iterator[Frame]:
        """Send a request and give the answer frame by frame, the last being the ``end``.

        Raises:
            CorpusError: The worker took too long or too much memory, or crashed; it is dead now.
        """
        deadline = time.monotonic() + self._limits.seconds
        try:
            self._stdin.write(encode(asked))
        except OSError as error:
            raise self._ended() from error
        while True:
            frame: Frame = json.loads(self._line(deadline))
            yield frame
            if "end" in frame:
                return
            if "part" in frame:
                deadline = time.monotonic() + self._limits.seconds

    def _line(self, deadline: float) -> bytes:
        while not self._lines:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                self.kill()
                raise self._too_long()
            block = os.read(self._stdout.fileno(), _BLOCK)
            if not block:
                raise self._ended()
            first, *more = block.split(b"\n")
            self._partial.append(first)
            for piece in more:
                self._lines.append(b"".join(self._partial))
                self._partial = [piece]
        return self._lines.popleft()

    def _too_long(self) -> CorpusError:
        return CorpusError(f"It took longer than {self._limits.seconds:g} s.", "Split the file.")

    def _ended(self) -> CorpusError:
        """Why the process ended, told by its exit code and its last words."""
        code, limit = self._process.wait(), self._limits.memory
        memory = f"{limit / (1 << 30):g} GiB" if limit >= 1 << 30 else f"{limit >> 20} MiB"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_WORDS))
        said = self._errors.read().decode("utf-8", "replace").strip()
        if code == OUT_OF_MEMORY or any(mark in said for mark in _NO_MEMORY):
            return CorpusError(f"It needs more than {memory} of memory.", "Split the file.")
        if code == -signal.SIGALRM:
            return self._too_long()
        if code == -signal.SIGABRT:  # how PDFium ends when it gets no memory
            what = f"The parser gave up (signal 6): it may need more than {memory} of memory."
            return CorpusError(what, "Split the file.")
        if code < 0:
            return CorpusError(f"The parser crashed (signal {-code}).", "Save the file anew.")
        last = said.splitlines()[-1] if said else f"exit code {code}"
        return CorpusError(f"The parser failed ({last[:200]}).", "Save the file anew.")

    def kill(self) -> None:
        """End the process; another thread that waits for it sees that it ended."""
        self._process.kill()

    def close(self) -> None:
        """End the process, wait for it, and close what it was reached by."""
        self._process.kill()
        self._stdin.close()
        self._stdout.close()
        self._process.wait()
        self._errors.close()
