"""How long one hybrid query takes, next to LangChain, LlamaIndex and a bare bm25s + FAISS.

    pip install -e ".[bench]"
    python benchmarks/latency.py --passages PASSAGES.jsonl --chunks 13000,100000

A query goes from the question's text to ten texts: BM25 and vectors, fused by reciprocal ranks
with equal weights. Every contestant has a process of its own, the same chunks and vectors and the
same embedder; they take turns, ten questions each time in an order drawn anew, so that whatever
else the machine does hits all alike. The first answer of a turn is not timed: it pays for what the
neighbour left in the caches. Sizes beyond the file's are mixed from it.

A figure is null where a contestant needs more than its budget; ``skipped`` says what it needed.
"""

import argparse
import json
import math
import os
import platform
import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median
from typing import Any

from _mixture import mixed, questions_from, read_passages
from _process import Budget, Entrant, OutOfBudgetError

_NAMES = ("lexloop", "langchain", "llamaindex", "bm25s_faiss")
_WARM_UP = 5
_TURN = 10
_FEWEST = 5
_TOP = 10
_SEED = 5

Asked = dict[str, list[tuple[float, list[str]]]]
"""By contestant: milliseconds and ids for the questions it was asked, in their order."""


def main() -> None:
    """Measure every size and print the figures."""
    options = _options()
    passages = read_passages(options.passages)
    questions = _questions(options, passages)
    report: dict[str, Any] = {}
    for size in options.chunks:
        report[str(size)] = _measure(mixed(passages, size, options.cache), questions, options)
        print(size, json.dumps(report[str(size)]), file=sys.stderr, flush=True)
    report |= {"questions": options.questions, "cores": os.cpu_count(), "machine": _processor()}
    text = json.dumps(report, indent=2)
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--chunks", type=_sizes, default=[13_000], metavar="N[,N]")
    parser.add_argument("--questions", type=int, default=60, help="asked of every contestant")
    parser.add_argument("--queries", type=Path, help="take them from here: `question` a line")
    parser.add_argument("--only", default=",".join(_NAMES), help="contestants, with commas")
    parser.add_argument("--seconds", type=float, default=900.0, help="for indexing, and a pass")
    parser.add_argument("--gib", type=float, default=8.0, help="memory of one contestant")
    parser.add_argument("--cache", type=Path, help="keeps vectors, corpora and our indexes")
    options = parser.parse_args()
    options.cache = options.cache or _cache_folder()
    return options


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return Path(os.environ.get("LEXLOOP_CACHE") or user_cache_path("lexloop")) / "benchmarks"


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _questions(options: argparse.Namespace, passages: Sequence[str]) -> list[str]:
    """Distinct ones: no contestant is asked anything twice while it embeds."""
    count = options.questions + math.ceil(options.questions / _TURN) + _WARM_UP
    if options.queries is None:
        return questions_from(passages, count)
    lines = options.queries.read_text(encoding="utf-8").splitlines()
    questions = list(dict.fromkeys(json.loads(line)["question"] for line in lines))
    if len(questions) < count:
        raise SystemExit(f"{options.queries} holds {len(questions)} questions, {count} are needed.")
    return questions[:count]


def _measure(corpus: Path, questions: list[str], options: argparse.Namespace) -> dict[str, Any]:
    asked, spare = questions[: options.questions], questions[options.questions :]
    budget = Budget(options.seconds, options.gib)
    skipped: dict[str, str] = {}
    with ExitStack() as running:
        entrants: list[Entrant] = []
        for name in options.only.split(","):
            try:
                entrants.append(running.enter_context(Entrant(name, corpus, budget)))
            except OutOfBudgetError as error:
                skipped[name] = str(error)
        most, warm_up = len(asked), spare[-_WARM_UP:]
        shares = {e.name: _share(e, warm_up, budget, most) for e in entrants}
        whole = _ask(entrants, asked, spare, shares)
        for entrant in entrants:
            entrant.know(questions)
        search = _ask(entrants, asked, spare, shares)
        memory = {entrant.name: entrant.resident_mb() for entrant in entrants}
        ready = {entrant.name: entrant.ready_s for entrant in entrants}
    return {
        **_figures(whole, search),
        "resident_mb": memory.get("lexloop"),
        "resident_mb_of": memory,
        "ready_s": ready,
        "questions_of": {name: len(found) for name, found in whole.items()},
        "skipped": skipped,
    }


def _share(entrant: Entrant, warm_up: list[str], budget: Budget, most: int) -> int:
    """How many questions a contestant can be timed on within its seconds; warms it up as well."""
    seconds = median(entrant.search(question)[0] for question in warm_up) / 1000
    return max(_FEWEST, min(most, int(budget.seconds / seconds)))


def _ask(
    entrants: list[Entrant], questions: list[str], spare: list[str], shares: dict[str, int]
) -> Asked:
    """Put the questions to the contestants, a few to each in turn, a spare one before these."""
    draw = random.Random(_SEED)
    found: Asked = {entrant.name: [] for entrant in entrants}
    for first in range(0, len(questions), _TURN):
        for entrant in draw.sample(entrants, len(entrants)):
            asked = questions[first : min(first + _TURN, shares[entrant.name])]
            if asked:
                entrant.search(spare[first // _TURN])
                found[entrant.name] += [entrant.search(question) for question in asked]
    return found


def _figures(whole: Asked, search: Asked) -> dict[str, Any]:
    """Median milliseconds with and without embedding, ratios to ours, and the shared top ten."""
    took = {name: _median_ms(whole, name) for name in _NAMES}
    bare = {name: _median_ms(search, name) for name in _NAMES}
    figures: dict[str, Any] = {f"{name}_ms": _rounded(took[name]) for name in _NAMES}
    figures |= {f"{name}_no_embedding_ms": _rounded(bare[name]) for name in _NAMES}
    for name in _NAMES[1:]:
        figures[f"ratio_{name}"] = _ratio(took[name], took["lexloop"])
        figures[f"ratio_{name}_no_embedding"] = _ratio(bare[name], bare["lexloop"])
    pairs = list(zip(whole.get("lexloop", []), whole.get("langchain", []), strict=False))
    shared = [len(set(ours) & set(theirs)) / _TOP for (_, ours), (_, theirs) in pairs]
    figures["overlap@10"] = _rounded(fmean(shared)) if shared else None
    return figures


def _median_ms(asked: Asked, name: str) -> float | None:
    return median(ms for ms, _ in asked[name]) if asked.get(name) else None


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return _rounded(theirs / ours) if theirs and ours else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _processor() -> str:
    """The processor's name where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


if __name__ == "__main__":
    main()
