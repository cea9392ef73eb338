"""The writing of an uploaded collection's index, in a process of its own.

What takes too much there ends that process alone, and answers are given as quickly meanwhile.
"""

import os
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Connection, Settings
from lexloop.core.workers import Frame

_NICE = 10
_PAUSE_S = 0.1
"""Between two reports of one stage."""


def answering() -> Callable[[Frame], Iterator[Frame]]:
    """Return the function that writes an index.

    It gives frames ``progress``, and last ``done``, ``failed`` or ``unexpected``.
    """
    os.nice(_NICE)
    return _answer


def _answer(asked: Frame) -> Iterator[Frame]:
    told: SimpleQueue[Frame] = SimpleQueue()
    Thread(target=_write, args=(asked, told.put), daemon=True).start()
    while True:
        frame = told.get()
        yield frame
        if "progress" not in frame:
            return


def _write(asked: Frame, tell: Callable[[Frame], None]) -> None:
    try:
        tell({"done": _written(asked, _Progress(tell))})
    except LexloopError as error:
        tell({"failed": [type(error).__name__, error.what, error.hint]})
    except Exception as error:  # noqa: BLE001 - told, and logged by the server with its traceback
        tell({"unexpected": [type(error).__name__, traceback.format_exc()]})


def _written(asked: Frame, progress: "_Progress") -> dict[str, Any]:
    from lexloop.graph.resources import Resources
    from lexloop.store.manifest import IndexSource
    from lexloop.store.writer import write_index

    progress("loading", 0, 1)
    connection = Connection.from_environment(os.environ)
    tools = Resources(connection).tools(Settings(**asked["settings"]), None)
    source = IndexSource(asked["documents"])
    outcome = write_index(Path(asked["index"]), [source], tools, progress=progress)
    return {"counts": outcome.counts, "skipped": [asdict(one) for one in outcome.skipped]}


class _Progress:
    """Tells how far a stage is, some times a second."""

    def __init__(self, tell: Callable[[Frame], None]) -> None:
        self._tell = tell
        self._stage, self._at = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._at >= _PAUSE_S:
            self._stage, self._at = stage, now
            self._tell({"progress": [stage, done, total]})
