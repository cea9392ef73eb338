"""The Model Context Protocol over HTTP, and over standard input and output.

Its library is loaded by who first speaks it, for the server starts sooner without it.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lexloop_server.people import Person, person_of
from lexloop_server.roles import check_role
from lexloop_server.state import Serving

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from lexloop_server.mcp import LexloopMcp

_log = logging.getLogger("lexloop.serve")
_MOST_LINE_BYTES = 32 << 20
_INPUT = 0


class McpEndpoint:
    """An ASGI application that speaks the protocol while ``run`` is entered.

    Every request stands for itself, as in the protocol of 2026-07-28: a client of an earlier one
    gets no session. Work ends if its client leaves.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._group: TaskGroup | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._loading = asyncio.Lock()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold what serves requests."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                self._group = self._manager = None
                group.cancel_scope.cancel()

    async def _ready(self) -> "StreamableHTTPSessionManager | None":
        """Return what serves requests, started if necessary, or None outside of ``run``."""
        async with self._loading:
            if self._manager is None and self._group is not None:
                self._manager = await self._group.start(self._hold)
        return self._manager

    async def _hold(self, *, task_status: TaskStatus[Any]) -> None:
        manager = await run_in_threadpool(self._made)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()

    def _made(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from lexloop_server.mcp import LexloopMcp

        offered = LexloopMcp(self._serving, person_of)
        return StreamableHTTPSessionManager(
            offered.protocol,
            stateless=True,
            max_request_body_size=sys.maxsize,  # the middleware limits it
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        person = person_of(Request(scope))
        # the server sends nothing unasked, so a stream waiting for it would only hold a connection
        if scope["method"] == "POST":
            check_role(person.role, "POST /mcp", {})
            if (manager := await self._ready()) is not None:
                await manager.handle_request(scope, receive, send)
                return
        await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)


def serve_stdio(serving: Serving, person: Person) -> None:
    """Speak the protocol for a person until standard input closes, or nobody reads any more."""
    from lexloop_server.mcp import LexloopMcp

    offered = LexloopMcp(serving, lambda _: person)
    try:
        asyncio.run(_interruptible(_serve(offered)))
    except* BrokenPipeError:
        _log.info("Nobody reads any more.")


async def _interruptible(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine until it ends, or raise a KeyboardInterrupt at Ctrl-C.

    The handler of ``asyncio.run`` wakes no loop that falls asleep as the signal comes: the process
    would end at the next message. That of a loop does wake it.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # not on Windows
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        await work
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error


async def _serve(offered: "LexloopMcp") -> None:
    """Speak over the standard streams. What else is printed goes to standard error."""
    from mcp.server.stdio import stdio_server

    server = offered.protocol
    # the end of the process would wait for a lock of sys.stdin, which the thread that reads holds
    lines: Any = _lines(os.fdopen(_INPUT, "rb", closefd=False))
    async with stdio_server(lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _lines(file: BinaryIO) -> AsyncIterator[str]:
    """Yield lines as they come.

    A thread that nobody waits for reads them: a read of standard input cannot be cancelled, and
    Ctrl-C must end the process at once. Of a line that is too long, only the beginning is yielded,
    which is not a message.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue(1)

    def tell(line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def follow() -> None:
        with suppress(RuntimeError, OSError, ValueError):  # the loop or the file is closed
            while line := file.readline(_MOST_LINE_BYTES):
                complete = line.endswith(b"\n") or len(line) < _MOST_LINE_BYTES
                while not complete:
                    rest = file.readline(_MOST_LINE_BYTES)
                    complete = rest.endswith(b"\n") or not rest
                    line = line[:1]
                tell(line.decode("utf-8", "replace"))
            tell(None)

    Thread(target=follow, name="lexloop-stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line
