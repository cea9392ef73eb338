"""A server holds what one client may take: memory, time, turns, sessions, room; and tells no place.

Each line is tried against ``lexloop serve`` as a process of its own, over sockets.
"""

import json
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from _promise import Line
from _server import questions, resident_mb

_SUPPORT = str(Path(__file__).parents[1] / "tests" / "support")
sys.path.insert(0, _SUPPORT)

from mcp_messages import BEGIN, HEADERS  # noqa: E402
from serving import Serving, person  # noqa: E402

_JSON_ROUTES = ("/api/ask", "/v1/chat/completions", "/mcp")
_CONNECTIONS, _EACH_MB, _MOST_MB = 50, 40, 64.0
_BODY_S = 3.0
_QUESTIONS, _SESSIONS, _HEALTH = 280, 1000, 200
_UPLOADS, _UPLOAD_MB, _STORED_MB = 12, 5, 25
_WAIT_S, _DEADLINE_S = 5.0, 120.0
_BLOCK = b"x" * 65536
_LIMITS = f"[limits]\nbody_s = {_BODY_S}\nstored_mb = {_STORED_MB}\n"


def held() -> Iterator[Line]:
    """Try one server as people who take much, then others as strangers."""
    two = person("ann", "ann", may_upload=True) + person("bob", "bob", may_upload=True)
    with tempfile.TemporaryDirectory() as place, Serving(Path(place), settings=_LIMITS + two) as on:
        for name in ("ann", "bob"):
            _client(on, name).post("api/ask", json={"question": "What is a bias audit?"})
        yield _flooded(on, "", {401})
        yield _flooded(on, "ann", {413, 429})
        yield _dripped(on)
        yield _asked_by_one(on)
        yield _sessions_of_one(on)
        yield _uploads_of_one(on)
        yield _two_lengths(on)
    settings = f"[limits]\nrequests_per_minute = {_HEALTH // 2}\n{two}"
    with tempfile.TemporaryDirectory() as place, Serving(Path(place), settings=settings) as on:
        yield _signed_in_among_strangers(on)
        yield _schema(on)
    yield _places()


def _flooded(on: Serving, key: str, wanted: set[int]) -> Line:
    """Send much to every route from many connections at once, called an upload."""
    ended, before = Counter[int](), resident_mb(on)
    with _most_mb(on) as most, ThreadPoolExecutor(_CONNECTIONS) as threads:
        routes = [_JSON_ROUTES[n % len(_JSON_ROUTES)] for n in range(_CONNECTIONS)]
        ended.update(threads.map(lambda path: _pushed(on, path, key), routes))
    more = most[0] - before
    who = "with a key" if key else "without a key"
    return Line(
        f"{_CONNECTIONS} connections {who} that send {_EACH_MB} MB each as multipart",
        f"memory {more:+.0f} MiB at most, answered {dict(ended)}",
        ended.keys() <= wanted and more < _MOST_MB,
    )


def _pushed(on: Serving, path: str, key: str) -> int:
    """Return the status that a body gets which is sent until it is answered."""
    size = _EACH_MB << 20
    with _opened(on, path, key, f"multipart/x\r\nContent-Length: {size}") as connection:
        connection.setblocking(False)
        until, left, found = time.monotonic() + _DEADLINE_S, size, b""
        while b"\r\n" not in found and time.monotonic() < until:
            try:
                found += connection.recv(65536)
            except BlockingIOError:
                with suppress(BlockingIOError):
                    left -= connection.send(_BLOCK[:left]) if left else 0
                time.sleep(0.001)
            except OSError:
                break
    return int(found.split()[1]) if found else 0


