"""A server under questions: people who ask at once, streams that stay open, slow clients."""

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
from _shared import ROOT, read_rows, resident_mb, timed
from serving import Serving, person

QUESTIONS = [row["question"] for row in read_rows(ROOT / "data" / "gold.jsonl")]
_WORDS = (ROOT / "data" / "ll144" / "rule.txt").read_text(encoding="utf-8").split()
_DEADLINE_S = 120.0


def with_people(people: int, **limits: int) -> str:
    """A settings file with so many people, by the name of each its key, and limits."""
    said = "\n".join(f"{name} = {value}" for name, value in limits.items())
    return f"[limits]\n{said}\n" + "".join(person(key_of(n), key_of(n)) for n in range(people))


def key_of(number: int) -> str:
    """The key of a person by their number."""
    return f"person-{number}-of-the-benchmark"


def as_person(number: int) -> dict[str, str]:
    """The header by which the server knows a person."""
    return {"Authorization": f"Bearer {key_of(number)}"}


def questions(seed: int) -> Iterator[str]:
    """Questions without end, no two of them alike: the sample's, with further words."""
    draw = random.Random(seed)
    for number in count():
        more = " ".join(draw.sample(_WORDS, 4))
        yield f"{draw.choice(QUESTIONS)} ({number}: {more})"[:600]


def processor_s(server: Serving) -> float:
    """The seconds of processor that a server's process took so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asked_ms(server: Serving, question: str, number: int = 0) -> float:
    """The milliseconds of an answer on a connection of its own.

    Raises:
        httpx.HTTPStatusError: It is refused.
    """
    person = {"headers": as_person(number), "timeout": _DEADLINE_S}
    with httpx.Client(base_url=server.address, **person) as client:  # to make one takes a third
        seconds, reply = timed(lambda: client.post("api/ask", json={"question": question}))
    reply.raise_for_status()
    return 1000 * seconds


def forget_peak(server: Serving) -> None:
    """Have the most memory that there was count from now on."""
    Path(f"/proc/{server.pid}/clear_refs").write_text("5", encoding="ascii")


def peak_mb(server: Serving) -> float:
    """The most memory that was resident, in MiB."""
    said = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
    return int(said.partition("VmHWM:")[2].split()[0]) / 1024


@dataclass
class Load:
    """What came of questions that many people asked at once."""

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[int, float]] = field(default_factory=list)
    took_s: float = 0.0

    def at(self, share: float) -> float:
        """The seconds in which such a share of the questions was answered."""
        return float(np.quantile(self.seconds, share))


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
        async with client_of(server, number) as client:
            while goes_on():
                sent = time.perf_counter()
                try:
                    reply = await client.post("api/ask", json={"question": next(asked)})
                except httpx.HTTPError as error:
                    load.refused[type(error).__name__] += 1
                    continue
                if reply.status_code != 200:
                    load.refused[_refusal(reply.status_code, reply.content)] += 1
                    continue
                load.seconds.append(time.perf_counter() - sent)
                if len(load.seconds) % every == 0:
                    load.memory.append((len(load.seconds), resident_mb(server.pid)))

    await asyncio.gather(*map(one, range(people)))
    load.took_s = time.perf_counter() - began
    return load


def client_of(server: Serving, number: int) -> httpx.AsyncClient:
    """A client of a person's."""
    headers = as_person(number)
    return httpx.AsyncClient(base_url=server.address, headers=headers, timeout=_DEADLINE_S)


async def streamed(
    client: httpx.AsyncClient, question: str, last: str = "answer"
) -> tuple[dict[str, float], str]:
    """The milliseconds to the first event of each kind of an answer, and how the stream ended.

    After an event of the kind ``last`` nothing more is read.
    """
    began, seen = time.perf_counter(), dict[str, float]()
    asked = {"json": {"question": question}, "headers": {"Accept": "text/event-stream"}}
    async with client.stream("POST", "api/ask", **asked) as reply:
        if reply.status_code != 200:
            return seen, _refusal(reply.status_code, await reply.aread())
        async for line in reply.aiter_lines():
            if line.startswith("event: "):
                seen.setdefault(line[7:], 1000 * (time.perf_counter() - began))
                if line[7:] == last:
                    break
    return seen, "answer" if "answer" in seen else "cut off"


def _refusal(status: int, body: bytes) -> str:
    return f"{status} {json.loads(body)['error']['kind']}"


async def streamed_at_once(server: Serving, streams: int, people: int) -> Counter[str]:
    """Open so many streams at once; how each ended."""
    asked = questions(streams)

    async def one(number: int) -> str:
        async with client_of(server, number % people) as client:
            return (await streamed(client, next(asked)))[1]

    return Counter(await asyncio.gather(*map(one, range(streams))))


async def slow_at_once(
    server: Serving, clients: int, people: int, seconds: float
) -> tuple[Counter[str], float]:
    """Have clients send headers or a body byte by byte, or read nothing; somebody asks among them.

    Returns:
        What the senders were told, and the milliseconds of the answer among them.
    """
    where, asked = urlsplit(server.address), questions(clients)

    async def sends_slowly(number: int) -> str:
        read, write = await asyncio.open_connection(where.hostname, where.port)
        head = _head(where.netloc, 1000, key_of(number % people))
        write.write(head if number % 2 else head[:-2] + b"X-More: ")
        until, told = time.monotonic() + seconds, b""
        while time.monotonic() < until and not told and not read.at_eof():
            write.write(b" ")
            try:
                told = await asyncio.wait_for(read.read(65536), 1.0)
            except TimeoutError:
                continue
            except OSError:
                break
        write.close()
        return told[9:12].decode() or "closed"

    async def reads_nothing(number: int) -> None:
        _, write = await asyncio.open_connection(where.hostname, where.port)
        body = json.dumps({"question": next(asked)}).encode()
        write.write(_head(where.netloc, len(body), key_of(number % people)) + body)
        await asyncio.sleep(seconds)
        write.close()

    async def asks() -> float:
        await asyncio.sleep(seconds / 2)
        return await asyncio.to_thread(asked_ms, server, next(asked))

    senders = clients * 2 // 3
    reading = asyncio.gather(*map(reads_nothing, range(senders, clients)))
    *told, took = await asyncio.gather(*map(sends_slowly, range(senders)), asks())
    await reading
    return Counter(told), took


def _head(host: str, length: int, key: str) -> bytes:
    return (
        f"POST /api/ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Accept: text/event-stream\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
    ).encode()
