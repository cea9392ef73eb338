"""What every request passes: hosts, origins, identity, rates, bodies, and security headers.

Plain ASGI, so that streams pass through as they are.
"""

import asyncio
import socket
import time
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexloop.apps.serve.errors import Refused, response_of
from lexloop.apps.serve.limits import Rates
from lexloop.apps.serve.people import COOKIE, People
from lexloop.apps.serve.settings import LimitSettings, ServerSettings
from lexloop.core.errors import AccessError, LexloopError, TooLargeError, TooSlow, UnknownPerson

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
_HEADERS = [
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": _POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }.items()
]
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL_NAMES = frozenset({"localhost", "testserver"})
_GUARDED = ("/api", "/v1", "/mcp")
_OPEN = frozenset({"/api/health", "/api/session"})
_MB = 1024 * 1024


class Guard:
    """Lets a request in, and says who asks under ``lexloop.person`` of its scope.

    Args:
        app: What answers.
        settings: Name the hosts and the limits.
        people: Know who asks.
        rates: Count requests.
    """

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, people: People, rates: Rates
    ) -> None:
        self._app, self._limits, self._people, self._rates = app, settings.limits, people, rates
        own = {socket.gethostname().lower(), settings.host.lower()}
        self._hosts = {*_LOCAL_NAMES, *own, *(name.lower() for name in settings.hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        private = scope["path"].startswith(_GUARDED)
        guarded = _with_headers(send, b"no-store" if private else b"no-cache")
        try:
            self._admit(scope)
            receive = _Body(scope, receive, self._limits).receive
        except LexloopError as error:
            await response_of(error, scope["path"])(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _admit(self, scope: Scope) -> None:
        headers = _headers_of(scope)
        self._check_host(headers.get("host", ""))
        if scope["method"] not in _SAFE:
            self._check_origin(headers)
        if not scope["path"].startswith(_GUARDED):
            return
        address = (scope.get("client") or ("", 0))[0]
        if scope["path"] in _OPEN:
            self._rates.count("requests", address)
            return
        try:
            person = self._people.identified(headers, address, _session(headers))
        except UnknownPerson:
            self._rates.count("requests", address)
            raise
        self._rates.count("requests", person.name if person else address)
        scope["lexloop.person"] = person

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
        """Refuse what a page of another site has a browser send."""
        origin, host = headers.get("origin"), headers.get("host", "").lower()
        fetched = headers.get("sec-fetch-site", "none")
        same = origin is None or urlsplit(origin).netloc.lower() == host
        if not same or fetched not in ("same-origin", "none"):
            raise AccessError(
                "The request comes from a page of another site.", "Ask from the server's own page."
            )


class _Body:
    """The body of a request, of which no more is taken than may be, nor for longer."""

    def __init__(self, scope: Scope, receive: Receive, limits: LimitSettings) -> None:
        headers = dict(scope["headers"])
        upload = headers.get(b"content-type", b"").startswith(b"multipart/")
        self._receive, self._idle_s = receive, limits.idle_s
        self._most = int((limits.upload_mb if upload else limits.body_mb) * _MB)
        self._until = time.monotonic() + (limits.upload_s if upload else limits.body_s)
        self._got, self._whole = 0, False
        try:
            said = int(headers.get(b"content-length", b"0"))
        except ValueError:
            said = 0
        self._check_size(said)

    async def receive(self) -> Message:
        """Return the next message.

        Raises:
            Refused: The body is too large, or does not come in time.
        """
        if self._whole:
            return await self._receive()
        left = min(self._idle_s, self._until - time.monotonic())
        try:
            async with asyncio.timeout(max(0.0, left)):
                message = await self._receive()
        except TimeoutError as error:
            raise Refused(
                TooSlow("The request's body did not come in time.", "Send it faster.")
            ) from error
        self._got += len(message.get("body", b""))
        self._whole = message["type"] != "http.request" or not message.get("more_body")
        try:
            self._check_size(self._got)
        except TooLargeError as error:
            raise Refused(error) from error
        return message

    def _check_size(self, size: int) -> None:
        if size > self._most:
            most = round(self._most / _MB, 2)
            raise TooLargeError(
                f"More than {most:g} MB were sent at once; nothing of it was taken.",
                "Send less at once.",
            )


def _headers_of(scope: Scope) -> dict[str, str]:
    """Return a request's headers; one that is given twice has both values, and so is nobody's."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        said, text = name.decode("latin-1"), value.decode("latin-1")
        between = "; " if said == "cookie" else ", "
        found[said] = f"{found[said]}{between}{text}" if said in found else text
    return found


def _with_headers(send: Send, caching: bytes) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            usual = [*_HEADERS, (b"cache-control", caching)]
            added = [one for one in usual if one[0] not in given]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sent


def _session(headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


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
