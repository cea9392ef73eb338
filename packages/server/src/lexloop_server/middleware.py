"""The checks of every request, in this order.

1. Its form: length, host and origin.
2. Who asks. If keys are set, no body is read from an unknown sender.
3. How often they ask, and how much they have under way (``limits``).
4. How large its body is and how long it takes: it must fit into memory, unless a route that writes
   to the disk allows more (``Body.allow``).

Every response gets security headers for browsers. This is plain ASGI, so that streams pass through
unchanged.
"""

import asyncio
import socket
import time
from contextlib import ExitStack, suppress
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from lexloop.core.errors import (
    AccessError,
    InputError,
    LexloopError,
    TooLargeError,
    TooSlow,
    UnknownPerson,
)
from lexloop_server.audit import AuditLog
from lexloop_server.errors import Refused, response_of
from lexloop_server.limits import Places, Rates
from lexloop_server.people import COOKIE, People, Person
from lexloop_server.settings import LimitSettings, ServerSettings
from lexloop_server.translation import ENGLISH, asked_in, language

_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self'",
        "style-src 'self'",
        "script-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL_NAMES = frozenset({"localhost", "testserver"})
_GUARDED = ("/api", "/v1", "/mcp")
_HEALTH, _SIGN_IN = "/api/health", "/api/session"
SCHEMA = "/api/openapi.json"
WRONG_KEY = "wrong key"
"""The audit log's name for the use of an unknown key."""
_MB = 1024 * 1024
_UNKNOWN_BYTES = 16 * 1024
"""Largest body of an unknown sender. A key to sign in with fits into it."""
_DIGITS = 20
"""A length of more digits is too large anyway, and Python reads no number of thousands of them."""
_LONGEST_ADDRESS = 100
_LINGER_S, _LINGER_BYTES = 2.0, 16 * _MB


class Guard:
    """Admits a request, and puts its sender into its scope as ``lexloop.person``.

    Args:
        app: The application.
        settings: The hosts and the limits.
        people: Identifies the sender.
        rates: Counts requests.
        shares: Counts requests under way.
        audit: Records wrong keys, and names from untrusted proxies.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServerSettings,
        people: People,
        rates: Rates,
        shares: Places,
        audit: AuditLog,
    ) -> None:
        self._app, self._limits, self._people = app, settings.limits, people
        self._rates, self._shares, self._audit = rates, shares, audit
        own = {socket.gethostname().lower(), settings.host.lower()}
        self._hosts = {*_LOCAL_NAMES, *own, *(name.lower() for name in settings.hosts)}
        # what a trusted proxy forwards becomes the scope's client and scheme
        self._forwarded: Any = ProxyHeadersMiddleware(cast("Any", self._answer), people.proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            scope["lexloop.peer"] = address_of(scope)
            await self._forwarded(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        person: Person | None = None
        answer: ASGIApp = self._app
        language.set(_language_of(scope))
        with ExitStack() as stack:
            try:
                scope["lexloop.person"] = person = self._admitted(scope)
                if person is not None:
                    stack.enter_context(self._shares.one(person.name))
            except LexloopError as error:
                answer = response_of(error, scope["path"])
                if isinstance(error, UnknownPerson) and b"authorization" in dict(scope["headers"]):
                    await run_in_threadpool(self._audit.warn, WRONG_KEY, address_of(scope))
            if self._is_forged(scope):
                peer = scope["lexloop.peer"]
                await run_in_threadpool(self._audit.warn, "identity header of no proxy", peer)
            body = scope["lexloop.body"] = Body(scope, receive, self._limits, person is not None)
            caching = "no-store" if scope["path"].startswith(_GUARDED) else "no-cache"
            await answer(scope, body.receive, _responding(send, body, caching))

    def _admitted(self, scope: Scope) -> Person | None:
        """Return the sender, or None if it does not matter.

        Raises:
            LexloopError: The request is refused.
        """
        headers, path = _headers_of(scope), scope["path"]
        _check_length(headers)
        self._check_host(headers.get("host", ""))
        if scope["method"] not in _SAFE:
            self._check_origin(headers)
        if path == _HEALTH or not path.startswith(_GUARDED):
            return None
        address = address_of(scope)
        self._check_identity(scope)
        if path == _SIGN_IN:
            # counted separately, so that requests without a key do not keep others at the same
            # address from signing in
            self._rates.count("requests", f"sign-in: {address}")
            return None
        sender = f"stranger: {address}"
        try:
            session = Request(scope).cookies.get(COOKIE, "")
            person = self._people.identified(headers, scope["lexloop.peer"], session)
            if person is None:
                raise UnknownPerson(
                    "A key is needed.",
                    "Send it as `Authorization: Bearer KEY`, or sign in on the page.",
                )
            sender = person.name
        finally:
            if path != SCHEMA:
                self._rates.count("requests", sender)
        return person

    def _check_identity(self, scope: Scope) -> None:
        """Refuse a duplicated header of a trusted proxy, since one may come from the client."""
        if not self._people.trusts(scope["lexloop.peer"]):
            return
        names = [name.decode("latin-1") for name, _ in scope["headers"]]
        for name in self._people.identity_headers:
            if names.count(name) > 1:
                raise InputError(
                    f"The proxy says {name} twice.", "Have it replace what a client sends of it."
                )

    def _is_forged(self, scope: Scope) -> bool:
        """Return whether an untrusted sender claims an identity."""
        names = {name.decode("latin-1") for name, _ in scope["headers"]}
        claimed = names.intersection(self._people.identity_headers)
        return bool(claimed) and not self._people.trusts(scope["lexloop.peer"])

    def _check_host(self, host: str) -> None:
        """Refuse names that are not the server's: a page elsewhere may resolve to this address."""
        name = _host_of(f"//{host}")
        if name in self._hosts or _is_address(name):
            return
        raise AccessError(
            "The server is not known by the name in the Host header.",
            "Ask it by its address, or name the host under `hosts` in its settings.",
        )

    def _check_origin(self, headers: dict[str, str]) -> None:
        """Refuse requests that a browser sends for a page of another site."""
        origin, host = headers.get("origin"), headers.get("host", "").lower()
        site = headers.get("sec-fetch-site", "none")
        same = origin is None or _netloc_of(origin) == host
        if not same or site not in ("same-origin", "none"):
            raise AccessError(
                "The request comes from a page of another site.", "Ask from the server's own page."
            )


