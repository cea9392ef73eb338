"""The Model Context Protocol over HTTP: each request says who asks, a session is its maker's."""

import json
from asyncio import Lock
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lexloop.apps.serve.errors import response_of
from lexloop.apps.serve.people import Person, person_of
from lexloop.apps.serve.tools import Tools
from lexloop.core.errors import InputError, UnknownPerson

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_SESSIONS, _IDLE_S = 1000, 600.0
_MOST_BYTES = 4 * 1024 * 1024
_ALLOWED = ("POST", "DELETE")


class McpEndpoint:
    """An ASGI application that speaks the protocol while ``run`` is entered.

    The protocol's library is loaded by the first request, for the server starts sooner without it.

    Args:
        tools: What it offers.
        served_to_others: See ``mcp_server``.
    """

    def __init__(self, tools: Tools, served_to_others: bool) -> None:
        self._tools, self._to_others = tools, served_to_others
        self._group: TaskGroup | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._loading = Lock()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold the sessions."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                self._group = self._manager = None
                group.cancel_scope.cancel()

    async def _ready(self) -> "StreamableHTTPSessionManager | None":
        """Return the manager of the sessions, begun where it was not; None outside of ``run``."""
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

        from lexloop.apps.serve.mcp import mcp_server

        return StreamableHTTPSessionManager(
            mcp_server(self._tools, person_of, self._to_others),
            session_idle_timeout=_IDLE_S,
            max_request_body_size=_MOST_BYTES,
            max_sessions=_SESSIONS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            person = person_of(Request(scope))
        except UnknownPerson as error:
            await response_of(error)(scope, receive, send)
            return
        # nothing is told unasked, so a stream that waits for it would only hold a connection
        manager = await self._ready() if scope["method"] in _ALLOWED else None
        if manager is None:
            refusal = Response(status_code=405, headers={"Allow": ", ".join(_ALLOWED)})
            await refusal(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if not _is_json(body):
            unread = InputError("The message is no JSON.", "Send one message of JSON-RPC.")
            await response_of(unread)(scope, receive, send)
            return
        from lexloop.apps.serve.mcp import WORK

        work: list[anyio.CancelScope] = []
        asked = {**scope, "user": _user(person), WORK: work}
        try:
            await manager.handle_request(asked, _replayed(body, receive), send)
        finally:
            # an answer cannot be fetched later, so whoever leaves wants none
            for held in work:
                held.cancel()


def _user(person: Person) -> Any:
    """Return a person as the sessions know their owner; another's are as if they did not exist."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=person.name, scopes=[]))


def _is_json(body: bytes) -> bool:
    """Return whether a body can be read: the protocol's library fails at what is nested deeply."""
    try:
        json.loads(body or b"null")
    except (ValueError, RecursionError):
        return False
    return True


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, and then what comes after it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received
