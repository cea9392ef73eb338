"""One event loop in the background, on which every model call runs.

Synchronous and asynchronous callers share one implementation this way, connections are reused
between calls, and a call can be interrupted from either side.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


class Job(Generic[T]):
    """One coroutine on the background loop.

    Args:
        work: Makes the coroutine; it runs in the context variables of whoever calls ``start``.

    It can be cancelled at any moment. Ctrl-C may strike while ``start`` is returning, when the
    coroutine runs already and the caller has no future yet.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._loop = _running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False

    def start(self) -> Future[T]:
        """Begin; the future is done when the coroutine is."""
        return asyncio.run_coroutine_threadsafe(self._run(), self._loop)

    def cancel(self) -> None:
        """Interrupt the coroutine if it has not ended."""
        self._cancelled = True
        if self._task is not None and not self._task.done():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _run(self) -> T:
        self._task = asyncio.current_task()
        if self._cancelled:
            raise asyncio.CancelledError
        return await self._work()


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
