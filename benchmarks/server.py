"""How the server answers: the first time, the next, fifty people at once, and over thousands.

    python benchmarks/server.py [--runs N] [--people N] [--seconds S]
    python benchmarks/server.py --questions 10000

The second asks so many questions, no two alike, by as many people at once, and prints what memory
does meanwhile; the first does all the rest. The client runs on the same processors.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from _server import (
    QUESTIONS,
    Load,
    Serving,
    ask,
    asked_at_once,
    first_bytes_among,
    first_bytes_ms,
    key_of,
    processor_s,
    questions,
    resident_mb,
    slow_at_once,
    streamed_at_once,
    with_people,
)

_FIRST = "What must an employer do before using an automated employment decision tool?"
_STREAMS, _SLOW_S = 500, 15.0
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
Figures = dict[str, Any]


def main() -> None:
    """Measure, and print flat JSON."""
    options = _options()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        figures = over_thousands(place, options) if options.questions else all_else(place, options)
    figures |= {"people": options.people, "cores": os.cpu_count()}
    text = json.dumps(figures, indent=2)
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="servers and rounds per figure")
    parser.add_argument("--people", type=int, default=50, help="who ask at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="for which they ask")
    parser.add_argument("--questions", type=int, default=0, help="measure memory over so many")
    return parser.parse_args()


def all_else(place: Path, options: argparse.Namespace) -> Figures:
    """Measure all but the memory over thousands of questions."""
    figures: Figures = {"runs": options.runs}
    figures |= _rounded(first_answers(place, options.runs))
    figures |= _rounded(on_screen(place, options.runs))
    with served(place, people=options.people) as server, _client(server) as client:
        ask(client, _FIRST)
        figures |= _rounded(next_answers(client, options.runs))
        figures |= at_once(server, options)
    with served(place, people=options.people) as server, _client(server) as client:
        asked = questions(0)
        for _ in range(_WARM):
            ask(client, next(asked))
        figures |= held_open(server, options.people)
    return figures


@contextmanager
def served(place: Path, people: int = 0, **limits: int) -> Iterator[Serving]:
    """Serve the sample, to people with keys where there are any."""
    settings = with_people(people, **(_MANY | limits)) if people else None
    folder = Path(tempfile.mkdtemp(dir=place))
    with Serving(folder, settings=settings) as server:
        yield server


def _client(server: Serving) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key_of(0)}"}
    return httpx.Client(base_url=server.address, headers=headers, timeout=60.0)


def first_answers(place: Path, runs: int) -> Figures:
    """Measure from the start of the process to the address it prints, and to the first answer."""
    listening, answered = [], []
    for _ in range(runs):
        began = time.perf_counter()
        with served(place) as server, httpx.Client(base_url=server.address, timeout=60.0) as client:
            listening.append(time.perf_counter() - began)
            ask(client, _FIRST)
            answered.append(time.perf_counter() - began)
    return {
        "listening_s": statistics.median(listening),
        "first_answer_s": statistics.median(answered),
    }


def on_screen(place: Path, runs: int) -> Figures:
    """Measure the same in a browser that is open already: until the answer is on screen."""
    from chromium import BROWSER, DRIVER, Page, chromium

    if not BROWSER or not DRIVER:
        print("No chromium and chromedriver: nothing is measured on screen.", file=sys.stderr)
        return {}
    first, following = [], []
    downloads = place / "browser"
    downloads.mkdir()
    with chromium(downloads) as driver:
        for _ in range(runs):
            began = time.perf_counter()
            with served(place) as server:
                page = Page(driver, server.address)
                page.open()
                page.ask(_FIRST)
                first.append(time.perf_counter() - began)
                page.script(_WATCH)
                for question in QUESTIONS[:3]:
                    page.ask(question)
                    following.append(page.script("return window.shownAfterMs"))
    return {
        "first_answer_on_screen_s": statistics.median(first),
        "next_answer_on_screen_ms": statistics.median(following),
    }


def next_answers(client: httpx.Client, runs: int) -> Figures:
    """Measure answers of a server that has answered before, whole and as streams."""
    asked, whole, streams = questions(0), [], []
    for _ in range(_WARM):
        ask(client, next(asked))
    for _ in range(10 * runs):
        began = time.perf_counter()
        ask(client, next(asked))
        whole.append(1000 * (time.perf_counter() - began))
        streams.append(first_bytes_ms(client, next(asked)))
    byte, step, answer = zip(*streams, strict=True)
    return {
        "next_answer_ms": statistics.median(whole),
        "next_answer_p95_ms": sorted(whole)[int(0.95 * len(whole))],
        "first_byte_ms": statistics.median(byte),
        "first_byte_p95_ms": sorted(byte)[int(0.95 * len(byte))],
        "first_step_ms": statistics.median(step),
        "streamed_answer_ms": statistics.median(answer),
    }


def at_once(server: Serving, options: argparse.Namespace) -> Figures:
    """Measure people who ask one question after another."""
    before = processor_s(server)

    async def asked() -> tuple[Load, list[float]]:
        return await asyncio.gather(
            asked_at_once(server, options.people, seconds=options.seconds),
            first_bytes_among(server, options.seconds),
        )

    load, firsts = asyncio.run(asked())
    answered = len(load.seconds)
    return {
        "at_once_answered": answered,
        "at_once_per_second": round(answered / load.took_s, 1),
        "at_once_p50_ms": round(load.at(0.5)),
        "at_once_p95_ms": round(load.at(0.95)),
        "at_once_first_byte_ms": round(statistics.median(firsts), 1),
        "at_once_errors": dict(load.refused),
        "at_once_processor_ms": round(1000 * (processor_s(server) - before) / answered, 1),
        "at_once_resident_mb": round(resident_mb(server)),
    }


def held_open(server: Serving, people: int) -> Figures:
    """Measure streams that are opened together, and slow clients."""
    before = resident_mb(server)
    streams, most = asyncio.run(streamed_at_once(server, _STREAMS, people))
    slow, among_ms, slow_most = asyncio.run(slow_at_once(server, _STREAMS, people, _SLOW_S))
    return {
        "streams": dict(streams),
        "streams_more_mb": round(most - before, 1),
        "slow_senders": dict(slow),
        "slow_more_mb": round(slow_most - before, 1),
        "answer_among_slow_ms": round(among_ms, 1),
    }


def over_thousands(place: Path, options: argparse.Namespace) -> Figures:
    """Measure memory over questions that are all different, asked by different people."""
    every = max(1, options.questions // 40)
    with served(place, people=options.people) as server:
        load = asyncio.run(
            asked_at_once(server, options.people, most=options.questions, every=every)
        )
        end = resident_mb(server)
    return {
        "questions": len(load.seconds),
        "errors": dict(load.refused),
        "per_second": round(len(load.seconds) / load.took_s, 1),
        "resident_mb": {done: round(mb, 1) for done, mb in load.memory[:: len(load.memory) // 10]},
        "resident_end_mb": round(end, 1),
        "mb_per_1000_questions": round(load.mb_per_1000(options.questions // 5), 2),
        "mb_per_1000_questions_of_the_last_half": round(
            load.mb_per_1000(options.questions // 2), 2
        ),
    }


def _rounded(figures: Figures) -> Figures:
    return {name: round(value, 3) for name, value in figures.items()}


if __name__ == "__main__":
    main()
