"""One event loop in the background, on which every model call runs.

Synchronous and asynchronous callers share one implementation this way, connections are reused
between calls, and a call can be interrupted from either side.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on the background loop, in the caller's context variables.

    Args:
        work: The coroutine; cancelling the future that is returned cancels it.
    """
    return asyncio.run_coroutine_threadsafe(work, _running_loop())


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one loop for the process is the point of this module
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="lexloop-models", daemon=True).start()
        return _loop


def _forget_loop() -> None:
    """A forked child has the loop's memory but not its thread."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
