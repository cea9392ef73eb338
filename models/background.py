"""One event loop in the background, on which every call of a model's host runs.

Synchronous and asynchronous callers share one implementation this way, connections are reused
between calls, and a call can be interrupted from either side. Its deadline is the whole call's
and holds whatever the host does: a timeout of the client's begins anew with every byte.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

_GRACE_S = 0.5

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


Late = Callable[[], Exception]
"""Makes the exception to raise where the deadline came first."""


def wait(work: Callable[[], Coroutine[Any, Any, T]], deadline: float, late: Late) -> T:
    """Run a coroutine on the background loop, blocking; what it raises is raised here.

    Args:
        work: Makes the coroutine.
        deadline: When to give up, on ``time.monotonic``.
        late: Makes what is raised then.
    """
    job = Job(lambda: _in_time(work, deadline, late))
    try:
        return job.start().result(_patience(deadline))
    except TimeoutError as error:
        raise late() from error
    finally:
        job.cancel()


async def waited(work: Callable[[], Coroutine[Any, Any, T]], deadline: float, late: Late) -> T:
    """As ``wait``, without blocking the event loop."""
    job = Job(lambda: _in_time(work, deadline, late))
    try:
        async with asyncio.timeout(_patience(deadline)):
            return await asyncio.wrap_future(job.start())
    except TimeoutError as error:
        raise late() from error
    finally:
        job.cancel()


def _patience(deadline: float) -> float:
    """Seconds to wait for the background loop, which keeps the deadline itself."""
    return max(0.0, deadline - time.monotonic()) + _GRACE_S


async def _in_time(work: Callable[[], Coroutine[Any, Any, T]], deadline: float, late: Late) -> T:
    left = deadline - time.monotonic()
    if left <= 0:
        raise late()
    limit = asyncio.timeout(left)
    try:
        async with limit:
            return await work()
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise late() from error


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
