"""How often questions that no documents answer are refused, on any corpus.

    python benchmarks/refusals.py [--corpus PATH ...]

The embedded state machine is asked under its default settings, of each kind of query in
data/negative.jsonl and in data/refusal/kept_back.jsonl, which no weight was fitted on, though
choices were made by its figures. Then each question of
data/refusal/named.jsonl, which names crimes or sex, is asked beside the same question without these
words. Intervals are Wilson's, 95 %.
"""

from _shared import ROOT, options, read_rows, table
from scipy.stats import binomtest

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

_NEGATIVE = [ROOT / "data" / name for name in ("negative.jsonl", "refusal/kept_back.jsonl")]


def main() -> None:
    """Ask everything of every corpus and print the table."""
    parser = options(__doc__)
    parser.add_argument("--corpus", nargs="+", default=[Settings().corpus])
    given = parser.parse_args()
    rows = []
    for corpus in given.corpus:
        for kind, (count, of) in refused(corpus).items():
            low, high = binomtest(count, of).proportion_ci(method="wilson")
            share = f"{count / of:.3f} [{low:.3f}, {high:.3f}]"
            rows.append([corpus, kind, f"{count} of {of}", share])
    print(table(["corpus", "kind", "refused", "share"], rows))


def refused(corpus: str) -> dict[str, tuple[int, int]]:
    """How many queries of each kind are refused, and of how many."""
    asked: dict[str, list[str]] = {}
    for file in _NEGATIVE:
        for row in read_rows(file):
            for kind in ("all", row["kind"]):
                asked.setdefault(f"{file.name}: {kind}", []).append(row["query"])
    named = read_rows(ROOT / "data" / "refusal" / "named.jsonl")
    asked["names crimes or sex"] = [row["query"] for row in named]
    asked["without these words"] = [row["plain"] for row in named]
    graph = build_graph(Resources(defaults=Settings(corpus=corpus)))
    return {
        kind: (sum(bool(graph.invoke({"question": q})["abstained"]) for q in queries), len(queries))
        for kind, queries in asked.items()
    }


if __name__ == "__main__":
    main()
