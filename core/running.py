"""Event loops, threads and deadlines: where work runs, and until when.

A node is a coroutine on the event loop of whoever runs the graph, so its computing goes to a
thread. Blocking callers have no loop; they get one of their own, on which nodes may compute. HTTP
clients belong to a loop, so all requests to models' hosts run on one loop of the process.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from lexloop.core.errors import DeadlineExceeded


@dataclass(frozen=True)
class Deadline:
    """The time limit of a question.

    Args:
        at: The end on ``time.monotonic``, a clock that nobody can set. No host is waited for
            after it.
        allowed_s: The question's total seconds, for messages.
        grace_s: Seconds after ``at`` in which work on this machine may still finish.
    """

    at: float
    allowed_s: float
    grace_s: float = 0.0

    @property
    def over(self) -> bool:
        """True once the time, the grace included, has run out."""
        return time.monotonic() >= self.at + self.grace_s

    def check(self, when: str) -> None:
        """Raise if the deadline is over.

        Args:
            when: The end of the message: "before ..." or "while ...".

        Raises:
            DeadlineExceeded: It is over.
        """
        if self.over:
            raise out_of_time(self.allowed_s, when)


def out_of_time(allowed_s: float, when: str) -> DeadlineExceeded:
    """Return the error for a question that took longer than ``allowed_s`` seconds."""
    return DeadlineExceeded(
        f"The deadline of {allowed_s:g} s for one question (deadline_s) ran out {when}.",
        "Raise deadline_s, or use a faster model.",
    )


T = TypeVar("T")
_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def setting(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Set a context variable for everything that runs inside."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def within(deadline: Deadline) -> AbstractContextManager[None]:
    """Set the deadline that everything called inside is checked against."""
    return setting(_current, deadline)


def current_deadline() -> Deadline | None:
    """Return the deadline of the question being answered; None outside of one."""
    return _current.get()


def sooner(seconds: float, when: str) -> tuple[float, DeadlineExceeded | None]:
    """Return the end of a wait within the question being answered, if there is one.

    Args:
        seconds: The longest that the wait may take by itself.
        when: What was done then, as the message of the error says it.

    Returns:
        The end, on ``time.monotonic``, and the error if it is the question's deadline.
    """
    end, question = time.monotonic() + seconds, current_deadline()
    if question is None or question.at >= end:
        return end, None
    return question.at, out_of_time(question.allowed_s, when)


def seconds_left() -> float:
    """Return the seconds that are left of the question being answered; it must be one."""
    deadline = _current.get()
    assert deadline is not None  # every node runs within one
    return max(0.0, deadline.at - time.monotonic())


def heed_deadline(when: str) -> None:
    """Check the deadline of the question being answered, if there is one.

    Raises:
        DeadlineExceeded: It has.
    """
    if (deadline := _current.get()) is not None:
        deadline.check(when)


class Abandoned(BaseException):
    """The caller has left. Not an Exception: nothing that handles failures may take it for one."""


_give_way: ContextVar[Callable[[], None] | None] = ContextVar("give_way", default=None)


def giving_way(let_others: Callable[[], None]) -> AbstractContextManager[None]:
    """Set what ``give_way`` calls in everything that runs inside."""
    return setting(_give_way, let_others)


def give_way() -> None:
    """Let other people's work go first. Long work calls this between its pieces.

    It does nothing outside of a server.

    Raises:
        Abandoned: The caller has left, so the rest is not needed.
    """
    if (let_others := _give_way.get()) is not None:
        let_others()


P = ParamSpec("P")
_IDLE = 8
"""The most loops of callers that are kept for the next ones; each holds three files."""


class _CallersLoop(asyncio.SelectorEventLoop):
    """An event loop in the thread of a caller who blocks."""


class _Process:
    """The threads and loops of this process; each begins when it is first needed."""

    def __init__(self) -> None:
        # not the threads of a loop: a caller may fill those with runs that wait for a turn on a
        # conversation, and the run that has the turn must go on
        self.threads = ThreadPoolExecutor(thread_name_prefix="lexloop")
        self.idle: list[_CallersLoop] = []
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop on which hosts are asked."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.SelectorEventLoop()
                run = self._loop.run_forever
                threading.Thread(target=run, name="lexloop-hosts", daemon=True).start()
            return self._loop


_process = _Process()


def _begin_anew() -> None:
    """Forget the threads and loops: a forked child has their memory alone."""
    global _process  # noqa: PLW0603 - one of each for the process is the point of this module
    _process = _Process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


async def computed(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function with its caller's context variables, and return its result.

    Cancelling the caller does not interrupt the function. Long work must check the deadline.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, _CallersLoop):
        return function(*args, **kwargs)
    work = partial(copy_context().run, function, *args, **kwargs)
    return await loop.run_in_executor(_process.threads, work)


def computing(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make a coroutine function of one that computes; see ``computed``."""

    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await computed(function, *args, **kwargs)

    return run


def waited(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine to a caller who blocks; an interrupt cancels it."""
    if _running_loop() is None:
        return _run_here(work)
    # this thread has a loop, which waits as well
    future = asyncio.run_coroutine_threadsafe(work, _process.loop)
    try:
        return future.result()
    finally:
        future.cancel()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _run_here(work: Coroutine[Any, Any, T]) -> T:
    process = _process
    try:
        loop = process.idle.pop()
    except IndexError:
        # it keeps the context in which it is made, and would keep that run's documents open
        loop = Context().run(_CallersLoop)
    try:
        task = loop.create_task(work)
        try:
            return loop.run_until_complete(task)
        finally:
            if not task.done():
                task.cancel()
                loop.run_until_complete(asyncio.wait([task]))
    finally:
        if len(process.idle) < _IDLE:
            process.idle.append(loop)
        else:
            loop.close()


async def in_time(
    work: Callable[[], Coroutine[Any, Any, T]], deadline: float, late: Exception
) -> T:
    """Await a coroutine on the loop on which hosts are asked, from any loop.

    Args:
        work: Makes the coroutine.
        deadline: When to give up, on ``time.monotonic``.
        late: Is raised then.
    """

    async def timed() -> T:
        if time.monotonic() >= deadline:
            raise late
        limit = asyncio.timeout_at(deadline)
        try:
            async with limit:
                return await work()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise late from error

    if asyncio.get_running_loop() is _process.loop:
        return await timed()
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(timed(), _process.loop))
