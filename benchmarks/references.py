"""Whether the knowledge graph brings up answers that lie behind a reference.

    python benchmarks/references.py [--law FILE] [--probes FILE]

Each probe asks for something that a provision leaves to another one: to the sanction for breaking
it, to an exception from it, to the definition of one of its terms, or to a provision that it refers
to. The gold is that other provision, by its label in the tree of the law. The state machine runs
under its default settings up to and including rerank, with the graph and without it.

``candidates`` is the share of probes whose gold is among what is reranked; ``passages`` that of
those whose gold is among the k passages for the answer. Without the graph there are fewer
candidates; ``as many candidates`` gives the search that many more instead. Intervals are bootstrap
95 % over probes, the gain's over paired differences to the search without the graph, in the last
line to as many candidates. The law is not part of the project: without ``--law`` it is
``gdpr/gdpr_en.txt`` in the folder that LEXLOOP_DATA names.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _pipeline import read_rows

from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.statistics import estimate
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_minilm
from lexloop.nodes.kg_retrieve import CANDIDATES
from lexloop.nodes.rerank import merge
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

_PROBES = Path(__file__).with_suffix(".jsonl")
_WITH, _WITHOUT, _MORE = "with the graph", "without", "as many candidates"
_DEFAULT = Settings()
_ROWS = {
    _WITHOUT: Settings(**{"retrieval.knowledge_graph": "none"}),
    _MORE: Settings(
        **{
            "retrieval.knowledge_graph": "none",
            "retrieval.candidates": _DEFAULT.retrieval.candidates + CANDIDATES,
        }
    ),
    _WITH: _DEFAULT,
}
_STEPS = ("hybrid_retrieve", "kg_retrieve", "rerank")


def main() -> None:
    """Ask every probe under every setting and print the table."""
    options = _options()
    if options.law is None or not options.law.exists():
        sys.exit("skipped: give the law with --law, or the folder of the data with LEXLOOP_DATA")
    document = Document(options.law.name, options.law.stem, options.law.read_text("utf-8"))
    probes = read_rows(options.probes)
    if lost := [p["gold"] for p in probes if p["gold"] not in document.tree.labels]:
        sys.exit(f"the law has no {', '.join(lost)}")
    collection = build_collection([document], tools_for(_DEFAULT, load_minilm()))
    found = {
        name: [_asked(probe, document, collection, settings) for probe in probes]
        for name, settings in _ROWS.items()
    }
    print(_table(found, [probe["link"] for probe in probes]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    data = os.environ.get("LEXLOOP_DATA")
    law = Path(data) / "gdpr" / "gdpr_en.txt" if data else None
    parser.add_argument("--law", type=Path, default=law, help="the text of the law")
    parser.add_argument("--probes", type=Path, default=_PROBES, help="question, gold, link")
    return parser.parse_args()


def _asked(
    probe: dict[str, Any], document: Document, collection: Collection, settings: Settings
) -> dict[str, float]:
    """Whether the gold is among the candidates and among the passages."""
    parts = build_context(settings, collection, None)
    state: dict[str, Any] = {}
    question = {"question": probe["question"]}
    for step in build_graph(lambda *_: parts).stream(question, stream_mode="updates"):
        for name in filter(step.__contains__, _STEPS):
            state |= step[name]
        if "passages" in state:
            break
    gold = document.tree.units[document.tree.labels[probe["gold"]]]

    def holds(chunks: Sequence[Chunk]) -> float:
        return float(any(c["start"] < gold.end and gold.body < c["end"] for c in chunks))

    pool = merge(state["candidates"], state["graph_candidates"])
    return {"candidates": holds(pool), "passages": holds(state["passages"]), "pool": len(pool)}


def _table(found: dict[str, list[dict[str, float]]], links: Sequence[str]) -> str:
    lines = [
        f"{len(links)} probes",
        "",
        "| | candidates | gain | passages | gain | in the pool |",
        "|---|---|---|---|---|---|",
    ]
    kinds = ["", *dict.fromkeys(links)]
    for kind in kinds:
        chosen = [i for i, link in enumerate(links) if kind in ("", link)]
        for name, rows in found.items():
            cells = [f"{kind or 'all'} ({len(chosen)}), {name}"]
            for figure in ("candidates", "passages"):
                values = [rows[i][figure] for i in chosen]
                before = [found[_WITHOUT][i][figure] for i in chosen]
                cells.append(_shown(values))
                gains = [after - was for after, was in zip(values, before, strict=True)]
                cells.append("" if name == _WITHOUT else _shown(gains))
            cells.append(f"{sum(rows[i]['pool'] for i in chosen) / len(chosen):.1f}")
            lines.append(f"| {' | '.join(cells)} |")
    for figure in ("candidates", "passages"):
        pairs = zip(found[_WITH], found[_MORE], strict=True)
        gains = [after[figure] - was[figure] for after, was in pairs]
        lines.append(f"{_WITH}, over {_MORE}: {figure} {_shown(gains)}")
    return "\n".join(lines)


def _shown(values: Sequence[float]) -> str:
    made = estimate(values)
    if isinstance(made, Unresolved):
        return "-"
    return f"{made.mean:.3f} [{made.low:.3f}, {made.high:.3f}]"


if __name__ == "__main__":
    main()
