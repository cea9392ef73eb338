"""What the routes of one application share: its parts, and the end of work that nobody wants."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, HTTPException, Request

from lexloop.apps.serve.asking import Asking
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.indexing import Indexing
from lexloop.apps.serve.limits import Rates
from lexloop.apps.serve.pages import Pages
from lexloop.apps.serve.people import People
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.uploads import UploadStore
from lexloop.apps.threads import ThreadStore

T = TypeVar("T")
PING_S = 15
"""Seconds after which a silent stream shows that it lives."""
SEND_S = 30.0
"""Seconds that a client may take to take a piece."""
_LEFT = 499  # as others have it; the standard knows no status that nobody reads


@dataclass(frozen=True)
class Serving:
    """The parts of a server that routes use."""

    settings: ServerSettings
    engine: Engine
    people: People
    rates: Rates
    collections: Collections
    uploads: UploadStore
    indexing: Indexing
    pages: Pages
    store: ThreadStore
    asking: Asking


async def _serving(request: Request) -> Serving:
    """Return what the application of a request is made of."""
    found: Serving = request.app.state.serving
    return found


Served = Annotated[Serving, Depends(_serving)]


async def while_there(request: Request, work: Awaitable[T]) -> T:
    """Return what comes of work, which ends where the client leaves.

    Raises:
        HTTPException: The client has left; nobody gets to see it.
    """
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise HTTPException(_LEFT, "The client left.")
    finally:
        for task in (doing, leaving):
            task.cancel()
        await asyncio.wait({doing, leaving})


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