def _check_length(headers: dict[str, str]) -> None:
    """Refuse a request that tells its length in two ways: proxies may read it in the other."""
    if "content-length" in headers and "transfer-encoding" in headers:
        raise InputError(
            "The request has both Content-Length and Transfer-Encoding.", "Send one of the two."
        )


class Body:
    """The body of a request, with limits on its size and time.

    Args:
        scope: The request's scope.
        receive: Returns the messages.
        limits: The limits on a body that is read into memory.
        known: Whether the sender is known.
    """

    def __init__(
        self, scope: Scope, receive: Receive, limits: LimitSettings, known: bool = True
    ) -> None:
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"" if b"transfer-encoding" in headers else b"0")
        digits = declared.lstrip(b"0")[:_DIGITS] or b"0"
        self.length = int(digits) if declared.isdigit() else None
        """The number of bytes that the client announced, or None."""
        self.whole = self.length == 0
        self._receive, self._idle_s, self._began = receive, limits.idle_s, time.monotonic()
        self._got = 0
        most = limits.body_mb * _MB
        self.allow(int(most if known else min(most, _UNKNOWN_BYTES)), limits.body_s)

    def allow(self, most: int, within_s: float) -> None:
        """Set how many bytes are taken, and for how many seconds from when the request came."""
        self._most, self._until = most, self._began + within_s

    async def receive(self) -> Message:
        """Return the next message.

        Raises:
            Refused: The body is too large, or does not come in time.
        """
        if self.whole:
            return await self._receive()
        self._check_size(self.length or 0)
        remaining = min(self._idle_s, self._until - time.monotonic())
        try:
            async with asyncio.timeout(max(0.0, remaining)):
                message = await self._next()
        except TimeoutError as error:
            raise Refused(
                TooSlow("The request's body did not come in time.", "Send it faster.")
            ) from error
        self._check_size(self._got)
        return message

    async def drain(self) -> None:
        """Read and discard what still comes within a moment, up to a size.

        If a connection is closed while its client sends, the response is lost.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while not self.whole and self._got < _LINGER_BYTES:
                    await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        self._got += len(message.get("body", b""))
        self.whole = message["type"] != "http.request" or not message.get("more_body")
        return message

    def _check_size(self, size: int) -> None:
        if size > self._most:
            most = round(self._most / _MB, 2)
            raise Refused(
                TooLargeError(
                    f"More than {most:g} MB were sent at once; nothing was accepted.",
                    "Send less at once.",
                )
            )


def body_of(request: Request) -> Body:
    """Return the body of a request, as the middleware lets it be taken."""
    body: Body = request.scope["lexloop.body"]
    return body


def _responding(send: Send, body: Body, caching: str) -> Send:
    """Return a function that sends a response with the usual headers and with cache rules.

    A response that leaves a body unread closes the connection.
    """

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**_HEADERS, "cache-control": caching}.items():
                headers.setdefault(name, value)
            if not body.whole:
                headers.setdefault("connection", "close")
        elif not message.get("more_body") and not body.whole:
            await send({**message, "more_body": True})
            await body.drain()
            message = {"type": "http.response.body"}
        await send(message)

    return sent


def _language_of(scope: Scope) -> str:
    """Return the language of the API's texts; the protocols of others have English ones."""
    if not scope["path"].startswith("/api/"):
        return ENGLISH
    return asked_in(_headers_of(scope).get("accept-language", ""))


def address_of(scope: Scope) -> str:
    """Return the address of the sender, as given by a trusted proxy. It may be any text."""
    return str((scope.get("client") or ("", 0))[0])[:_LONGEST_ADDRESS]


def _headers_of(scope: Scope) -> dict[str, str]:
    """Return a request's headers. A duplicated header has both values, which match nobody."""
    headers = Headers(scope=scope)
    return {name: ", ".join(headers.getlist(name)) for name in headers}


def _netloc_of(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""  # browsers never send such an origin


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
