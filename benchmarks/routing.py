"""How often the embedded router asks just the right collections.

    python benchmarks/routing.py [--show]
    python benchmarks/routing.py --data FOLDER

Two sets of sixty questions over four collections lie in ``tests/support/routing``: the router was
written beside the first, and without a look at the questions of the second, of which only the
figures by kind were known when its marks were last set. With ``--data`` it is also tried on
collections made of published data, for which its two marks were set: questions as they are,
two of one collection or of two put together, and questions about anything but laws. A question
counts where exactly the collections that it is for are asked. Intervals are Wilson's, 95 %.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _pipeline import Row, read_rows
from _routing_data import QUADRUPLES, Asked, foreign_questions, joined, write_collections
from refusals import share

from lexloop.core.settings import Settings
from lexloop.core.types import Turn
from lexloop.graph.collections import route
from lexloop.graph.resources import Resources
from lexloop.nodes.context import Context

_HERE = Path(__file__).parents[1] / "tests" / "support" / "routing"
_COLLECTIONS = {
    "hiring": "sample",
    **{name: str(_HERE / name) for name in ("tenancy", "privacy", "workplace")},
}
_SEED, _EACH = 7, 10


class Case(NamedTuple):
    """A question, the turns before it, and the collections that it is for."""

    question: str
    history: Sequence[Turn]
    collections: Sequence[str]
    kind: str


def main() -> None:
    """Route every question and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of the published data sets")
    parser.add_argument("--show", action="store_true", help="print what went wrong of the first")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    figures: dict[str, list[bool]] = {}
    contexts = _opened(_COLLECTIONS)
    for name in ("questions", "blind"):
        cases = [_case(row) for row in read_rows(_HERE / f"{name}.jsonl")]
        figures |= _routed(cases, contexts, name, options.show and name == "questions")
    if options.data is not None:
        figures |= _of_others(options.data)
    print("| questions | right | share |\n|---|---|---|")
    for name, right in figures.items():
        print(f"| {name} | {sum(right)} of {len(right)} | {share(sum(right), len(right))} |")
    if options.json is not None:
        options.json.write_text(json.dumps(figures), encoding="utf-8")


def _opened(collections: dict[str, str]) -> dict[str, Context]:
    resources = Resources()
    return {name: resources(Settings(corpus=corpus)) for name, corpus in collections.items()}


def _case(row: Row) -> Case:
    return Case(row["question"], row.get("history", []), row["collections"], row["kind"])


def _routed(
    cases: Sequence[Case], contexts: dict[str, Context], name: str, show: bool = False
) -> dict[str, list[bool]]:
    """Return whether each question went where it belongs: all, and by kind."""
    found: dict[str, list[bool]] = {name: []}
    began = time.perf_counter()
    for case in cases:
        asked = set(route(case.question, case.history, contexts).ways)
        right = asked == set(case.collections)
        found[name].append(right)
        kind = "one" if len(case.collections) == 1 else "several" if case.collections else "none"
        found.setdefault(f"{name}: {kind}", []).append(right)
        if show and not right:
            print(f"{sorted(case.collections)} but {sorted(asked)}: {case.question}")
    spent_ms = 1000 * (time.perf_counter() - began) / len(cases)
    print(f"{name}: {spent_ms:.0f} ms a question")
    return found


def _of_others(data: Path) -> dict[str, list[bool]]:
    """Return the figures of collections that the router was not written for."""
    found: dict[str, list[bool]] = {}
    draw = random.Random(_SEED)
    with tempfile.TemporaryDirectory() as folder:
        asked = write_collections(data, Path(folder))
        foreign = foreign_questions(data)
        for four in QUADRUPLES:
            contexts = _opened({name: str(Path(folder) / name) for name in four})
            for kind, cases in _mixed(draw, four, asked, foreign).items():
                routed = _routed(cases, contexts, f"others: {kind}")
                found.setdefault(f"others: {kind}", []).extend(routed[f"others: {kind}"])
    return found


def _mixed(
    draw: random.Random, four: Sequence[str], asked: dict[str, list[Asked]], foreign: list[Asked]
) -> dict[str, list[Case]]:
    pairs = [draw.sample(four, 2) for _ in range(_EACH)]
    ones = [(name, draw.choice(asked[name])) for name in four for _ in range(_EACH // 2)]
    return {
        "one": [Case(q, _turns(before), [name], "one") for name, (q, before) in ones],
        "two of one": [Case(joined(draw, asked[a], asked[a]), [], [a], "one") for a, _ in pairs],
        "two": [Case(joined(draw, asked[a], asked[b]), [], [a, b], "two") for a, b in pairs],
        "none": [Case(q, [], [], "none") for q, _ in draw.sample(foreign, _EACH)],
    }


def _turns(before: Sequence[Any]) -> list[Turn]:
    return [{"role": "user", "content": t} if isinstance(t, str) else t for t in before]


if __name__ == "__main__":
    main()
