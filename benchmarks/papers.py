"""The rows of the papers' tables that can run here, beside what was published.

    python benchmarks/papers.py [--data DATA] [--every N] [--tables TEXT] [--out FOLDER]

Keyless: rows that need a model or a trained part are named with the reason. With DATA (default:
``LEXLOOP_DATA``) the questions are those on Local Law 144 that HyPA-RAG published; without it those
that ship, which are others on the same law. Every N-th question is asked (default 20: some three
minutes on two cores; 1 asks all). Tables whose name has TEXT are run alone. The published figures
are of the questions that the heading names, and so of others than ours for all but HyPA-RAG.
docs/papers.md has every line of the papers, these rows included.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from _shared import DATA, options, table

from lexloop.core.files import write_text
from lexloop.core.settings import Connection, Settings
from lexloop_eval.report.tables import label
from lexloop_eval.run.prepare import RunRequest, prepare
from lexloop_eval.run.published import published
from lexloop_eval.run.runner import run, workers_for

Tables = Mapping[str, Any]


def main() -> None:
    """Run the rows and print each table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--every", type=int, default=20, help="ask every N-th question")
    parser.add_argument("--tables", default="", help="only tables whose name has this text")
    parser.add_argument("--out", type=Path, help="the run's folder, to go on with a run")
    given = parser.parse_args()
    known = json.loads((files("lexloop.data") / "published.json").read_text("utf-8"))["tables"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        gold, corpus = _questions(place, given.data, given.every)
        base = Settings(corpus=corpus)
        variants = [one for one in published(base) if given.tables in one.source]
        request = RunRequest(gold, base, variants, out=given.out or place / "run")
        prepared = prepare(request, Connection())
        summary = run(prepared, workers_for(base))
    print(f"{summary['questions']} questions of {'LL144' if given.data else 'the sample'}.")
    for name in dict.fromkeys(variant.source for variant in variants):
        asked = known[name]["asked"].replace("ll144", "269 questions on Local Law 144")
        print(f"\n{name}: the paper asked {asked}\n")
        print(shown(name, known[name], summary))


def _questions(place: Path, data: Path | None, every: int) -> tuple[Path, str]:
    """Write every N-th question, and return its file with the documents."""
    source = data / "ll144" / "gold_dev.jsonl" if data else files("lexloop.data") / "gold.jsonl"
    lines = source.read_text(encoding="utf-8").splitlines()
    gold = place / "gold.jsonl"
    write_text(gold, "\n".join(lines[::every]) + "\n")
    if data is None:
        return gold, "sample"
    texts = place / "texts"
    texts.mkdir()
    for path in (data / "ll144").glob("*.txt"):
        shutil.copy(path, texts)
    return gold, str(texts)


def shown(name: str, there: Tables, summary: Tables) -> str:
    """Return a table: each row's figures, ours before the published one, and what differs.

    Args:
        name: The table.
        there: What is published of it.
        summary: The summary of a run.
    """
    metrics = [*there["metrics"]]
    head = ["row", *(part for m in metrics for part in (label(m), "published")), "what differs"]
    return table(head, _lines(name, there["rows"], metrics, summary))


def _lines(
    name: str, theirs: Tables, metrics: list[str], summary: Tables
) -> Iterator[list[object]]:
    for row in summary["variants"]:
        if row["source"] == name:
            figures = [
                cell
                for metric in metrics
                for cell in (
                    _figure(row["metrics"].get(metric)),
                    theirs.get(row["name"], {}).get(metric, "–"),
                )
            ]
            yield [row["name"], *figures, "; ".join(row.get("differs", []))]
    for row in summary["skipped"]:
        if row.get("source") == name:
            published = [theirs.get(row["variant"], {}).get(metric, "–") for metric in metrics]
            figures = [cell for figure in published for cell in ("–", figure)]
            yield [row["variant"], *figures, f"not run: {row['reason']}"]


def _figure(estimate: Tables | None) -> str:
    if not estimate or estimate["mean"] is None:
        return "–"
    return f"{estimate['mean']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"


if __name__ == "__main__":
    main()
