"""The Model Context Protocol over HTTP: each request says who asks, a session is its maker's."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lexloop.apps.serve.errors import response_of
from lexloop.apps.serve.mcp import WORK, mcp_server
from lexloop.apps.serve.people import Person, person_of
from lexloop.apps.serve.tools import Tools
from lexloop.core.errors import InputError, UnknownPerson

_SESSIONS, _IDLE_S = 1000, 600.0
_MOST_BYTES = 4 * 1024 * 1024
_ALLOWED = ("POST", "DELETE")


class McpEndpoint:
    """An ASGI application that speaks the protocol while ``run`` is entered.

    Args:
        tools: What it offers.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold the sessions."""
        self._manager = StreamableHTTPSessionManager(
            mcp_server(self._tools, person_of),
            session_idle_timeout=_IDLE_S,
            max_request_body_size=_MOST_BYTES,
            max_sessions=_SESSIONS,
        )
        try:
            async with self._manager.run():
                yield
        finally:
            self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            person = person_of(Request(scope))
        except UnknownPerson as error:
            await response_of(error)(scope, receive, send)
            return
        # nothing is told unasked, so a stream that waits for it would only hold a connection
        if scope["method"] not in _ALLOWED or self._manager is None:
            refusal = Response(status_code=405, headers={"Allow": ", ".join(_ALLOWED)})
            await refusal(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if not _is_json(body):
            unread = InputError("The message is no JSON.", "Send one message of JSON-RPC.")
            await response_of(unread)(scope, receive, send)
            return
        work: list[anyio.CancelScope] = []
        asked = {**scope, "user": _user(person), WORK: work}
        try:
            await self._manager.handle_request(asked, _replayed(body, receive), send)
        finally:
            # an answer cannot be fetched later, so whoever leaves wants none
            for held in work:
                held.cancel()


def _user(person: Person) -> AuthenticatedUser:
    """Return a person as the sessions know their owner; another's are as if they did not exist."""
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
