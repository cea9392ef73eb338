"""How much may be done at once, and how often one person may ask."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from lexloop.core.errors import LexloopError, Overloaded, RateExceeded

T = TypeVar("T")


async def ahead(source: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield what a generator yields, which does not wait for a slow reader.

    It ends where its reader does. What it has yielded meanwhile is held.
    """
    held: asyncio.Queue[T | None] = asyncio.Queue()

    async def work() -> None:
        try:
            async with aclosing(source) as items:
                async for item in items:
                    held.put_nowait(item)
        finally:
            held.put_nowait(None)

    working = asyncio.create_task(work())
    try:
        while (item := await held.get()) is not None:
            yield item
        await working
    finally:
        working.cancel()
        await asyncio.wait({working})


class Rates:
    """Counts, for each person, of what was done in the last minute.

    Args:
        per_minute: The most of it, for each kind of doing.
    """

    def __init__(self, **per_minute: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._most = {kind: RateLimitItemPerMinute(most) for kind, most in per_minute.items()}

    def count(self, kind: str, who: str) -> None:
        """Count one more.

        Raises:
            RateExceeded: It would be one too many.
        """
        most = self._most[kind]
        if not self._limiter.hit(most, kind, who):
            raise RateExceeded(
                f"More than {most.amount} {kind} came from you within a minute.",
                "Wait a moment and try again.",
            )


class Places:
    """Places for what is under way, of which there may be so many to each person.

    Args:
        most: How many; None for any number.
        full: Makes the error of who finds none free.
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
            self._held += Counter()  # keeps those alone that hold any


def streams(most: int) -> Places:
    """Return the places of the answers that are being streamed, of all people together."""
    said = f"{most} questions are being answered, and no more may be (limits.streams)."
    return Places(most, partial(Overloaded, said, "Try again in a few seconds."))


def shares(most: int | None) -> Places:
    """Return the places of the requests that each person has under way."""
    said = f"{most} requests of yours are under way, and no more may be (limits.requests_at_once)."
    return Places(most, partial(RateExceeded, said, "Wait until one of them is done."))


class Queue:
    """The questions that are worked on; the next is one of whoever has the fewest among them.

    Of several such people it is whoever was served longest ago, so nobody waits behind all that
    another asked; the questions of one person keep their order.

    Args:
        at_once: How many are worked on.
        patience_s: The longest that one waits.
    """

    def __init__(self, at_once: int, patience_s: float) -> None:
        self._free, self._patience_s = at_once, patience_s
        self._working = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

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
                f"The question waited for {self._patience_s:g} s behind others (limits.queue_s).",
                "Try again in a few seconds.",
            ) from error
        try:
            yield
        finally:
            self._end(who)

    async def _begun(self, who: str) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(mine)
        self._call()
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():  # it was called as it left
                self._end(who)
            raise

    def _call(self) -> None:
        """Begin as many of those that wait as there are places."""
        while self._free and self._waiting:
            who = min(self._waiting, key=self._working.__getitem__)
            line = self._waiting.pop(who)
            called = line.popleft()
            if not called.cancelled():  # its client is still there
                called.set_result(None)
                self._free -= 1
                self._working[who] += 1
            if line:
                self._waiting[who] = line  # behind the others

    def _end(self, who: str) -> None:
        self._free += 1
        self._working[who] -= 1
        self._working += Counter()
        self._call()
