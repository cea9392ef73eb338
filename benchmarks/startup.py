"""How long a first answer takes: the process's start, a warm answer, and the graph by itself.

Usage: python benchmarks/startup.py [--runs N]
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from _shared import LEXLOOP, options, timed

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Context, drafted
from lexloop.nodes.question.parts import parse

_QUESTION = "What must an employer do before using an automated employment decision tool?"
_WARM = (
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

    def probabilities(self, _: str, classes: int) -> list[float]:
        """The first class for certain."""
        return [1.0] + [0.0] * (classes - 1)

    async def rewrite(self, question: str, *_: Any) -> Any:
        """The question as it is."""
        return parse(question)

    def rerank(self, _: Any, candidates: Any) -> Any:
        """The candidates as they come."""
        return candidates

    async def generate(self, *_: Any, **__: Any) -> Any:
        """An answer without sources."""
        return drafted("Yes.")

    async def advise(self, asked: Any, _: Any) -> Any:
        """None of any use."""
        return {"question": asked["text"], "queries": [], "guidance": "", "strategy": "reread"}

    def never(self, *_: Any) -> bool:
        """Nothing to refuse, to withhold or to read further."""
        return False

    refuses = withholds = has_more = never


def main() -> None:
    """Measure, and print flat JSON."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=7, help="processes and rounds per figure")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        warm, fresh = Path(name, "warm"), iter(Path(name, str(n)) for n in range(_FIRST_RUNS))
        _lexloop(["ask", _QUESTION], warm)
        # the figures in this process come last, so that nothing runs beside the processes
        figures = {
            "help_s": _median_s(lambda: _lexloop(["--help"], warm), runs),
            "ask_cold_s": _median_s(lambda: _lexloop(["ask", _QUESTION], warm), runs),
            "ask_first_s": _median_s(
                lambda: _lexloop(["ask", _QUESTION], next(fresh)), _FIRST_RUNS
            ),
        }
    graph, minilm = build_graph(Resources()), load_minilm()
    graph.invoke({"question": _QUESTION})
    figures["ask_warm_ms"] = _each_ms(lambda asked: graph.invoke({"question": asked}), runs)
    figures["graph_overhead_ms"] = 1000 * _median_s(_around_nothing(), _GRAPH_RUNS)
    figures["embed_ms"] = _each_ms(lambda asked: minilm.embed([asked]), runs)
    figures["warm_per_embedding"] = figures["ask_warm_ms"] / figures["embed_ms"]
    rounded = {name: round(value, 3) for name, value in figures.items()}
    print(json.dumps({**rounded, "runs": runs, "cores": os.cpu_count()}, indent=2))


def _lexloop(arguments: Sequence[str], cache: Path) -> None:
    """Run the command as a process, with a cache of indexes."""
    environ = {**os.environ, "LEXLOOP_CACHE": str(cache)}
    subprocess.run([*LEXLOOP, *arguments], check=True, stdout=subprocess.DEVNULL, env=environ)


def _median_s(run: Callable[[], object], runs: int) -> float:
    return median(timed(run)[0] for _ in range(runs))


def _each_ms(run: Callable[[str], object], runs: int) -> float:
    """Median milliseconds of several different questions, each asked so many times."""
    questions = cycle(_WARM)
    return 1000 * _median_s(lambda: run(next(questions)), runs * len(_WARM))


def _around_nothing() -> Callable[[], object]:
    """A run of the compiled graph whose nodes do next to nothing."""
    part = Trivial()
    nothing = dict.fromkeys(("view", "judge"))
    parts = ("classifier", "rewriter", "reranker", "generator", "guard", "engineer")
    context = Context(settings=Settings(), **nothing, **dict.fromkeys(parts, part))
    graph = build_graph(lambda *_: context)
    return lambda: graph.invoke({"question": _QUESTION})


if __name__ == "__main__":
    main()
