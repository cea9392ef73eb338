"""Where a node works: here for a caller who waits, beside the event loop of one who awaits.

The threads for that are not the loop's own: a caller may fill those with runs that wait for a turn
on a thread, and the run that has the turn must go on.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from lexloop.models.background import arun, run

T = TypeVar("T")
Work = Callable[[], T]
Waiting = Callable[[], Coroutine[Any, Any, T]]


def _new() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="lexloop")


_pool = _new()


async def beside(work: Callable[[], T]) -> T:
    """What ``work`` returns; it runs in the caller's context variables, beside the event loop."""
    run = contextvars.copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_pool, run, work)


class Bridge(Protocol):
    """How one kind of caller has things done."""

    async def work(self, work: Work[T]) -> T:
        """What takes the processor."""
        ...

    async def wait(self, work: Waiting[T]) -> T:
        """What waits for a model."""
        ...


class _Here:
    async def work(self, work: Work[T]) -> T:
        return work()

    async def wait(self, work: Waiting[T]) -> T:
        return run(work())


class _Beside:
    async def work(self, work: Work[T]) -> T:
        return await beside(work)

    async def wait(self, work: Waiting[T]) -> T:
        return await arun(work())


HERE: Bridge = _Here()
"""For callers who wait: in their own thread, which blocks."""
BESIDE: Bridge = _Beside()
"""For callers who await: in other threads."""


def _forget_pool() -> None:
    """A forked child has the pool's memory but not its threads."""
    global _pool  # noqa: PLW0603 - one pool for the process is the point of this module
    _pool = _new()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
