"""What the authority of a source changes: the law before a guide to it, and nothing else.

    python benchmarks/authority.py [--weights 0,0.05,...] [--gold]

``authority.toml`` beside this script has a statute and a guide to it, both our own. What both say
is to be quoted from the statute first, though the guide speaks as people ask; what the guide alone
says is to be quoted from it. They count as hosts in the same way, whose boost also ranks the
candidates (Sultania et al. equation 1). With --gold the questions of ``data/gold.jsonl`` are asked
of the sample with the kinds of its sources, to see what authority costs: how many answers cite some
of their evidence.
"""

import csv
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from _shared import ROOT, options, read_rows, table

from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

TEXTS = Path(__file__).with_suffix(".toml")
SAMPLE = ROOT / "data" / "ll144"
KINDS = {"law.txt": "statute", "rule.txt": "rule", "history.txt": "guidance"}
HOSTS = {"law.example": 1.0, "gardens.example": 0.0}
WEIGHTS = "0,0.05,0.1,0.2,0.3,0.5,1"


def ways(weights: list[float]) -> dict[str, dict[str, Any]]:
    """Return the settings to compare, by the names of their rows."""
    by_kind = {f"authority {w:g}": {"retrieval.authority": w} for w in weights}
    linear = {"fusion": "linear", "retrieval.authority": 0.0, "retrieval.host_scores": HOSTS}
    return by_kind | {
        f"linear, host boost {w:g}": {**linear, "fusion.host_boost": w} for w in weights
    }


def first_of_each(graph: Lexloop, settings: Settings, questions: list[str]) -> Iterator[str]:
    """Yield the document of each answer's first citation, "" if there is none."""
    for question in questions:
        found = graph.invoke({"question": question}, context=settings)
        yield found["citations"][0]["document"] if found["citations"] else ""


def cites_evidence(found: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether an answer cites some of a question's evidence."""
    return any(
        c["document"] == e["document"] and c["start"] < e["end"] and e["start"] < c["end"]
        for c in found["citations"]
        for e in row["evidence"]
    )


def evidenced(graph: Lexloop, settings: Settings, rows: list[dict[str, Any]]) -> int:
    """Return the number of gold questions whose answers cite some of their evidence."""
    asked = ([*row.get("conversation_history", ()), _turn(row["question"])] for row in rows)
    found = (graph.invoke({"messages": turns}, context=settings) for turns in asked)
    return sum(map(cites_evidence, found, rows))


def _turn(question: str) -> dict[str, str]:
    return {"role": "user", "content": question}


def write(folder: Path, listed: Mapping[str, str]) -> tuple[Path, Path]:
    """Write the two collections, and return their folders."""
    own, sample = folder / "own", folder / "sample"
    own.mkdir()
    sample.mkdir()
    for name, text in listed.items():
        (own / name).write_text(text.lstrip(), "utf-8")
    for name in KINDS:
        (sample / name).write_bytes((SAMPLE / name).read_bytes())
    with (sample / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("file", "kind"), *KINDS.items()])
    return own, sample


def main() -> None:
    """Ask, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--weights", default=WEIGHTS, help="Weights with commas between them.")
    parser.add_argument("--gold", action="store_true", help="Ask the sample's questions, too.")
    given = parser.parse_args()
    weights = [float(weight) for weight in given.weights.split(",")]
    listed = tomllib.loads(TEXTS.read_text("utf-8"))
    both, alone = listed["asked"]["both"], listed["asked"]["guide_alone"]
    rows = read_rows(ROOT / "data" / "gold.jsonl") if given.gold else []
    gold = [row for row in rows if row["evidence"]]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        own, sample = write(Path(folder), listed["documents"])
        resources = Resources()
        graph = build_graph(resources)
        for name, changes in ways(weights).items():
            settings = Settings(corpus=str(own), **changes)
            law = [*first_of_each(graph, settings, both)].count("statute.md")
            guide = [*first_of_each(graph, settings, alone)].count("guide.md")
            of_sample = settings.changed(corpus=str(sample))
            by_kind = gold if "fusion" not in changes else []  # the sample has no hosts
            cited = f"{evidenced(graph, of_sample, by_kind)} of {len(gold)}" if by_kind else ""
            law_first, guide_first = f"{law} of {len(both)}", f"{guide} of {len(alone)}"
            lines.append([name, law_first, guide_first, cited])
        resources.close()
    head = ["settings", "statute first, of both", "guide first, of its own", "evidence cited"]
    print(table(head, lines))


if __name__ == "__main__":
    main()
