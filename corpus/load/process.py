"""One worker process, as the process that feeds it sees it."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Limits
from lexloop.corpus.load.frames import Frame, encode
from lexloop.corpus.load.worker import OUT_OF_MEMORY

_COMMAND = (sys.executable, "-P", "-m", "lexloop.corpus.load.worker")
_BLOCK = 1 << 20
_LAST_WORDS = 4096
_NO_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate memory")


class WorkerProcess:
    """Started at once; ``close`` ends it. Not for two threads at a time, but for ``kill``.

    Args:
        limits: The memory and time that each file may take.

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

    def ask(self, request: Frame) -> Iterator[Frame]:
        """Send a request and give the answer frame by frame, the last being the ``end``.

        Raises:
            CorpusError: The worker took too long or too much memory, or crashed; it is dead now.
        """
        deadline = time.monotonic() + self._limits.seconds
        try:
            self._stdin.write(encode(request))
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
        code, memory = self._process.wait(), _size(self._limits.memory)
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


def _size(count: int) -> str:
    return f"{count / (1 << 30):g} GiB" if count >= 1 << 30 else f"{count >> 20} MiB"