def _dripped(on: Serving) -> Line:
    """Send a byte twice a second to every route at once, and take the time until it is answered."""

    def one(path: str) -> tuple[int, float]:
        began, found = time.monotonic(), b""
        with _opened(on, path, "ann", "multipart/x\r\nContent-Length: 9000") as connection:
            connection.settimeout(0.5)
            while not found and time.monotonic() - began < 10 * _BODY_S:
                connection.sendall(b" ")
                with suppress(TimeoutError):
                    found = connection.recv(65536)
        return int(found.split()[1]) if found else 0, time.monotonic() - began

    with ThreadPoolExecutor(len(_JSON_ROUTES)) as threads:
        told = list(threads.map(one, _JSON_ROUTES))
    return Line(
        f"a body of a byte every 0.5 s is left after {_BODY_S:g} s (limits.body_s)",
        ", ".join(
            f"{path} {status} after {s:.1f} s"
            for path, (status, s) in zip(_JSON_ROUTES, told, strict=True)
        ),
        all(status == 408 and s < _BODY_S + _WAIT_S for status, s in told),
    )


def _asked_by_one(on: Serving) -> Line:
    """Have one person ask many questions at once, and another one question among them."""
    asked, ended = questions(7), Counter[int]()

    def ask(name: str, question: str) -> int:
        return _client(on, name).post("api/ask", json={"question": question}).status_code

    began = time.monotonic()
    ask("bob", next(asked))
    alone = time.monotonic() - began
    with ThreadPoolExecutor(_QUESTIONS) as threads:
        many = [threads.submit(ask, "ann", next(asked)) for _ in range(_QUESTIONS)]
        time.sleep(1.0)  # they are under way
        began = time.monotonic()
        status = ask("bob", next(asked))
        waited = time.monotonic() - began
        ended.update(one.result() for one in many)
    return Line(
        f"a question among {_QUESTIONS} of another person waits for a few others at most",
        f"{status} after {waited:.1f} s, {alone:.1f} s alone; those others {dict(ended)}",
        status == 200 and waited < max(_WAIT_S, 10 * alone),
    )


def _sessions_of_one(on: Serving) -> Line:
    """Have one person open session after session, then another open one."""

    def begun(client: httpx.Client) -> int:
        return client.post("mcp", json=BEGIN, headers=HEADERS).status_code

    began, client = time.monotonic(), _client(on, "ann")
    opened = Counter(begun(client) for _ in range(_SESSIONS))
    other = begun(_client(on, "bob"))
    return Line(
        f"{_SESSIONS} sessions of MCP by one person leave room for another's",
        f"{dict(opened)} in {time.monotonic() - began:.0f} s, the other's {other}",
        other == 200,
    )


