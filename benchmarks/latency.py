"""How long one hybrid query takes, next to LangChain, LlamaIndex and a bare bm25s + FAISS.

    pip install -e ".[bench]"
    python benchmarks/latency.py --passages PASSAGES.jsonl --chunks 13000,100000

A query goes from the question's text to ten texts: BM25 and vectors, fused by reciprocal ranks
with equal weights. Every contestant has a process of its own, the same chunks and vectors and the
same embedder; they take turns, ten questions each time in an order drawn anew, so that whatever
else the machine does hits all alike. The first answer of a turn is not timed: it pays for what the
neighbour left in the caches. Sizes beyond the file's are mixed from it. Figures are medians.
"""

import argparse
import math
import os
import random
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import fmean, median

from _contest import TOP, Entrant
from _mixture import mixed, questions_from, read_passages
from _shared import numbers, options, table

from lexloop.core.files import cache_folder

_NAMES = {
    "lexloop": ("Lexloop", "Lexloop"),
    "langchain": ("LangChain's EnsembleRetriever", "LangChain"),
    "llamaindex": ("LlamaIndex's QueryFusionRetriever", "LlamaIndex"),
    "bm25s_faiss": ("bare bm25s + FAISS HNSW", "bare"),
}
"""Each contestant as the table calls it, and in a word."""
_CACHE = cache_folder().with_name("benchmarks")
_TURN, _SEED = 10, 5

Asked = dict[str, list[tuple[float, list[str]]]]
"""By contestant: milliseconds and ids for the questions it was asked, in their order."""
Figures = list[tuple[str, str]]


def main() -> None:
    """Measure every size and print the figures."""
    parser = options(__doc__)
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--chunks", type=numbers, default=[13_000], metavar="N[,N]")
    parser.add_argument("--questions", type=int, default=60, help="asked of every contestant")
    given = parser.parse_args()
    os.environ["LANGSMITH_TRACING"] = "false"
    passages = read_passages(given.passages)
    # distinct ones, a spare one for each turn: none is asked anything twice while it embeds
    questions = questions_from(passages, given.questions + math.ceil(given.questions / _TURN))
    corpora = [mixed(passages, size, _CACHE) for size in given.chunks]
    columns = [_measure(corpus, questions, given) for corpus in corpora]
    rows = ([row[0][0], *(value for _, value in row)] for row in zip(*columns, strict=True))
    print(table(["", *(f"{size:,} chunks" for size in given.chunks)], rows))


def _measure(corpus: Path, questions: list[str], given: argparse.Namespace) -> Figures:
    asked, spare = questions[: given.questions], questions[given.questions :]
    with ExitStack() as running:
        entrants = [running.enter_context(closing(Entrant(n, corpus))) for n in _NAMES]
        whole = _ask(entrants, asked, spare)
        for entrant in entrants:
            entrant.know(questions)
        return _figures(whole, _ask(entrants, asked, spare))


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


def _figures(whole: Asked, search: Asked) -> Figures:
    """Median milliseconds with and without embedding, ratios to ours, and the shared top ten."""
    took, bare = _medians(whole), _medians(search)
    rows = [(f"{_NAMES[name][0]}, ms", f"{ms:.3f}") for name, ms in took.items()]
    rows += [
        (f"{_NAMES[name][1]} without the embedding, ms", f"{ms:.3f}") for name, ms in bare.items()
    ]
    for name in [*took][1:]:
        rows.append((f"times as fast as {_NAMES[name][1]}", f"{took[name] / took['lexloop']:.3g}"))
        rows.append(("the same without the embedding", f"{bare[name] / bare['lexloop']:.3g}"))
    pairs = zip(whole["lexloop"], whole["langchain"], strict=True)
    shared = fmean(len({*ours} & {*theirs}) / TOP for (_, ours), (_, theirs) in pairs)
    rows.append((f"overlap of the top {TOP} with LangChain's", f"{shared:.3f}"))
    return rows


def _medians(asked: Asked) -> dict[str, float]:
    return {name: median(ms for ms, _ in found) for name, found in asked.items()}


if __name__ == "__main__":
    main()
