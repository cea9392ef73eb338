"""Threads for what an asynchronous run must not do on the event loop.

They are not the loop's own: a caller may fill those with runs that wait for a turn on a thread,
and the run that has the turn must go on.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def _new() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="lexloop")


_pool = _new()


async def beside(work: Callable[[], T]) -> T:
    """What ``work`` returns; it runs in the caller's context variables, beside the event loop."""
    run = contextvars.copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_pool, run, work)


def _forget_pool() -> None:
    """A forked child has the pool's memory but not its threads."""
    global _pool  # noqa: PLW0603 - one pool for the process is the point of this module
    _pool = _new()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
