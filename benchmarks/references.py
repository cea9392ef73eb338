"""Whether the knowledge graph brings up answers that lie behind a reference.

    python benchmarks/references.py [--law FILE]

Each probe asks for something that a provision leaves to another one: to the sanction for breaking
it, to an exception from it, to the definition of one of its terms, or to a provision that it refers
to. The gold is that other provision, by its label in the tree of the law. The state machine runs
under its default settings, but for retries, with the graph and without it.

``candidates`` is the share of probes whose gold is among what is reranked; ``passages`` that of
those whose gold is among the passages for the answer, and ``cited`` that of those whose answer
cites it. Without the graph there are fewer candidates; ``as many candidates`` gives the search that
many more instead. ``by PageRank`` walks the graph so from the keywords. ``ms`` is the median time
of the step that walks the graph. Intervals are bootstrap 95 % over probes, the gain's over paired
differences to the search without the graph, in the last lines to as many candidates. Without
``--law`` it is ``gdpr/gdpr_en.txt`` of LEXLOOP_DATA's folder.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from _shared import DATA, Row, options, read_rows, shown, table

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk, Citation
from lexloop.documents.document import Document
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_minilm
from lexloop.nodes.kg_retrieve import CANDIDATES
from lexloop.nodes.rerank import merge
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

_WITH, _WITHOUT, _MORE = "with the graph", "without", "as many candidates"
_RANKED = "by PageRank"
_ONCE = {"loop.max_retries": 0}
_DEFAULT = Settings(**_ONCE)
_NO_GRAPH = {**_ONCE, "retrieval.knowledge_graph": "none"}
_ROWS = {
    _WITHOUT: Settings(**_NO_GRAPH),
    _MORE: Settings(
        **_NO_GRAPH, **{"retrieval.candidates": _DEFAULT.retrieval.candidates + CANDIDATES}
    ),
    _RANKED: Settings(**_ONCE, **{"retrieval.walk": "pagerank"}),
    _WITH: _DEFAULT,
}
_FIGURES = ("candidates", "passages", "cited")
Found = dict[str, list[dict[str, float]]]


def main() -> None:
    """Ask every probe under every setting and print the table."""
    parser = options(__doc__)
    law = DATA and DATA / "gdpr" / "gdpr_en.txt"
    parser.add_argument("--law", type=Path, default=law, help="the text of the law")
    given = parser.parse_args()
    if given.law is None or not given.law.exists():
        sys.exit("skipped: give the law with --law, or the folder of the data with LEXLOOP_DATA")
    document = Document(given.law.name, given.law.stem, given.law.read_text("utf-8"))
    probes = read_rows(Path(__file__).with_suffix(".jsonl"))
    if lost := [p["gold"] for p in probes if p["gold"] not in document.tree.labels]:
        sys.exit(f"the law has no {', '.join(lost)}")
    collection = build_collection([document], tools_for(_DEFAULT, load_minilm()))
    found = {
        name: [_asked(probe, document, collection, settings) for probe in probes]
        for name, settings in _ROWS.items()
    }
    print(f"{len(probes)} probes\n")
    head = ["", *(name for figure in _FIGURES for name in (figure, "gain")), "in the pool", "ms"]
    print(table(head, _cells(found, [probe["link"] for probe in probes])))
    for figure in _FIGURES:
        gains = _gains(found[_WITH], found[_MORE], figure)
        print(f"{_WITH}, over {_MORE}: {figure} {shown(gains)}")


def _asked(
    probe: Row, document: Document, collection: Collection, settings: Settings
) -> dict[str, float]:
    """Whether the gold is among the candidates and the passages, and is cited."""
    parts = build_context(settings, collection)
    state: dict[str, Any] = {}
    question, walked, last = {"question": probe["question"]}, 0.0, time.perf_counter()
    for step in build_graph(lambda *_: parts).stream(question, stream_mode="updates"):
        now = time.perf_counter()
        for name, update in step.items():
            state |= update or {}
            walked += (now - last) * (name == "kg_retrieve")
        last = now
    gold = document.tree.units[document.tree.labels[probe["gold"]]]

    def holds(spans: Sequence[Chunk | Citation]) -> float:
        return float(any(one["start"] < gold.end and gold.body < one["end"] for one in spans))

    pool = merge(state["candidates"], state["graph_candidates"])
    return {
        "candidates": holds(collection.seen_by(Filters.of(settings)).candidates(pool)),
        "passages": holds(state["passages"]),
        "cited": holds(state["citations"]),
        "pool": len(pool),
        "ms": walked * 1000,
    }


def _cells(found: Found, links: Sequence[str]) -> list[list[str]]:
    made = []
    for kind in ("all", *dict.fromkeys(links)):
        chosen = [i for i, link in enumerate(links) if kind in ("all", link)]
        before = [found[_WITHOUT][i] for i in chosen]
        for name, every in found.items():
            rows = [every[i] for i in chosen]
            made.append([f"{kind} ({len(chosen)}), {name}"])
            for figure in _FIGURES:
                gain = "" if name == _WITHOUT else shown(_gains(rows, before, figure))
                made[-1] += [shown([row[figure] for row in rows]), gain]
            made[-1].append(f"{sum(row['pool'] for row in rows) / len(rows):.1f}")
            made[-1].append(f"{median(row['ms'] for row in rows):.1f}")
    return made


def _gains(
    after: Sequence[dict[str, float]], before: Sequence[dict[str, float]], figure: str
) -> list[float]:
    return [one[figure] - was[figure] for one, was in zip(after, before, strict=True)]


if __name__ == "__main__":
    main()
