"""A process that asks and measures: ``python -P -m lexloop.evaluation.run.worker``.

The first line of standard input is a ``Plan``, each further one a ``Task``; every task is answered
by one line, and the plan by ``{"ready": true}`` or ``{"failed": ...}``. It ends when standard input
does, so it does not outlive the process that feeds it.
"""

import json
import os
import sys
from typing import Any, BinaryIO

from lexloop.core.errors import LexloopError
from lexloop.evaluation.run.task import Plan


def main() -> None:
    """Work until there are no more tasks."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # whatever a library prints must not get between the answers
        try:
            _work(out)
        except BrokenPipeError:
            os._exit(0)  # nobody is left to answer


def _work(out: BinaryIO) -> None:
    lines = iter(sys.stdin.buffer)
    try:
        plan: Plan = json.loads(next(lines))
    except StopIteration:
        return
    from lexloop.evaluation.run.bench import Bench

    try:
        bench = Bench(plan)
    except LexloopError as error:
        failed = {"kind": type(error).__name__, "what": error.what, "hint": error.hint}
        _say(out, {"failed": failed})
        return
    _say(out, {"ready": True})
    for line in lines:
        _say(out, {"record": bench.run(json.loads(line))})


def _say(out: BinaryIO, value: dict[str, Any]) -> None:
    out.write(json.dumps(value, allow_nan=False).encode() + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
