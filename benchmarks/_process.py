"""A contestant of latency.py seen from outside: a process that is asked line by line."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

_POLL_S = 0.5
_SCRIPT = Path(__file__).with_name("_contestant.py")


class OutOfBudgetError(Exception):
    """A contestant needs more time or memory than it is given; the text says which."""


class Budget(NamedTuple):
    """What a contestant may use.

    Args:
        seconds: For indexing, and for all questions of one pass.
        gib: Resident memory.
    """

    seconds: float
    gib: float


class Entrant:
    """A running contestant.

    Args:
        name: Which.
        corpus: The folder of its chunks and vectors.
        budget: Holds while it indexes.

    Raises:
        OutOfBudgetError: It was not ready in time, or took too much memory.
        RuntimeError: It broke down.
    """

    def __init__(self, name: str, corpus: Path, budget: Budget) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, str(_SCRIPT), name, str(corpus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LANGSMITH_TRACING": "false"},
        )
        try:
            self._wait(budget)
            self.ready_s = float(self._reply()["ready_s"])
        except BaseException:
            self.close()
            raise

    def _wait(self, budget: Budget) -> None:
        end = time.monotonic() + budget.seconds
        while not select.select([self._process.stdout], [], [], _POLL_S)[0]:
            if time.monotonic() > end:
                raise OutOfBudgetError(f"not ready after {budget.seconds:.0f} s")
            if self._resident_gib() > budget.gib:
                raise OutOfBudgetError(f"more than {budget.gib:g} GiB of memory")

    def _resident_gib(self) -> float:
        try:
            statm = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii")
        except OSError:  # it has just ended, which its closed pipe tells as well
            return 0.0
        return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**30

    def _reply(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            code = self._process.wait()
            if code < 0:  # killed, as who takes too much memory is
                raise OutOfBudgetError(f"killed by signal {-code}")
            raise RuntimeError(f"{self.name} broke down with code {code}; its error is above")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._reply()

    def search(self, question: str) -> tuple[float, list[str]]:
        """Milliseconds of one query, and the ids of its best ten chunks."""
        reply = self._ask({"question": question})
        return reply["ms"], reply["ids"]

    def know(self, questions: list[str]) -> None:
        """Have questions embedded ahead."""
        self._ask({"known": questions})

    def resident_mb(self) -> int:
        """Its resident memory now, in MiB."""
        return int(self._ask({})["resident_mb"])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
