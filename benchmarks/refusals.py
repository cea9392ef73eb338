"""How often questions that no documents answer are refused, on any corpus.

    python benchmarks/refusals.py [--corpus PATH ...] [--negative FILE ...] [--show]

The embedded state machine is asked under its default settings. A line of a file is a query and its
kind; without ``--negative`` they are data/negative.jsonl and data/refusal/kept_back.jsonl, which
no weight was fitted on, though choices were made by its figures. Then each question of
data/refusal/named.jsonl, which names crimes or sex, is
asked beside the same question without these words; ``--topic`` chooses those that the documents
are about. Intervals are Wilson's, 95 %.
"""

import argparse
import math
from pathlib import Path

from _pipeline import read_rows

from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

_DATA = Path(__file__).parents[1] / "data"
_Z = 1.96


def main() -> None:
    """Ask everything of every corpus and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--corpus", nargs="+", default=[Settings().corpus])
    own = [_DATA / "negative.jsonl", _DATA / "refusal" / "kept_back.jsonl"]
    parser.add_argument("--negative", type=Path, nargs="+", default=own)
    parser.add_argument("--named", type=Path, default=_DATA / "refusal" / "named.jsonl")
    parser.add_argument("--topic", help="data protection, children's services or hiring tools")
    parser.add_argument("--show", action="store_true", help="print what was answered")
    options = parser.parse_args()
    named = [r for r in read_rows(options.named) if options.topic in (None, r["topic"])]
    print("| corpus | kind | refused | share |\n|---|---|---|---|")
    for corpus in options.corpus:
        graph = build_graph(Resources(defaults=Settings(corpus=corpus)))
        asked: dict[str, list[str]] = {}
        for file in options.negative:
            for row in read_rows(file):
                for of in (f"{file.name}: all", f"{file.name}: {row['kind']}"):
                    asked.setdefault(of, []).append(row["query"])
        asked["names crimes or sex"] = [row["query"] for row in named]
        asked["without these words"] = [row["plain"] for row in named]
        for kind, queries in asked.items():
            answered = [query for query in queries if not _refused(graph, query)]
            count = len(queries) - len(answered)
            print(
                f"| {corpus} | {kind} | {count} of {len(queries)} | {share(count, len(queries))} |"
            )
            if options.show and kind.endswith(": all"):
                for query in answered:
                    print(f"  answered: {query}")


def _refused(graph: Lexloop, query: str) -> bool:
    return bool(graph.invoke({"question": query})["abstained"])


def share(count: int, n: int) -> str:
    """A share with Wilson's interval; a dash for none asked."""
    if not n:
        return "-"
    told, spread = count / n, _Z * _Z / n
    middle = (told + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(told * (1 - told) / n + spread / (4 * n))
    return f"{told:.3f} [{middle - half:.3f}, {middle + half:.3f}]"


if __name__ == "__main__":
    main()
