"""How much may be done at once, and how often one person may ask."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import TypeVar

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from lexloop.core.errors import Overloaded, RateExceeded

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


class Streams:
    """The answers that are being streamed, of which there may be so many.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._most, self.open = most, 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold one of them.

        Raises:
            Overloaded: There are as many as may be.
        """
        if self.open >= self._most:
            raise Overloaded(
                f"{self.open} questions are being answered, and no more may be (limits.streams).",
                "Try again in a few seconds.",
            )
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1


class Queue:
    """The questions that are worked on; the others wait in the order in which they came.

    Args:
        at_once: How many are worked on.
        patience_s: The longest that one waits.
    """

    def __init__(self, at_once: int, patience_s: float) -> None:
        self._places, self._patience_s = asyncio.Semaphore(at_once), patience_s

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it.

        Raises:
            Overloaded: It did not come in time.
        """
        try:
            async with asyncio.timeout(self._patience_s):
                await self._places.acquire()
        except TimeoutError as error:
            raise Overloaded(
                f"The question waited for {self._patience_s:g} s behind others (limits.queue_s).",
                "Try again in a few seconds.",
            ) from error
        try:
            yield
        finally:
            self._places.release()