def _uploads_of_one(on: Serving) -> Line:
    """Begin many uploads at once that together are more than one person may store."""
    law = b"The keeper must register the boat. " * (_UPLOAD_MB * (1 << 20) // 35)
    disposition = b'Content-Disposition: form-data; name="files"; filename="%d.txt"\r\n\r\n'
    bodies = [b"--x\r\n%s%s\r\n--x--\r\n" % (disposition % n, law) for n in range(_UPLOADS)]
    _client(on, "ann").post("api/collections", json={"name": "Mine"}).raise_for_status()
    all_begun = threading.Barrier(_UPLOADS)

    def one(body: bytes) -> int:
        kind = f"multipart/form-data; boundary=x\r\nContent-Length: {len(body)}"
        half, found = len(body) // 2, b""
        with _opened(on, "/api/collections/Mine/documents", "ann", kind) as connection:
            with suppress(OSError):
                connection.sendall(body[:half])
            all_begun.wait(_DEADLINE_S)
            with suppress(OSError):
                connection.sendall(body[half:])
            with suppress(OSError):
                found = connection.recv(65536)
        return int(found.split()[1]) if found else 413  # closed while it was sent

    with _most(lambda: _stored_mb(on)) as most, ThreadPoolExecutor(_UPLOADS) as threads:
        ended = Counter(threads.map(one, bodies))
    return Line(
        f"{_UPLOADS} uploads of {_UPLOAD_MB} MB at once stay within {_STORED_MB} MB",
        f"{most[0]:.1f} MB on the disk at most, {dict(ended)}",
        most[0] <= _STORED_MB and ended[202] > 0,
    )


def _stored_mb(on: Serving) -> float:
    total = 0
    with suppress(OSError):  # something was moved meanwhile
        for file in (on.data / "collections").rglob("*"):
            total += file.stat().st_size if "index" not in file.parts and file.is_file() else 0
    return total / 2**20


def _two_lengths(on: Serving) -> Line:
    told = "application/json\r\nContent-Length: 3\r\nTransfer-Encoding: chunked"
    with _opened(on, "/api/ask", "ann", told) as connection:
        connection.sendall(b"1\r\n{\r\n0\r\n\r\n")
        status = int(connection.recv(65536).split()[1])
    return Line(
        "a request that tells its length in two ways is refused", str(status), status == 400
    )


def _signed_in_among_strangers(on: Serving) -> Line:
    client = httpx.Client(base_url=on.address, timeout=_DEADLINE_S)
    asked = Counter(client.get("api/health").status_code for _ in range(_HEALTH))
    asked.update(client.get("api/me").status_code for _ in range(_HEALTH))
    status = client.post("api/session", json={"key": "bob"}).status_code
    return Line(
        f"a good key signs in after {_HEALTH} health checks and as many requests without a key",
        f"{status}; before it {dict(asked)}",
        status == 204,
    )


def _schema(on: Serving) -> Line:
    bare = httpx.get(f"{on.address}api/openapi.json").status_code
    keyed = _client(on, "ann").get("api/openapi.json").status_code
    told = f"{bare} without, {keyed} with one"
    return Line("the schema needs a key where keys are set", told, (bare, keyed) == (401, 200))


def _places() -> Line:
    """Ask where the cache cannot be written, a document is gone and a collection too."""
    with tempfile.TemporaryDirectory() as named:
        place = Path(named)
        laws = place / "laws"
        laws.mkdir()
        (laws / "act.txt").write_text("Section 1. A dog licence costs 30 dollars.\n", "utf-8")
        (laws / "gone.txt").symlink_to(laws / "elsewhere.txt")
        (place / "cache").write_text("no folder", "utf-8")
        collections = {"laws": str(laws), "gone": str(place / "gone")}
        settings = "[collections]\n" + "".join(
            f"{name} = {json.dumps(path)}\n" for name, path in collections.items()
        )
        environ = {"LEXLOOP_CACHE": str(place / "cache")}
        with Serving(place, settings=settings, environ=environ) as on:
            found = [*_answers(_client(on, ""))]
    naming = sum(str(place) in one.text for one in found)
    degraded = len(found[0].json()["degraded"])
    return Line(
        "no answer, error or `degraded` has a path of the server, without keys either",
        f"{naming} of {len(found)} answers; {degraded} losses told",
        not naming and degraded >= len(("the cache", "the document")),
    )


def _answers(client: httpx.Client) -> Iterator[httpx.Response]:
    for names in (["laws"], ["gone"], ["laws", "gone"]):
        asked = {"question": "What does a dog licence cost?", "collections": names}
        yield client.post("api/ask", json=asked)
        yield client.post("api/ask", json=asked, headers={"Accept": "text/event-stream"})
    for path in ("collections", "collections/laws/documents", "collections/gone/documents"):
        yield client.get(f"api/{path}")


def _client(on: Serving, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {name}"} if name else {}
    return httpx.Client(base_url=on.address, headers=headers, timeout=_DEADLINE_S)


def _opened(on: Serving, path: str, key: str, content_type: str) -> socket.socket:
    """Return a connection on which the headers of a request with a body were sent."""
    where = urlsplit(on.address)
    made = socket.create_connection((str(where.hostname), int(where.port or 0)), _DEADLINE_S)
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}"
    made.sendall(f"{head}Content-Type: {content_type}\r\n\r\n".encode())
    return made


@contextmanager
def _most_mb(on: Serving) -> Iterator[list[float]]:
    with _most(lambda: resident_mb(on)) as most:
        yield most


@contextmanager
def _most(measured: Callable[[], float]) -> Iterator[list[float]]:
    """Measure again and again; what is lent holds the most there was."""
    most, over = [measured()], threading.Event()

    def follow() -> None:
        while not over.wait(0.02):
            most[0] = max(most[0], measured())

    following = threading.Thread(target=follow)
    following.start()
    try:
        yield most
    finally:
        over.set()
        following.join()
