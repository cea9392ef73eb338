"""A worker process as the process that feeds it sees it."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from lexloop.core.errors import LexloopError
from lexloop.evaluation.run.task import Plan, Task

_COMMAND = (sys.executable, "-P", "-m", "lexloop.evaluation.run.worker")
_BLOCK = 1 << 20
_LAST_WORDS = 4096
_ENVIRONMENT = {
    # one thread each: the workers share the processors between them
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # sets iterate alike in every worker, so sums over them have the same last digit
    "PYTHONHASHSEED": "0",
}


class WorkerDied(Exception):
    """The process is gone; the text says how it ended."""


class WorkerProcess:
    """Started at once; ``close`` ends it.

    Args:
        plan: What it works on.

    Raises:
        LexloopError: The process cannot be started.
    """

    def __init__(self, plan: Plan) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **_ENVIRONMENT},
                process_group=0,  # Ctrl-C is for the parent, which then ends its workers
            )
        except OSError as error:
            self._errors.close()
            raise LexloopError(f"No worker can be started: {error}.", "Try again.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._partial = b""
        self._plan: Plan | None = plan
        self.task: Task | None = None

    @property
    def number(self) -> int:
        """The process's id."""
        return self._process.pid

    def fileno(self) -> int:
        """What becomes readable when it has answered or ended."""
        return self._stdout.fileno()

    def give(self, task: Task) -> None:
        """Hand it a task; that it has died shows when its answer is read."""
        self.task = task
        plan = [self._plan] if self._plan is not None else []
        self._plan = None
        self._write(b"".join(json.dumps(line).encode() + b"\n" for line in (*plan, task)))

    def _write(self, data: bytes) -> None:
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except BrokenPipeError:
            return

    def read(self) -> list[dict[str, Any]]:
        """The answers that have come; call it where ``fileno`` is readable.

        Raises:
            WorkerDied: There will be no more.
        """
        block = os.read(self._stdout.fileno(), _BLOCK)
        if not block:
            raise WorkerDied(self._ended())
        *lines, self._partial = (self._partial + block).split(b"\n")
        return [json.loads(line) for line in lines]

    def _ended(self) -> str:
        code = self._process.wait()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_WORDS))
        said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"{how}: {said[-1][:300]}" if said and code >= 0 else how

    def close(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._stdout.close()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        self._errors.close()
