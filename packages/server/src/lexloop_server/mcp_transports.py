"""The Model Context Protocol over HTTP, and over standard input and output.

Its library is loaded by who first speaks it, for the server starts sooner without it.
"""

import asyncio
import io
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lexloop.core.errors import InputError
from lexloop_server.errors import response_of
from lexloop_server.people import Person, person_of
from lexloop_server.roles import check_role
from lexloop_server.state import Serving

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from lexloop_server.mcp import LexloopMcp

_log = logging.getLogger("lexloop.serve")
_IDLE_S = 600.0
_MOST_LINE_BYTES = 32 << 20
_ALLOWED = ("POST", "DELETE")
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


class McpEndpoint:
    """An ASGI application that speaks the protocol while ``run`` is entered.

    Each person has up to ``sessions`` sessions. Nobody else can see them or use them up.
    """

    def __init__(self, serving: Serving, sessions: int) -> None:
        self._serving, self._sessions = serving, sessions
        self._group: TaskGroup | None = None
        self._managers: dict[str, StreamableHTTPSessionManager] = {}
        self._loading = asyncio.Lock()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold the sessions."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                self._group = None
                self._managers.clear()
                group.cancel_scope.cancel()

    async def _ready(self, person: Person) -> "StreamableHTTPSessionManager | None":
        """Return the manager of a person's sessions, started if necessary.

        Return None outside of ``run``.
        """
        async with self._loading:
            if person.name not in self._managers and self._group is not None:
                self._managers[person.name] = await self._group.start(self._hold)
        return self._managers.get(person.name)

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
            session_idle_timeout=_IDLE_S,
            max_request_body_size=sys.maxsize,  # the middleware limits it
            max_sessions=self._sessions,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        person = person_of(Request(scope))
        if scope["method"] in _ALLOWED:
            check_role(person.role, f"{scope['method']} /mcp", {})
        # the server sends nothing unasked, so a stream waiting for it would only hold a connection
        manager = await self._ready(person) if scope["method"] in _ALLOWED else None
        if manager is None:
            refusal = Response(status_code=405, headers={"Allow": ", ".join(_ALLOWED)})
            await refusal(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if not _is_json(body):
            unread = InputError("The message is not JSON.", "Send one message of JSON-RPC.")
            await response_of(unread)(scope, receive, send)
            return
        from lexloop_server.mcp import WORK

        work: list[anyio.CancelScope] = []
        tracked = {**scope, WORK: work}
        try:
            await manager.handle_request(tracked, _replayed(body, receive), send)
        finally:
            # an answer cannot be fetched later, so a client that leaves wants none
            for cancellation in work:
                cancellation.cancel()


def _is_json(body: bytes) -> bool:
    """Return whether a body can be read. The protocol's library fails on deep nesting."""
    try:
        json.loads(body or b"null")
    except (ValueError, RecursionError):
        return False
    return True


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, and then what comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return pending.pop() if pending else await receive()

    return received


def serve_stdio(serving: Serving, person: Person) -> None:
    """Speak the protocol for a person until standard input closes, or nobody reads any more."""
    from lexloop_server.mcp import LexloopMcp

    offered = LexloopMcp(serving, lambda _: person)
    with _own_streams() as (incoming, outgoing):
        try:
            asyncio.run(_interruptible(_serve(offered, incoming, outgoing)))
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


async def _serve(offered: "LexloopMcp", source: BinaryIO, target: BinaryIO) -> None:
    from mcp.server.stdio import stdio_server

    server = offered.protocol
    lines: Any = _lines(source)
    output = anyio.wrap_file(io.TextIOWrapper(target, encoding="utf-8", write_through=True))
    async with stdio_server(lines, output) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@contextmanager
def _own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Reserve the standard streams for the protocol. Other output goes to standard error."""
    sys.stdout.flush()
    incoming = os.fdopen(os.dup(_INPUT), "rb")
    outgoing = os.fdopen(os.dup(_OUTPUT), "wb", buffering=0)
    before = os.dup(_OUTPUT)
    os.dup2(_ERRORS, _OUTPUT)
    try:
        yield incoming, outgoing
    finally:
        os.dup2(before, _OUTPUT)
        os.close(before)


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
