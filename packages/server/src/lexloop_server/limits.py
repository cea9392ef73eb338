"""How much may be done at once, and how often one person may ask."""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

import anyio

from lexloop.core.errors import LexloopError, Overloaded, RateExceeded
from lexloop.core.running import Abandoned, giving_way

T = TypeVar("T")
_MINUTE_S = 60.0


async def ahead(source: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield a generator's items without making it wait for a slow reader.

    Items are buffered meanwhile. The generator ends with its reader.
    """
    waiting: asyncio.Queue[T | None] = asyncio.Queue()

    async def work() -> None:
        try:
            async with aclosing(source) as items:
                async for item in items:
                    waiting.put_nowait(item)
        finally:
            waiting.put_nowait(None)

    working = asyncio.create_task(work())
    try:
        while (item := await waiting.get()) is not None:
            yield item
        await working
    finally:
        working.cancel()
        await asyncio.wait({working})


class Rates:
    """Counts what each person did in the last minute.

    The clock is monotonic: with a wall clock that was once ahead, people would be locked out until
    that time came.

    Args:
        per_minute: The maximum per minute for each kind of action.
    """

    def __init__(self, **per_minute: int) -> None:
        self._most, self._lock = per_minute, threading.Lock()
        self._counted: dict[tuple[str, str], deque[float]] = {}
        self._swept = time.monotonic()

    def count(self, kind: str, who: str) -> None:
        """Count one more.

        Raises:
            RateExceeded: It would be one too many.
        """
        most, now = self._most[kind], time.monotonic()
        with self._lock:
            if now - self._swept >= _MINUTE_S:
                self._swept = now
                self._counted = {
                    key: times
                    for key, times in self._counted.items()
                    if times[-1] > now - _MINUTE_S
                }
            times = self._counted.setdefault((kind, who), deque())
            while times and times[0] <= now - _MINUTE_S:
                times.popleft()
            if len(times) < most:
                times.append(now)
                return
        raise RateExceeded(
            f"More than {most} {kind} came from you within a minute.",
            "Wait a moment and try again.",
        )


class Places:
    """Limits how many things each person may have under way.

    Args:
        most: The maximum, or None for no limit.
        full: Returns the error for a person who has reached it.
    """

    def __init__(self, most: int | None, full: Callable[[], LexloopError]) -> None:
        self._most, self._full, self._held = most, full, Counter[str]()

    @contextmanager
    def one(self, who: str = "") -> Iterator[None]:
        """Hold one more of somebody's, or of all people's together.

        Raises:
            Overloaded: They have as many as they may.
        """
        if self._most is not None and self._held[who] >= self._most:
            raise self._full()
        self._held[who] += 1
        try:
            yield
        finally:
            self._held[who] -= 1
            self._held += Counter()  # drops those that hold none


def streams(most: int) -> Places:
    """Return the places of the answers that are being streamed, of all people together."""
    message = f"{most} questions are being answered, and no more may be (limits.streams)."
    return Places(most, partial(Overloaded, message, "Try again in a few seconds."))


def shares(most: int | None) -> Places:
    """Return the places of the requests that each person has under way."""
    message = (
        f"{most} requests of yours are under way, and no more may be (limits.requests_at_once)."
    )
    return Places(most, partial(RateExceeded, message, "Wait until one of them is done."))


class Queue:
    """Shares the processors among people, for everything that computes: questions, cells, searches.

    The next turn goes to the person with the fewest turns, and among these to the one served
    longest ago, so that nobody waits for all of another person's work. Each person's work stays in
    order.

    Args:
        at_once: The number of turns held at once.
        patience_s: The maximum seconds that a caller of ``turn`` waits.
        threads: The maximum calls of ``run`` at once. Those that have begun keep their thread.
    """

    def __init__(self, at_once: int, patience_s: float, threads: int = 100) -> None:
        self._free, self._patience_s = at_once, patience_s
        self._lock = threading.Lock()
        self._working = Counter[str]()
        self._waiting: dict[str, deque[Future[None]]] = {}
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lexloop-turn")

    @asynccontextmanager
    async def turn(self, who: str) -> AsyncIterator[None]:
        """Wait for somebody's turn and hold it.

        Raises:
            Overloaded: It did not come in time.
        """
        try:
            async with asyncio.timeout(self._patience_s):
                await self._begun(who)
        except TimeoutError as error:
            raise Overloaded(
                f"The request waited for {self._patience_s:g} s behind others (limits.queue_s).",
                "Try again in a few seconds.",
            ) from error
        try:
            yield
        finally:
            self._end(who)

    @contextmanager
    def held(self, who: str, left: threading.Event | None = None) -> Iterator[None]:
        """Wait in a thread for somebody's turn, however long, and hold it.

        Work inside passes the turn on when it calls ``give_way`` while other people wait.

        Args:
            who: Whose turn.
            left: Once set, ``give_way`` raises ``Abandoned``.
        """
        self._wait(who).result()
        try:
            with self._shared(who, left):
                yield
        finally:
            self._end(who)

    async def run(self, who: str, work: Callable[[], T]) -> T:
        """Return the result of work that runs in a thread, in somebody's turn.

        A caller who leaves gives up the turn. Work that has begun ends at its next ``give_way``,
        and the turn is held until then.

        Raises:
            Overloaded: The turn did not come in time.
        """
        left = threading.Event()

        def begun() -> T:
            with self._shared(who, left):
                return work()

        async with self.turn(who):
            doing = asyncio.get_running_loop().run_in_executor(self._threads, begun)
            try:
                return await asyncio.shield(doing)
            except asyncio.CancelledError:
                left.set()
                doing.add_done_callback(lambda done: done.cancelled() or done.exception())
                with anyio.CancelScope(shield=True):
                    await asyncio.wait({doing})
                raise

    def close(self) -> None:
        """Wait for the threads to end."""
        self._threads.shutdown(cancel_futures=True)

    @contextmanager
    def _shared(self, who: str, left: threading.Event | None) -> Iterator[None]:
        def end_if_left() -> None:
            if left is not None and left.is_set():
                raise Abandoned

        def let_others() -> None:
            end_if_left()
            if (again := self._passed_on(who)) is not None:
                again.result()
                end_if_left()

        with giving_way(let_others):
            yield

    def _passed_on(self, who: str) -> "Future[None] | None":
        """End a turn if other people wait, and return the next one, or None if nobody waits."""
        with self._lock:
            if not self._waiting.keys() - {who}:
                return None
            again: Future[None] = Future()
            line = self._waiting.pop(who, deque())  # now served last
            line.appendleft(again)  # what has begun goes before what has not
            self._waiting[who] = line
            self._gave_back(who)
        return again

    def _wait(self, who: str) -> "Future[None]":
        turn: Future[None] = Future()
        with self._lock:
            self._waiting.setdefault(who, deque()).append(turn)
            self._call()
        return turn

    async def _begun(self, who: str) -> None:
        turn = self._wait(who)
        try:
            await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancel():  # it came as the caller left
                self._end(who)
            raise

    def _call(self) -> None:
        """Begin as many of those that wait as there are places; the caller holds the lock."""
        while self._free and self._waiting:
            who = min(self._waiting, key=self._working.__getitem__)
            line = self._waiting.pop(who)
            called = line.popleft()
            if called.set_running_or_notify_cancel():  # its caller is still there
                self._free -= 1
                self._working[who] += 1
                called.set_result(None)
            if line:
                self._waiting[who] = line  # behind the others

    def _end(self, who: str) -> None:
        with self._lock:
            self._gave_back(who)

    def _gave_back(self, who: str) -> None:
        self._free += 1
        self._working[who] -= 1
        self._working += Counter()
        self._call()


class Lines:
    """Background work, one piece at a time for each person, and of several people side by side.

    Args:
        name: Of the threads.
        most: The most people whose work runs at once. Others wait for the next to be done.
    """

    def __init__(self, name: str, most: int) -> None:
        self._threads = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._changed = threading.Condition()
        self._lines: dict[str, deque[Callable[[], None]]] = {}

    def add(self, who: str, work: Callable[[], None]) -> None:
        """Run work once all that the person added before is done."""
        with self._changed:
            if who not in self._lines:
                self._threads.submit(self._next, who)
            self._lines.setdefault(who, deque()).append(work)

    def idle(self) -> None:
        """Wait until nothing waits or runs."""
        with self._changed:
            self._changed.wait_for(lambda: not self._lines)

    def close(self) -> None:
        """Wait for what runs; what waits is dropped."""
        with self._changed:
            for line in self._lines.values():
                while len(line) > 1:
                    line.pop()
        self._threads.shutdown(cancel_futures=True)

    def _next(self, who: str) -> None:
        with self._changed:
            work = self._lines[who][0]
        try:
            work()
        finally:
            with self._changed:
                line = self._lines[who]
                line.popleft()
                if line:
                    self._threads.submit(self._next, who)  # behind the work of others
                else:
                    del self._lines[who]
                    self._changed.notify_all()
