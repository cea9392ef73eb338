"""A server holds what one client may take: memory, turns, clients.

Each line is tried against ``lexloop serve`` as a process of its own, over sockets.
"""

import select
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from _shared import Line, resident_mb, timed
from mcp_messages import BEGIN, HEADERS
from server import forget_peak, peak_mb, questions
from serving import Serving, person

_ROUTES = ("/api/ask", "/v1/chat/completions", "/mcp")
_CONNECTIONS, _EACH_MB, _MOST_MB = 50, 40, 64.0
_QUESTIONS, _CLIENTS = 280, 1000
_WAIT_S, _DEADLINE_S = 5.0, 120.0


def held() -> Iterator[Line]:
    """Try one server as people who take much, and as strangers."""
    two = person("ann", "ann") + person("bob", "bob")
    with tempfile.TemporaryDirectory() as place, Serving(Path(place), settings=two) as on:
        for name in ("ann", "bob"):
            _asked(on, name, "What is a bias audit?")
        yield _flooded(on, "", {401})
        yield _flooded(on, "ann", {413, 429})
        yield _asked_by_one(on)
        yield _clients_of_one(on)


def _flooded(on: Serving, key: str, wanted: set[int]) -> Line:
    """Send much to every route from many connections at once, called an upload."""
    before = resident_mb(on.pid)
    routes = [_ROUTES[n % len(_ROUTES)] for n in range(_CONNECTIONS)]
    forget_peak(on)
    with ThreadPoolExecutor(_CONNECTIONS) as threads:
        ended = Counter(threads.map(lambda path: _pushed(on, path, key), routes))
    more = peak_mb(on) - before
    return Line(
        f"{_CONNECTIONS} connections {'with' if key else 'without'} a key that send {_EACH_MB} MB "
        "each as multipart",
        f"memory {more:+.0f} MiB at most, answered {dict(ended)}",
        ended.keys() <= wanted and more < _MOST_MB,
    )


def _pushed(on: Serving, path: str, key: str) -> int:
    """The status that a body gets which is sent until it is answered."""
    where, until, found = urlsplit(on.address), time.monotonic() + _DEADLINE_S, b""
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: multipart/x\r\n"
    )
    size, block = _EACH_MB << 20, b"x" * 65536
    with socket.create_connection((where.hostname, where.port), _DEADLINE_S) as connection:
        connection.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode())
        connection.setblocking(False)
        while not found and time.monotonic() < until:
            try:
                if select.select([connection], [], [], 0)[0]:
                    found = connection.recv(65536) or b"closed 0"
                elif size:
                    size -= connection.send(block[:size])
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


def _clients_of_one(on: Serving) -> Line:
    """Have one person begin as client after client, then another as one."""

    def begun(client: httpx.Client) -> int:
        return client.post("mcp", json=BEGIN, headers=HEADERS).status_code

    ann = _client(on, "ann")
    seconds, opened = timed(lambda: Counter(begun(ann) for _ in range(_CLIENTS)))
    other = begun(_client(on, "bob"))
    return Line(
        f"{_CLIENTS} clients of MCP by one person leave room for another's",
        f"{dict(opened)} in {seconds:.0f} s, the other's {other}",
        other == 200,
    )


def _asked(on: Serving, name: str, question: str) -> int:
    return _client(on, name).post("api/ask", json={"question": question}).status_code


def _client(on: Serving, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {name}"}
    return httpx.Client(base_url=on.address, headers=headers, timeout=_DEADLINE_S)
