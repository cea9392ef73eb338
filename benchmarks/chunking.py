"""Recall@5 of the passages an answer may use, by chunker, fusion, and with and without the graph.

    python benchmarks/chunking.py --gold GOLD.jsonl --docs FOLDER [--json OUT] [--markdown OUT]

The gold file has ``question``, ``question_type``, ``reference_context`` and
``conversation_history``. The state machine runs up to and including rerank with k = 5, so that a
conversational question is resolved by its history as it would be for a user. Questions out of
scope have no evidence and are left out. A chunk is relevant to a reference context when half of
the word 3-grams of one occur in the other.

``recall@5`` is the share of the relevant chunks found, of five where there are more; it says little
across chunkers, since small chunks have more to find. ``contexts@5`` is the share of the reference
contexts to which a passage found is relevant. Intervals are bootstrap 95 % over questions.

The reciprocal ranks by document are left out: where there are no more documents than
``fusion_documents`` they are those by chunk.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _ranking import by_context, shown, summary

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.reading.folder import load_documents
from lexloop.evaluation.case import Case, read_cases
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

_CHUNKERS = ("auto", "provisions", "sentence", "semantic", "pattern", "characters")
_FUSIONS: dict[str, dict[str, Any]] = {
    "linear": {"fusion": "linear"},
    "rrf": {"fusion": "rrf"},
    "weighted rrf, BM25 0.3": {"fusion": "rrf", "fusion.lexical_weight": 0.3},
    "linear by document": {"fusion": "linear", "fusion.documents": 3},
}
_GRAPHS = {"graph": "embedded", "no graph": "none"}


def main() -> None:
    """Measure every combination, print the table, and write what is asked for."""
    options = _options()
    gold = [case for case in read_cases(options.gold) if not case.out_of_scope]
    loaded, _ = load_documents(options.docs)
    documents = [document for document in loaded if _is_source(document, options.gold)]
    rows: list[dict[str, Any]] = []
    for chunker in options.chunkers:
        rows += _measure(chunker, documents, gold)
    table = _table(rows, len(gold))
    print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(table + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gold", type=Path, required=True, help="questions with references")
    parser.add_argument("--docs", type=Path, required=True, help="folder of the documents")
    parser.add_argument("--chunkers", nargs="+", choices=_CHUNKERS, default=_CHUNKERS)
    parser.add_argument("--json", type=Path, help="write one record per row here")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    return parser.parse_args()


def _is_source(document: Document, gold: Path) -> bool:
    """The questions may lie beside the documents; they are none."""
    return not document.name.startswith(gold.name)


def _measure(chunker: str, documents: Iterable[Document], gold: list[Case]) -> list[dict[str, Any]]:
    settings = Settings(**{"chunking.method": chunker, "plan.k": 5})
    collection = build_collection(documents, tools_for(settings, load_minilm()))
    chunks = list(collection.seen_by(Filters.of(settings)).every_chunk())
    index = EvidenceIndex(chunks)
    relevant = [index.by_context(case.reference_context or "") for case in gold]
    rows = []
    for fusion, chosen in _FUSIONS.items():
        for graph, knowledge in _GRAPHS.items():
            print(f"{chunker}, {fusion}, {graph}", file=sys.stderr, flush=True)
            tried = Settings(
                **{"chunking.method": chunker, "plan.k": 5, "retrieval.knowledge_graph": knowledge},
                **chosen,
            )
            figures = _figures(tried, collection, gold, relevant)
            where = {"chunker": chunker, "fusion": fusion, "graph": graph == "graph"}
            rows.append({**where, "chunks": len(chunks), **figures})
    return rows


def _figures(
    settings: Settings,
    collection: Collection,
    gold: list[Case],
    relevant: list[list[frozenset[str]]],
) -> dict[str, float]:
    parts = build_context(settings, collection, None)
    graph = build_graph(lambda *_: parts)
    found = [_passages(case, graph) for case in gold]
    return summary([by_context(ids, known) for known, ids in zip(relevant, found, strict=True)])


def _passages(case: Case, graph: Lexloop) -> list[str]:
    """The ids of the passages that rerank chooses; the state machine is left there."""
    for step in graph.stream({"messages": case.messages}, stream_mode="updates"):
        if "rerank" in step:
            return [passage["id"] for passage in step["rerank"]["passages"]]
    raise AssertionError("the state machine ended before rerank")


def _table(rows: list[dict[str, Any]], questions: int) -> str:
    lines = [
        f"{questions} questions",
        "",
        "| chunker | chunks | fusion | graph | recall@5 | contexts@5 |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        graph = "with" if row["graph"] else "without"
        cells = [row["chunker"], row["chunks"], row["fusion"], graph]
        cells += [shown(row, "recall@5"), shown(row, "contexts@5")]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
