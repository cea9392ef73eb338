"""How often the embedded router asks just the right collections.

    python benchmarks/routing.py [--show]

Two sets of sixty questions over four collections lie in ``tests/support/routing``: the router was
written beside the first, and without a look at the questions of the second, of which only the
figures by kind were known when its marks were last set. A question counts where exactly the
collections that it is for are asked. Intervals are Wilson's, 95 %.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from _pipeline import Row, read_rows
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


class Case(NamedTuple):
    """A question, the turns before it, and the collections that it is for."""

    question: str
    history: Sequence[Turn]
    collections: Sequence[str]
    kind: str


def main() -> None:
    """Route every question and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--show", action="store_true", help="print what went wrong of the first")
    options = parser.parse_args()
    figures: dict[str, list[bool]] = {}
    contexts = _opened(_COLLECTIONS)
    for name in ("questions", "blind"):
        cases = [_case(row) for row in read_rows(_HERE / f"{name}.jsonl")]
        figures |= _routed(cases, contexts, name, options.show and name == "questions")
    print("| questions | right | share |\n|---|---|---|")
    for name, right in figures.items():
        print(f"| {name} | {sum(right)} of {len(right)} | {share(sum(right), len(right))} |")


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


if __name__ == "__main__":
    main()
