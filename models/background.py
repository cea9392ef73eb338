"""One event loop in the background, on which every call of a model's host runs.

Synchronous and asynchronous callers share one implementation this way, connections are reused
between calls, and a call can be interrupted from either side. Its deadline is the whole call's
and holds whatever the host does: a timeout of the client's begins anew with every byte.
"""

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, Generic, NamedTuple, TypeVar

_GRACE_S = 0.5

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_idle: list[asyncio.AbstractEventLoop] = []
"""Loops that their last coroutine has left."""
_here = threading.local()
"""Of each thread, whether a step of a driven coroutine runs in it."""


async def in_time(
    work: Callable[[], Coroutine[Any, Any, T]], deadline: float, late: Exception
) -> T:
    """Run a coroutine on the background loop, and raise here what it raises.

    Args:
        work: Makes the coroutine.
        deadline: When to give up, on ``time.monotonic``.
        late: Is raised then.
    """

    async def timed() -> T:
        left = deadline - time.monotonic()
        if left <= 0:
            raise late
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await work()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise late from error

    job = Job(timed)
    try:
        # the background loop keeps the deadline too
        return await Result(job.start(), deadline + _GRACE_S)
    except TimeoutError as error:
        raise late from error
    finally:
        job.cancel()


async def on_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on an event loop of its own, where it may wait for anything."""
    job = Job(lambda: work, own=True)
    try:
        return await Result(job.start())
    finally:
        job.cancel()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on an event loop of its own, blocking; its deadlines hold.

    It may take the processor, and block, without delaying other calls of models.
    """
    job = Job(lambda: work, own=True)
    try:
        return job.start().result()
    finally:
        job.cancel()


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits.

    Raises:
        RuntimeError: It does wait.
    """
    try:
        work.send(None)
    except StopIteration as done:
        found: T = done.value
        return found
    finally:
        work.close()
    raise RuntimeError(f"{work} waits, and nobody runs it")


class Result(Generic[T]):
    """What a job comes to, for who awaits it: a task of an event loop, or a ``Driven`` coroutine.

    Args:
        future: The job's.
        until: When to give up with a TimeoutError, on ``time.monotonic``; None for never.
    """

    def __init__(self, future: Future[T], until: float | None = None) -> None:
        self._future, self._until = future, until

    def __await__(self) -> Generator[Any, Any, T]:
        if not getattr(_here, "driving", False):
            return (yield from self._in_task().__await__())
        yield self
        return self._future.result(0)

    async def _in_task(self) -> T:
        async with asyncio.timeout(self._left_s()):
            return await asyncio.wrap_future(self._future)

    def wait(self) -> None:
        """Block until it is there or it is given up; whoever awaits it finds out which."""
        concurrent.futures.wait([self._future], self._left_s())

    async def settled(self) -> None:
        """Do what ``wait`` does without blocking the event loop."""
        there = asyncio.wrap_future(self._future)
        # an error is told to whoever awaits the result, and to the loop as heard of
        there.add_done_callback(lambda found: found.cancelled() or found.exception())
        await asyncio.wait([there], timeout=self._left_s())

    def _left_s(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())


class Done(NamedTuple, Generic[T]):
    """The end of a driven coroutine."""

    value: T


class Driven(Generic[T]):
    """A coroutine that runs step by step, in any thread, with no event loop around it.

    What it does between two waits may block: it delays no loop. It can wait for what runs on a
    loop of the background alone (``in_time``, ``on_own_loop``).

    Args:
        work: The coroutine.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work, self._context = work, copy_context()
        self._lock, self._left = threading.Lock(), False

    def step(self) -> Result[Any] | Done[T]:
        """Run it to where it waits, and return for what; or to its end."""
        try:
            with self._lock:
                return self._context.run(self._on)
        finally:
            if self._left:
                self.leave()

    def leave(self) -> None:
        """Interrupt it where it waits; where it runs in another thread, once that step is over."""
        self._left = True
        if self._lock.acquire(blocking=False):
            try:
                self._context.run(self._work.close)
            finally:
                self._lock.release()

    def _on(self) -> Result[Any] | Done[T]:
        _here.driving = True
        try:
            waits_for: Result[Any] = self._work.send(None)
        except StopIteration as done:
            return Done(done.value)
        finally:
            _here.driving = False
        return waits_for


class Job(Generic[T]):
    """A coroutine on the background loop, or on a loop of its own.

    It runs in the context variables of whoever calls ``start``, and can be cancelled at any moment:
    Ctrl-C may strike while ``start`` is returning, when the coroutine runs already and the caller
    has no future yet.

    Args:
        work: Makes the coroutine.
        own: Whether it has a loop to itself.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], own: bool = False) -> None:
        self._work, self._own = work, own
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False

    def start(self) -> Future[T]:
        """Start the coroutine and return the future of its result."""
        self._loop = _loop_of_its_own() if self._own else _shared_loop()
        return asyncio.run_coroutine_threadsafe(self._run(self._loop), self._loop)

    def cancel(self) -> None:
        """Interrupt the coroutine if it has not ended."""
        self._cancelled = True
        if self._loop is not None and self._task is not None and not self._task.done():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _run(self, loop: asyncio.AbstractEventLoop) -> T:
        self._task = asyncio.current_task()
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            return await self._work()
        finally:
            if self._own:
                _idle.append(loop)


def _shared_loop() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one loop for the process is the point of this module
    with _lock:
        if _loop is None:
            _loop = _new_loop("lexloop-models")
        return _loop


def _loop_of_its_own() -> asyncio.AbstractEventLoop:
    try:
        return _idle.pop()
    except IndexError:
        return _new_loop("lexloop-node")


def _new_loop(name: str) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
    return loop


def _forget_loop() -> None:
    """Drop the loops in a forked child, which has their memory but not their threads."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
