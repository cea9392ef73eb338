"""A server holds what one client may take: memory, time, turns, sessions, room.

Each line is tried against ``lexloop serve`` as a process of its own, over sockets.
"""

import select
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from _promise import Line
from _server import Serving, most_of, questions
from _shared import resident_mb, timed
from mcp_messages import BEGIN, HEADERS
from serving import person

_ROUTES = ("/api/ask", "/v1/chat/completions", "/mcp")
_CONNECTIONS, _EACH_MB, _MOST_MB = 50, 40, 64.0
_BODY_S = 3.0
_QUESTIONS, _SESSIONS = 280, 1000
_UPLOADS, _UPLOAD_MB, _STORED_MB = 12, 5, 25
_WAIT_S, _DEADLINE_S = 5.0, 120.0
_LIMITS = f"[limits]\nbody_s = {_BODY_S}\nstored_mb = {_STORED_MB}\n"


def held() -> Iterator[Line]:
    """Try one server as people who take much, and as strangers."""
    two = person("ann", "ann", may_upload=True) + person("bob", "bob", may_upload=True)
    with tempfile.TemporaryDirectory() as place, Serving(Path(place), settings=_LIMITS + two) as on:
        for name in ("ann", "bob"):
            _asked(on, name, "What is a bias audit?")
        yield _flooded(on, "", {401})
        yield _flooded(on, "ann", {413, 429})
        yield _dripped(on)
        yield _asked_by_one(on)
        yield _sessions_of_one(on)
        yield _uploads_of_one(on)


def _flooded(on: Serving, key: str, wanted: set[int]) -> Line:
    """Send much to every route from many connections at once, called an upload."""
    before, size = resident_mb(on.pid), _EACH_MB << 20
    routes = [_ROUTES[n % len(_ROUTES)] for n in range(_CONNECTIONS)]
    with most_of(lambda: resident_mb(on.pid)) as most, ThreadPoolExecutor(_CONNECTIONS) as threads:
        ended = Counter(
            threads.map(lambda path: _pushed(on, path, key, size, b"x" * 65536), routes)
        )
    more = most[0] - before
    return Line(
        f"{_CONNECTIONS} connections {'with' if key else 'without'} a key that send {_EACH_MB} MB "
        "each as multipart",
        f"memory {more:+.0f} MiB at most, answered {dict(ended)}",
        ended.keys() <= wanted and more < _MOST_MB,
    )


def _dripped(on: Serving) -> Line:
    """Send a byte twice a second to every route at once, and take the time until it is answered."""
    with ThreadPoolExecutor(len(_ROUTES)) as threads:
        told = [
            *threads.map(
                lambda p: timed(lambda: _pushed(on, p, "ann", 9000, b" ", pause_s=0.5)), _ROUTES
            )
        ]
    shown = zip(_ROUTES, told, strict=True)
    return Line(
        f"a body of a byte every 0.5 s is left after {_BODY_S:g} s (limits.body_s)",
        ", ".join(f"{path} {status} after {s:.1f} s" for path, (s, status) in shown),
        all(status == 408 and s < _BODY_S + _WAIT_S for s, status in told),
    )


def _pushed(
    on: Serving, path: str, key: str, size: int, piece: bytes, *, pause_s: float = 0.0
) -> int:
    """The status that a body gets which is sent piece by piece until it is answered."""
    where, until, found = urlsplit(on.address), time.monotonic() + _DEADLINE_S, b""
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: multipart/x\r\n"
    )
    with socket.create_connection((where.hostname, where.port), _DEADLINE_S) as connection:
        connection.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode())
        connection.setblocking(False)
        while not found and time.monotonic() < until:
            try:
                if select.select([connection], [], [], pause_s)[0]:
                    found = connection.recv(65536) or b"closed 0"
                elif size:
                    size -= connection.send(piece[:size])
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break
    return int(found.split()[1]) if found else 0


def _asked_by_one(on: Serving) -> Line:
    """Have one person ask many questions at once, and another one question among them."""
    asked = questions(7)
    alone, _ = timed(lambda: _asked(on, "bob", next(asked)))
    with ThreadPoolExecutor(_QUESTIONS) as threads:
        many = [threads.submit(_asked, on, "ann", next(asked)) for _ in range(_QUESTIONS)]
        time.sleep(1.0)  # they are under way
        waited, status = timed(lambda: _asked(on, "bob", next(asked)))
        ended = Counter(one.result() for one in many)
    return Line(
        f"a question among {_QUESTIONS} of another person waits for a few others at most",
        f"{status} after {waited:.1f} s, {alone:.1f} s alone; those others {dict(ended)}",
        status == 200 and waited < max(_WAIT_S, 10 * alone),
    )


def _sessions_of_one(on: Serving) -> Line:
    """Have one person open session after session, then another open one."""

    def begun(client: httpx.Client) -> int:
        return client.post("mcp", json=BEGIN, headers=HEADERS).status_code

    ann = _client(on, "ann")
    seconds, opened = timed(lambda: Counter(begun(ann) for _ in range(_SESSIONS)))
    other = begun(_client(on, "bob"))
    return Line(
        f"{_SESSIONS} sessions of MCP by one person leave room for another's",
        f"{dict(opened)} in {seconds:.0f} s, the other's {other}",
        other == 200,
    )


def _uploads_of_one(on: Serving) -> Line:
    """Begin many uploads at once that together are more than one person may store."""
    law = b"The keeper must register the boat. " * (_UPLOAD_MB * (1 << 20) // 35)
    _client(on, "ann").post("api/collections", json={"name": "Mine"}).raise_for_status()
    all_begun = threading.Barrier(_UPLOADS)

    def one(number: int) -> int:
        named = f'Content-Disposition: form-data; name="files"; filename="{number}.txt"'
        parts = f"--x\r\n{named}\r\n\r\n".encode(), law, b"\r\n--x--\r\n"

        def body() -> Iterator[bytes]:
            yield parts[0] + law[: len(law) // 2]
            all_begun.wait(_DEADLINE_S)
            yield law[len(law) // 2 :] + parts[2]

        size = str(sum(map(len, parts)))
        headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": size}
        path = "api/collections/Mine/documents"
        with suppress(httpx.HTTPError):
            return _client(on, "ann").post(path, content=body(), headers=headers).status_code
        return 413  # closed while it was sent

    with most_of(lambda: _stored_mb(on)) as most, ThreadPoolExecutor(_UPLOADS) as threads:
        ended = Counter(threads.map(one, range(_UPLOADS)))
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


def _asked(on: Serving, name: str, question: str) -> int:
    return _client(on, name).post("api/ask", json={"question": question}).status_code


def _client(on: Serving, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {name}"}
    return httpx.Client(base_url=on.address, headers=headers, timeout=_DEADLINE_S)
