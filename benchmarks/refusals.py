"""How often questions that no documents answer are refused, on any corpus.

    python benchmarks/refusals.py [--corpus PATH ...] [--negative FILE ...] [--show]

The embedded state machine is asked under its default settings. A line of a file is a query and its
kind; without ``--negative`` they are data/negative.jsonl and data/refusal/kept_back.jsonl, which
no weight was fitted on, though choices were made by its figures. Then each question of
data/refusal/named.jsonl, which names crimes or sex, is asked beside the same question without these
words. Intervals are Wilson's, 95 %.
"""

import math
from pathlib import Path

from _shared import ROOT, options, read_rows, table

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

_NEGATIVE = [ROOT / "data" / name for name in ("negative.jsonl", "refusal/kept_back.jsonl")]
_Z = 1.96


def main() -> None:
    """Ask everything of every corpus and print the table."""
    parser = options(__doc__)
    parser.add_argument("--corpus", nargs="+", default=[Settings().corpus])
    parser.add_argument("--negative", type=Path, nargs="+", default=_NEGATIVE)
    parser.add_argument("--show", action="store_true", help="print what was answered")
    given = parser.parse_args()
    asked: dict[str, list[str]] = {}
    for file in given.negative:
        for row in read_rows(file):
            for kind in ("all", row["kind"]):
                asked.setdefault(f"{file.name}: {kind}", []).append(row["query"])
    named = read_rows(ROOT / "data" / "refusal" / "named.jsonl")
    asked["names crimes or sex"] = [row["query"] for row in named]
    asked["without these words"] = [row["plain"] for row in named]
    rows, answered = [], []
    for corpus in given.corpus:
        graph = build_graph(Resources(defaults=Settings(corpus=corpus)))
        for kind, queries in asked.items():
            left = [
                query for query in queries if not graph.invoke({"question": query})["abstained"]
            ]
            count, of = len(queries) - len(left), len(queries)
            rows.append([corpus, kind, f"{count} of {of}", _share(count, of)])
            answered += left if kind.endswith(": all") else []
    print(table(["corpus", "kind", "refused", "share"], rows))
    for query in answered if given.show else ():
        print(f"  answered: {query}")


def _share(count: int, n: int) -> str:
    """A share with Wilson's interval; a dash for none asked."""
    if not n:
        return "-"
    told, spread = count / n, _Z * _Z / n
    middle = (told + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(told * (1 - told) / n + spread / (4 * n))
    return f"{told:.3f} [{middle - half:.3f}, {middle + half:.3f}]"


if __name__ == "__main__":
    main()
