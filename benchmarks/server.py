"""How the server answers: the first time, the next, fifty people at once, and over thousands.

    python benchmarks/server.py [--runs N] [--people N] [--seconds S]
    python benchmarks/server.py --questions 10000

The second asks so many questions, no two alike, by as many people at once, and prints what memory
does meanwhile; the first does all the rest. The client runs on the same processors.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
import numpy as np
from _shared import ROOT, options, read_rows, resident_mb, table, timed
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


_FIRST = "What must an employer do before using an automated employment decision tool?"
_STREAMS, _SLOW_S = 500, 45.0
_WARM = 100
_MANY = {"questions_per_minute": 1_000_000, "requests_per_minute": 1_000_000}
_WATCH = """
addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const asked = event.timeStamp;
  const shown = () => document.querySelectorAll("[data-testid=verdict]").length;
  const before = shown();
  new MutationObserver((_, watching) => {
    if (shown() === before) return;
    watching.disconnect();
    requestAnimationFrame(() => { window.shownAfterMs = performance.now() - asked; });
  }).observe(document.body, { childList: true, subtree: true });
}, true);
"""
"""Measures in the page itself, from the key that asks to the frame with the answer."""
Rows = Iterator[tuple[str, str]]


def main() -> None:
    """Measure, and print a table."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="servers and rounds per figure")
    parser.add_argument("--people", type=int, default=50, help="who ask at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="for which they ask")
    parser.add_argument("--questions", type=int, default=0, help="measure memory over so many")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if given.questions:
            print(table(["answers", "resident, MiB"], _over_thousands(place, given)))
            return
        rows = [*_first_answers(place, given.runs), *_on_screen(place, given.runs)]
        with _served(place, given.people) as server:
            rows += [*_next_answers(server, given.runs), *_at_once(server, given)]
        with _served(place, given.people) as server:
            _warm(server)
            rows += _held_open(server, given.people)
    print(table(["", ""], rows))


@contextmanager
def _served(place: Path, people: int = 0) -> Iterator[Serving]:
    """Serve the sample, to people with keys where there are any."""
    settings = with_people(people, **_MANY) if people else None
    with Serving(Path(tempfile.mkdtemp(dir=place)), settings=settings) as server:
        yield server


def _warm(server: Serving) -> None:
    for question, _ in zip(questions(0), range(_WARM), strict=False):
        asked_ms(server, question)


def _first_answers(place: Path, runs: int) -> Rows:
    """From the start of the process to the address it prints, and to the first answer."""
    listening, answered = [], []
    for _ in range(runs):
        began = time.perf_counter()
        with _served(place) as server:
            listening.append(time.perf_counter() - began)
            asked_ms(server, _FIRST)
            answered.append(time.perf_counter() - began)
    yield "from the start of `lexloop serve` until it listens", f"{median(listening):.2f} s"
    yield "until the first answer over HTTP", f"{median(answered):.2f} s"


def _on_screen(place: Path, runs: int) -> Rows:
    """The same in a browser that is open already: until the answer is on screen."""
    from chromium import BROWSER, DRIVER, Page, chromium

    if not BROWSER or not DRIVER:
        print("No chromium and chromedriver: nothing is measured on screen.", file=sys.stderr)
        return
    first, following = [], []
    downloads = place / "browser"
    downloads.mkdir()
    with chromium(downloads) as driver:
        for _ in range(runs):
            began = time.perf_counter()
            with _served(place) as server:
                page = Page(driver, server.address)
                page.open()
                page.ask(_FIRST)
                first.append(time.perf_counter() - began)
                page.script(_WATCH)
                for question in QUESTIONS[:3]:
                    page.ask(question)
                    following.append(page.script("return window.shownAfterMs"))
    typed = "until the first answer is on screen, typed in a browser that is open"
    yield typed, f"{median(first):.2f} s"
    yield "the next answer on screen, from the key to the frame", f"{median(following):.0f} ms"


def _next_answers(server: Serving, runs: int) -> Rows:
    """Answers of a server that has answered before, whole and as streams."""
    _warm(server)
    asked = questions(1)
    whole = sorted(asked_ms(server, next(asked)) for _ in range(10 * runs))
    late = whole[int(0.95 * len(whole))]
    yield "the next answer over HTTP; 95 % of them", f"{median(whole):.0f} ms; {late:.0f} ms"
    seen = asyncio.run(_streams(server, 10 * runs))
    byte, step = (median(one[event] for one in seen) for event in ("begin", "step"))
    yield "the first byte of the steps; the first step", f"{byte:.0f} ms; {step:.0f} ms"


async def _streams(
    server: Serving, most: int, seconds: float = 600.0, last: str = "answer"
) -> list[dict[str, float]]:
    """When events came first in streams that one person opens, one after the other."""
    asked, found, until = questions(2), list[dict[str, float]](), time.monotonic() + seconds
    async with client_of(server, 0) as client:
        while len(found) < most and time.monotonic() < until:
            found.append((await streamed(client, next(asked), last))[0])
    return found


def _at_once(server: Serving, given: Namespace) -> Rows:
    """People who ask one question after another, and one more who opens streams."""
    before, who = processor_s(server), f"{given.people} people at once"

    async def asked() -> tuple[Load, list[dict[str, float]]]:
        return await asyncio.gather(
            asked_at_once(server, given.people, seconds=given.seconds),
            _streams(server, sys.maxsize, given.seconds, "begin"),
        )

    load, seen = asyncio.run(asked())
    answered, refused = len(load.seconds), dict(load.refused) or 0
    yield f"{who}: questions a second, errors", f"{answered / load.took_s:.1f}, {refused}"
    within = f"{load.at(0.5):.2f} s, {load.at(0.95):.2f} s"
    yield f"{who}: half of the answers within, 95 % within", within
    spent = 1000 * (processor_s(server) - before) / answered
    yield f"{who}: processor time an answer", f"{spent:.0f} ms"
    first = median(one["begin"] for one in seen)
    yield f"the first byte of the steps, among {given.people} people", f"{first:.0f} ms"


def _held_open(server: Serving, people: int) -> Rows:
    """Streams that are opened together, and slow clients."""
    before = resident_mb(server.pid)
    forget_peak(server)
    ended = asyncio.run(streamed_at_once(server, _STREAMS, people))
    more = peak_mb(server) - before
    yield f"{_STREAMS} streams opened at once", f"{dict(ended)}; {more:.0f} MiB more"
    forget_peak(server)
    told, among = asyncio.run(slow_at_once(server, _STREAMS, people, _SLOW_S))
    slow = f"{_STREAMS} clients, two of three send a byte a second, the others read nothing"
    yield slow, f"{dict(told)}; {peak_mb(server) - before:.0f} MiB more"
    yield "an answer among these", f"{among:.0f} ms"


def _over_thousands(place: Path, given: Namespace) -> Rows:
    """Memory over questions that are all different, asked by different people."""
    every = max(1, given.questions // 8)
    with _served(place, given.people) as server:
        asking = asked_at_once(server, given.people, most=given.questions, every=every)
        load, end = asyncio.run(asking), resident_mb(server.pid)
    for done, mb in load.memory:
        yield f"{done:,}", f"{mb:.0f}"
    yield f"{len(load.seconds):,}, errors {dict(load.refused) or 0}", f"{end:.0f}"


if __name__ == "__main__":
    main()
