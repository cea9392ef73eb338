"""A contestant of latency.py seen from outside: a process that is asked line by line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

_SCRIPT = Path(__file__).with_name("_contestant.py")


class Entrant:
    """A running contestant.

    Args:
        name: Which.
        corpus: The folder of its chunks and vectors.

    Raises:
        RuntimeError: It broke down.
    """

    def __init__(self, name: str, corpus: Path) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, str(_SCRIPT), name, str(corpus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LANGSMITH_TRACING": "false"},
        )
        try:
            self.ready_s = float(self._reply()["ready_s"])
        except BaseException:
            self.close()
            raise

    def _reply(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            code = self._process.wait()
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
