"""How long a first answer takes: the process's start, a warm answer, and the graph by itself.

Usage: python benchmarks/startup.py [--runs N]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lexloop.core.settings import Settings
from lexloop.core.types import (
    Advice,
    Attempt,
    Candidate,
    Draft,
    ParsedQuestion,
    Passage,
    Plan,
    Pointed,
    Triplet,
    Turn,
)
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Context, drafted
from lexloop.nodes.question import parse

QUESTION = "What must an employer do before using an automated employment decision tool?"
WARM_QUESTIONS = (
    "What is a bias audit?",
    "How much is the civil penalty for a second violation?",
    "Who counts as an independent auditor?",
    "When must candidates be notified, and how?",
    "Which results of the bias audit must be published on the website?",
    "How is the impact ratio calculated?",
    "Compare the duties of employers and of employment agencies.",
    "May an employer rely on test data, and under which conditions?",
)
_GRAPH_RUNS = 50
_FIRST_RUNS = 3


class Trivial:
    """Every part of the graph at once, each doing the least that its node accepts."""

    instructions = ""

    def probabilities(self, question: str, classes: int) -> list[float]:
        """The first class for certain."""
        return [1.0] + [0.0] * (classes - 1)

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """The question as it is."""
        return parse(question)

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates as they come."""
        return candidates

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """An answer without sources."""
        return drafted("Yes.")

    def refuses(self, asked: str, standalone: str, passages: list[Passage]) -> bool:
        """Nothing."""
        return False

    def withholds(self, answer: str, instructions: str, question: str) -> bool:
        """Nothing."""
        return False

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """None of any use."""
        return {"question": asked["text"], "queries": [], "guidance": "", "strategy": "reread"}

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Nothing."""
        return False


def graph_overhead_ms() -> float:
    """Milliseconds of one run of the compiled graph whose nodes do next to nothing."""
    part = Trivial()
    components = Context(
        settings=Settings(),
        classifier=part,
        rewriter=part,
        wording=None,
        backend=None,
        graph_source=None,
        reranker=part,
        generator=part,
        guard=part,
        judge=None,
        text_of=None,
        engineer=part,
    )
    graph = build_graph(lambda *_: components)
    return 1000 * median_seconds(lambda: graph.invoke({"question": QUESTION}), _GRAPH_RUNS)


def ask_warm_ms(runs: int) -> float:
    """Milliseconds of a question to a loaded graph, over several different ones."""
    graph = build_graph(Resources())
    graph.invoke({"question": QUESTION})
    rounds = [
        median_seconds(lambda question=question: graph.invoke({"question": question}), 1)
        for _ in range(runs)
        for question in WARM_QUESTIONS
    ]
    return 1000 * statistics.median(rounds)


def embed_ms(runs: int) -> float:
    """Milliseconds of embedding one question with the loaded model, over the same ones."""
    minilm = load_minilm()
    rounds = [
        median_seconds(lambda question=question: minilm.embed([question]), 1)
        for _ in range(runs)
        for question in WARM_QUESTIONS
    ]
    return 1000 * statistics.median(rounds)


def lexloop_seconds(arguments: list[str], cache: Path, runs: int, warm: bool) -> float:
    """Median seconds of the command as a process; ``warm`` keeps one cache of indexes."""

    def once(folder: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "lexloop.apps.cli", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "LEXLOOP_CACHE": str(folder)},
        )

    if warm:
        once(cache / "warm")
        return median_seconds(lambda: once(cache / "warm"), runs)
    fresh = iter(range(runs))
    return median_seconds(lambda: once(cache / f"fresh-{next(fresh)}"), runs)


def median_seconds(run: Callable[[], object], runs: int) -> float:
    """Median wall-clock seconds of ``run``."""
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def main() -> None:
    """Measure, and print flat JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=7, help="processes and rounds per figure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name)
        # the figures in this process come last, so that nothing runs beside the processes
        figures = {
            "help_s": lexloop_seconds(["--help"], cache, options.runs, warm=True),
            "ask_cold_s": lexloop_seconds(["ask", QUESTION], cache, options.runs, warm=True),
            "ask_first_s": lexloop_seconds(["ask", QUESTION], cache, _FIRST_RUNS, warm=False),
            "ask_warm_ms": ask_warm_ms(options.runs),
            "graph_overhead_ms": graph_overhead_ms(),
            "embed_ms": embed_ms(options.runs),
        }
    figures["warm_per_embedding"] = figures["ask_warm_ms"] / figures["embed_ms"]
    text = json.dumps(
        {name: round(value, 3) for name, value in figures.items()}
        | {"runs": options.runs, "cores": os.cpu_count()},
        indent=2,
    )
    print(text)


if __name__ == "__main__":
    main()
