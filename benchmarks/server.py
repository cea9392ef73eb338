"""How the server answers: the first time, the next, fifty people at once, and over thousands.

    python benchmarks/server.py [--runs N] [--people N] [--seconds S]
    python benchmarks/server.py --questions 10000

The second asks so many questions, no two alike, by as many people at once, and prints what memory
does meanwhile; the first does all the rest. The client runs on the same processors.
"""

import asyncio
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from _server import (
    QUESTIONS,
    Load,
    Serving,
    asked_at_once,
    asked_ms,
    client_of,
    forget_peak,
    peak_mb,
    processor_s,
    questions,
    slow_at_once,
    streamed,
    streamed_at_once,
    with_people,
)
from _shared import options, resident_mb, table

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
