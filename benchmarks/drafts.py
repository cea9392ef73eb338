"""Which answers of models yield to quoted statements, where the generator is chosen by itself.

    python benchmarks/drafts.py --recorded FILE --gold FILE --corpus TEXTS

The answers that HyPA-RAG's authors recorded of seven systems, beside the passages that this one
finds for the same questions. For each least share of an answer that the passages must support:
what stands of the answers that their judge called correct (4 or 5 of 5) and of the rest, and the
mean score of what stands and of what yields. Below, the systems at the share that is used, and
each at the share that tells right from wrong best (balanced accuracy) among the other systems.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from _shared import options, table

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.evaluate.judges import SUPPORTED, EmbeddedJudge
from lexloop.nodes.question.parts import parse
from lexloop_eval.case import read_cases
from training.correctness import read_recorded

_LEAST = (0.3, 0.4, SUPPORTED, 0.6, 0.7)
_CORRECT = 4.0


class Row(NamedTuple):
    """An answer of a system: their score of it, from 1 to 5, and the share that is supported."""

    run: str
    score: float
    supported: float


def main() -> None:
    """Judge every answer and print both tables."""
    parser = options(__doc__)
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--corpus", required=True)
    given = parser.parse_args()
    rows = asyncio.run(_judged(given.recorded, given.gold, given.corpus))
    head = ["stand, of correct ones", "of the rest", "score of what stands", "of what yields"]
    print(f"{len(rows)} answers")
    print(table(["least supported", *head], [[least, *_told(rows, least)] for least in _LEAST]))
    runs = sorted({row.run for row in rows})
    shares = [[run, *_told([r for r in rows if r.run == run], SUPPORTED)] for run in runs]
    print(table([f"system, at {SUPPORTED}", *head], shares))
    print(table(["system", "share by the others", *head], [_by_others(rows, run) for run in runs]))


async def _judged(recorded: Path, gold: Path, corpus: str) -> list[Row]:
    cases = read_cases(gold)
    asked = {case.id: case.question for case in cases}
    resources = Resources(defaults=Settings(corpus=corpus))
    graph = build_graph(resources)
    view = resources(None).view
    assert view is not None
    judge, rows = EmbeddedJudge(view), []
    found = {name: (await graph.ainvoke({"question": q}))["passages"] for name, q in asked.items()}
    for answer in read_recorded(recorded, cases):
        if passages := found[answer.id]:
            judged = await judge.judge(parse(asked[answer.id]), passages, answer.texts[1])
            rows.append(Row(answer.run, answer.score, judged.groundedness or 0.0))
    return rows


def _by_others(rows: list[Row], run: str) -> list[object]:
    """A system at the least share that tells right from wrong best among the others."""
    others = [row for row in rows if row.run != run]
    least = max(_LEAST, key=lambda share: _balanced(others, share))
    return [run, least, *_told([row for row in rows if row.run == run], least)]


def _balanced(rows: list[Row], least: float) -> float:
    """The mean of what stands of the right answers and what yields of the wrong ones."""
    right = [row.supported >= least for row in rows if row.score >= _CORRECT]
    wrong = [row.supported < least for row in rows if row.score < _CORRECT]
    return fmean([fmean(right), fmean(wrong)])


def _told(rows: Iterable[Row], least: float) -> list[str]:
    standing, yielding = [], []
    for row in rows:
        (standing if row.supported >= least else yielding).append(row.score)
    parts = []
    for right in (True, False):
        counts = [sum((s >= _CORRECT) is right for s in part) for part in (standing, yielding)]
        parts.append(f"{counts[0] / sum(counts):.2f}" if any(counts) else "–")
    return [*parts, *(f"{fmean(part):.2f}" if part else "–" for part in (standing, yielding))]


if __name__ == "__main__":
    main()
