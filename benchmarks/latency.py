"""How long one hybrid query takes, next to LangChain, LlamaIndex and a bare bm25s + FAISS.

    pip install -e ".[bench]"
    python benchmarks/latency.py --passages PASSAGES.jsonl --chunks 13000,100000

A query goes from the question's text to ten texts: BM25 and vectors, fused by reciprocal ranks
with equal weights. Every contestant has a process of its own, the same chunks and vectors and the
same embedder; they take turns, ten questions each time in an order drawn anew, so that whatever
else the machine does hits all alike. The first answer of a turn is not timed: it pays for what the
neighbour left in the caches. Sizes beyond the file's are mixed from it.
"""

import argparse
import json
import math
import random
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median
from typing import Any

from _mixture import mixed, questions_from, read_passages
from _process import Entrant
from _windows import cache_folder

_NAMES = ("lexloop", "langchain", "llamaindex", "bm25s_faiss")
_TURN = 10
_TOP = 10
_SEED = 5

Asked = dict[str, list[tuple[float, list[str]]]]
"""By contestant: milliseconds and ids for the questions it was asked, in their order."""


def main() -> None:
    """Measure every size and print the figures."""
    options = _options()
    passages = read_passages(options.passages)
    # distinct ones, a spare one for each turn: none is asked anything twice while it embeds
    questions = questions_from(passages, options.questions + math.ceil(options.questions / _TURN))
    report: dict[str, Any] = {}
    for size in options.chunks:
        report[str(size)] = _measure(mixed(passages, size, options.cache), questions, options)
        print(size, json.dumps(report[str(size)]), file=sys.stderr, flush=True)
    print(json.dumps(report, indent=2))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--chunks", type=_sizes, default=[13_000], metavar="N[,N]")
    parser.add_argument("--questions", type=int, default=60, help="asked of every contestant")
    parser.add_argument("--only", default=",".join(_NAMES), help="contestants, with commas")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="keeps what is made")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _measure(corpus: Path, questions: list[str], options: argparse.Namespace) -> dict[str, Any]:
    asked, spare = questions[: options.questions], questions[options.questions :]
    with ExitStack() as running:
        names = options.only.split(",")
        entrants = [running.enter_context(Entrant(name, corpus)) for name in names]
        whole = _ask(entrants, asked, spare)
        for entrant in entrants:
            entrant.know(questions)
        search = _ask(entrants, asked, spare)
        memory = {entrant.name: entrant.resident_mb() for entrant in entrants}
        ready = {entrant.name: entrant.ready_s for entrant in entrants}
    return {**_figures(whole, search), "resident_mb_of": memory, "ready_s": ready}


def _ask(entrants: list[Entrant], questions: list[str], spare: list[str]) -> Asked:
    """Put the questions to the contestants, a few to each in turn, a spare one before these."""
    draw = random.Random(_SEED)
    found: Asked = {entrant.name: [] for entrant in entrants}
    for first in range(0, len(questions), _TURN):
        for entrant in draw.sample(entrants, len(entrants)):
            entrant.search(spare[first // _TURN])
            asked = questions[first : first + _TURN]
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


if __name__ == "__main__":
    main()
