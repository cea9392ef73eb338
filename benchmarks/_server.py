"""A server under questions: people who ask at once, streams that stay open, slow clients."""

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT / "tests" / "support"))

from serving import Serving, person  # noqa: E402

QUESTIONS = [
    json.loads(line)["question"]
    for line in (_ROOT / "data" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
]
_WORDS = (_ROOT / "data" / "ll144" / "rule.txt").read_text(encoding="utf-8").split()
_DEADLINE_S = 120.0
_STREAM = {"Accept": "text/event-stream"}


def with_people(number: int, **limits: int) -> str:
    """Return a settings file with so many people, by the name of each its key, and limits."""
    said = "\n".join(f"{name} = {value}" for name, value in limits.items())
    people = [person(key, key) for key in map(key_of, range(number))]
    return f"[limits]\n{said}\n" + "".join(people)


def key_of(number: int) -> str:
    """Return the key of a person by their number."""
    return f"person-{number}-of-the-benchmark"


def questions(seed: int) -> Iterator[str]:
    """Yield questions without end, no two of them alike: the sample's, with further words."""
    draw = random.Random(seed)
    for number in count():
        more = " ".join(draw.sample(_WORDS, 4))
        yield f"{draw.choice(QUESTIONS)} ({number}: {more})"[:600]


def resident_mb(server: Serving) -> float:
    """Return the resident memory of a server's process, in MiB."""
    statm = Path(f"/proc/{server.pid}/statm").read_text(encoding="ascii")
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_s(server: Serving) -> float:
    """Return the seconds of processor that a server's process took so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(client: httpx.Client, question: str) -> dict[str, Any]:
    """Return the answer to a question.

    Raises:
        httpx.HTTPStatusError: It is refused.
    """
    reply = client.post("api/ask", json={"question": question})
    reply.raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


def first_bytes_ms(client: httpx.Client, question: str) -> tuple[float, float, float]:
    """Return the milliseconds to a stream's first byte, its first step, and its answer."""
    began, seen = time.perf_counter(), dict[str, float]()
    body = {"question": question}
    with client.stream("POST", "api/ask", json=body, headers=_STREAM) as reply:
        for line in reply.iter_lines():
            if line.startswith("event: "):
                seen.setdefault(line.removeprefix("event: "), time.perf_counter() - began)
    return 1000 * seen["begin"], 1000 * seen["step"], 1000 * seen["answer"]


@dataclass
class Load:
    """What came of questions that many people asked at once."""

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[int, float]] = field(default_factory=list)
    took_s: float = 0.0

    def at(self, share: float) -> float:
        """Return the milliseconds in which such a share of the questions was answered."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def mb_per_1000(self, after: int) -> float:
        """Return the slope of memory by questions from ``after`` on, by least squares."""
        import numpy as np

        rows = [(done, mb) for done, mb in self.memory if done >= after]
        return float(1000 * np.polyfit(*zip(*rows, strict=True), 1)[0]) if len(rows) > 1 else 0.0


async def asked_at_once(
    server: Serving, people: int, *, seconds: float = 0.0, most: int = 0, every: int = 500
) -> Load:
    """Have people ask one question after another.

    Args:
        server: The server.
        people: How many ask at once, each with a key.
        seconds: For how long; 0 for as long as there are questions.
        most: How many questions; 0 for as many as there is time for.
        every: Memory is read after so many answers.
    """
    load, asked, began = Load(), questions(people), time.perf_counter()

    def goes_on() -> bool:
        done = len(load.seconds) + load.refused.total()
        late = seconds and time.perf_counter() - began > seconds
        return not late and not (most and done >= most)

    async def one(number: int) -> None:
        headers = {"Authorization": f"Bearer {key_of(number)}"}
        async with httpx.AsyncClient(
            base_url=server.address, headers=headers, timeout=_DEADLINE_S
        ) as client:
            while goes_on():
                sent = time.perf_counter()
                try:
                    reply = await client.post("api/ask", json={"question": next(asked)})
                except httpx.HTTPError as error:
                    load.refused[type(error).__name__] += 1
                    continue
                if reply.status_code != 200:
                    load.refused[f"{reply.status_code} {reply.json()['error']['kind']}"] += 1
                    continue
                load.seconds.append(time.perf_counter() - sent)
                if len(load.seconds) % every == 0:
                    load.memory.append((len(load.seconds), resident_mb(server)))

    await asyncio.gather(*map(one, range(people)))
    load.took_s = time.perf_counter() - began
    return load


async def first_bytes_among(server: Serving, seconds: float) -> list[float]:
    """Return the milliseconds to the first event of streams that one more person opens."""
    asked, found = questions(1), list[float]()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        async with _sent(server, next(asked), key_of(0)) as (read, _):
            await asyncio.wait_for(read.readuntil(b"event: begin"), _DEADLINE_S)
            found.append(1000 * (time.perf_counter() - began))
            await asyncio.wait_for(read.read(), _DEADLINE_S)
    return found


async def streamed_at_once(
    server: Serving, streams: int, people: int
) -> tuple[Counter[str], float]:
    """Open so many streams at once; return how each ended, and the most memory meanwhile."""
    ended: Counter[str] = Counter()
    asked = questions(streams)

    async def one(number: int) -> None:
        async with _sent(server, next(asked), key_of(number % people)) as (read, _):
            whole = (await asyncio.wait_for(read.read(), _DEADLINE_S)).decode("utf-8", "replace")
        ended[_end_of(whole)] += 1

    async with _watched(server) as most:
        await asyncio.gather(*map(one, range(streams)))
    return ended, most[0]


async def slow_at_once(
    server: Serving, clients: int, people: int, seconds: float
) -> tuple[Counter[str], float, float]:
    """Have clients send headers or a body byte by byte, or read nothing; somebody asks among them.

    Returns:
        How the senders ended, the milliseconds of the answer among them, and the most memory.
    """
    ended: Counter[str] = Counter()
    asked = questions(clients)

    async def sends_slowly(number: int) -> None:
        read, write = await _connected(server)
        head = _head(server, 1000, key_of(number % people))
        write.write(head if number % 2 else head[:-2] + b"X-More: ")
        until = time.monotonic() + seconds
        while time.monotonic() < until and not read.at_eof():
            write.write(b" ")
            try:
                await asyncio.wait_for(read.readuntil(b"\r\n"), 1.0)
                break
            except TimeoutError:
                continue
            except (OSError, asyncio.IncompleteReadError):
                break
        whole = (await asyncio.wait_for(read.read(), _DEADLINE_S)).decode("utf-8", "replace")
        write.close()
        ended[_end_of(whole)] += 1

    async def reads_nothing(number: int) -> None:
        async with _sent(server, next(asked), key_of(number % people)):
            await asyncio.sleep(seconds)

    async def asks() -> float:
        await asyncio.sleep(seconds / 2)
        return await asyncio.to_thread(_timed_ask, server, next(asked))

    async with _watched(server) as most:
        senders = clients * 2 // 3
        slow = [*map(sends_slowly, range(senders)), *map(reads_nothing, range(senders, clients))]
        took, *_ = await asyncio.gather(asks(), *slow)
    return ended, took, most[0]


def _timed_ask(server: Serving, question: str) -> float:
    headers = {"Authorization": f"Bearer {key_of(0)}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=_DEADLINE_S) as client:
        began = time.perf_counter()
        ask(client, question)
        return 1000 * (time.perf_counter() - began)


@asynccontextmanager
async def _watched(server: Serving) -> AsyncIterator[list[float]]:
    """Read a server's memory ten times a second; the most of it is the item of the list."""
    most = [resident_mb(server)]

    async def watch() -> None:
        while True:
            most[0] = max(most[0], resident_mb(server))
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    try:
        yield most
    finally:
        watching.cancel()


@asynccontextmanager
async def _sent(
    server: Serving, question: str, key: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    body = json.dumps({"question": question}).encode()
    read, write = await _connected(server)
    try:
        write.write(_head(server, len(body), key) + body)
        await write.drain()
        yield read, write
    finally:
        write.close()


async def _connected(server: Serving) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    url = httpx.URL(server.address)
    return await asyncio.open_connection(url.host, url.port)


def _head(server: Serving, length: int, key: str) -> bytes:
    host = httpx.URL(server.address).netloc.decode()
    return (
        f"POST /api/ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Accept: text/event-stream\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
    ).encode()


def _end_of(reply: str) -> str:
    """Return how a reply ended: ``answer``, its status and kind of error, or ``cut off``."""
    if "event: answer" in reply:
        return "answer"
    kind = reply.rpartition('"kind":')[2].strip().partition('"')[2].partition('"')[0]
    status = reply[9:12]
    return f"{status} {kind}" if kind else f"{status} cut off".strip()
