"""What the scripts of this folder share: where things lie, rows read, seconds taken, tables made.

Who imports it finds the helpers of the tests (``tests/support``) and ``training`` as well.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lexloop_eval.score import Score
from lexloop_eval.statistics import Estimate, estimate

T = TypeVar("T")
Row = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ["LEXLOOP_DATA"]) if os.environ.get("LEXLOOP_DATA") else None
"""The folder of the published sets."""
LEXLOOP = (sys.executable, "-m", "lexloop.apps.cli")

sys.path[:0] = str(ROOT / "tests" / "support"), str(ROOT)


class Line(NamedTuple):
    """One thing that a promise was tried by: what should hold, what was seen, whether it did."""

    promise: str
    measured: str
    held: bool


def options(doc: str | None) -> argparse.ArgumentParser:
    """A parser that says of a script what its docstring begins with."""
    return argparse.ArgumentParser(description=(doc or "").split("\n\n")[0])


def numbers(text: str) -> list[int]:
    """Numbers with commas between them."""
    return [int(number) for number in text.split(",")]


def read_rows(path: Path) -> list[Row]:
    """The records of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """The seconds that a call took, and what it gave."""
    began = time.perf_counter()
    made = run()
    return time.perf_counter() - began, made


def in_fork(work: Callable[[], T], seconds: int = 60) -> T:
    """What work gives, from a process of its own, which begins as this one is.

    Raises:
        EOFError: It gave nothing in that time.
    """
    fork = get_context("fork")
    here, there = fork.Pipe(duplex=False)

    def run() -> None:
        signal.alarm(seconds)
        there.send(work())

    process = fork.Process(target=run)
    process.start()
    there.close()
    try:
        given: T = here.recv()
        return given
    finally:
        here.close()
        process.join()


def resident_mb(process: int | str = "self") -> float:
    """Resident memory of a process, files mapped into it included, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as a table of Markdown."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def shown(scores: Sequence[Score], places: int = 3) -> str:
    """A mean with its bootstrap 95 % interval; a dash where nothing is resolved."""
    found = estimate(scores)
    if not isinstance(found, Estimate):
        return "-"
    mean, low, high = (f"{value:.{places}f}" for value in (found.mean, found.low, found.high))
    return f"{mean} [{low}, {high}]"
