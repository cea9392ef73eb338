"""Nobody waits behind another's work: five large tables, and calls that were left at once.

Each line is tried against ``lexloop serve`` as a process of its own, over sockets.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
from _shared import Line, timed
from mcp_messages import HEADERS
from server import processor_s
from serving import Serving, person

_TABLES, _QUESTIONS, _CALLS, _LEFT_S = 5, 200, 60, 0.15
_MOST_WAIT_S, _DEADLINE_S = 5.0, 120.0
_COLUMNS = 20
_QUESTION = {"question": "What is a bias audit?", "collections": ["sample"]}


def held() -> Iterator[Line]:
    """Try a server whose one user takes all that they can."""
    two = person("ann", "ann") + person("bob", "bob")
    with tempfile.TemporaryDirectory() as place, Serving(Path(place), settings=two) as on:
        for name in ("ann", "bob"):
            _client(on, name).post("/api/ask", json=_QUESTION).raise_for_status()
        yield _calls_left(on)
        yield _tables_before(on)


def _client(on: Serving, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {name}"}
    return httpx.Client(base_url=on.address, headers=headers, timeout=_DEADLINE_S)


def _tables_before(on: Serving) -> Line:
    """Fill large tables for one person, and three cells for another."""
    ann, bob = _client(on, "ann"), _client(on, "bob")
    for table in range(_TABLES):
        asked = [f"What does item {n} of part {table} require?" for n in range(_QUESTIONS)]
        _table(ann, asked)
    began = time.monotonic()
    path = _table(bob, ["What is a bias audit?", "Who is an auditor?", "What is the penalty?"])
    while bob.get(path).json()["progress"]["done"] < _least(bob, path):
        if time.monotonic() - began > _DEADLINE_S:
            break
        time.sleep(0.05)
    waited = time.monotonic() - began
    return Line(
        f"cells of a second person beside {_TABLES} tables of {_QUESTIONS} questions",
        f"all there after {waited:.1f} s",
        waited <= _MOST_WAIT_S,
    )


def _table(client: httpx.Client, questions: list[str]) -> str:
    made = client.post("/api/tables", json={"collection": "sample", "questions": questions})
    return f"/api/tables/{made.raise_for_status().json()['id']}"


def _least(client: httpx.Client, path: str) -> int:
    """Return how many cells a table has, at least one."""
    return max(1, int(client.get(path).json()["run"]["of"]))


def _calls_left(on: Serving) -> Line:
    """Leave many calls that ask for whole tables, and ask something else."""
    bob, threads = _client(on, "bob"), _threads(on)
    with ThreadPoolExecutor(_CALLS) as pool:
        list(pool.map(lambda _: _left(on), range(_CALLS)))
    more, before = _threads(on) - threads, processor_s(on)
    took = statistics.median(
        timed(lambda: bob.post("/api/ask", json=_QUESTION).raise_for_status())[0] for _ in range(5)
    )
    spent = processor_s(on) - before
    return Line(
        f"another's questions after {_CALLS} table calls that were left after {_LEFT_S:g} s",
        f"{took:.2f} s, {spent:.1f} s of processor for five, {more:+d} threads",
        took < 1.0 and spent < 10.0,
    )


def _threads(on: Serving) -> int:
    return len(list(Path(f"/proc/{on.pid}/task").iterdir()))


def _left(on: Serving) -> None:
    asked = [f"What does part {n} require?" for n in range(_COLUMNS)]
    call = {"name": "table", "arguments": {"collection": "sample", "questions": asked}}
    with _client(on, "ann") as client, suppress(httpx.HTTPError, KeyError):
        client.headers.update(HEADERS)
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        client.post("/mcp", json=body, timeout=_LEFT_S)
