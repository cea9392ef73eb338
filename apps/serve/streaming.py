"""What answers that take a while share: their streams, and the end of work that nobody wants."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import Request

T = TypeVar("T")
PING_S = 15
"""Seconds after which a silent stream shows that it lives."""
SEND_S = 30.0
"""Seconds that a client may take to take a piece."""


async def while_there(request: Request, work: Awaitable[T]) -> T:
    """Return what comes of work, which ends where the client leaves."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            doing.cancel()
        return await doing
    finally:
        for task in (doing, leaving):
            task.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
