"""How much of what is relevant the ten best passages hold: each signal, each fusion, the default.

    python benchmarks/retrieval.py --passages PASSAGES.jsonl --questions QUESTIONS.jsonl
        [--embedder NAME] [--every N]

Passages have ``id`` and ``text``; those without text are left out, and each other one is one
chunk. Questions have ``question`` and ``relevant_ids``; those without any are left out.

``default`` is what the node hybrid_retrieve hands on under the default settings for the question
as it stands: no sub-queries, no graph (one passage is one document and no triplets are made), no
reranking. ``reranked`` are the same candidates after the embedded reranker, as the graph takes
them. ``bm25`` and ``dense`` are each signal alone; ``rrf`` and ``linear`` name
the fusion, with its default weights. Every metric comes with its bootstrap 95 % interval,
``..._low`` to ``..._high``.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from _pipeline import TOP, candidates_for, index_passages, read_rows, reranked
from _ranking import METRICS, measure, shown, summary

from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.models.embedders import load_embedder
from lexloop.store.view import View

_DEFAULT = Settings()
_FUSIONS = {name: Settings(fusion=name) for name in ("rrf", "linear")}


def main() -> None:
    """Put every question to every way of retrieval and print the figures."""
    options = _options()
    embedder = load_embedder(options.embedder, Connection())
    every = [row for row in read_rows(options.passages) if row["text"].strip()]
    questions = [row for row in read_rows(options.questions) if row["relevant_ids"]]
    questions = questions[:: options.every]
    rows: dict[str, list[dict[str, float]]] = {}
    view = index_passages(every, _DEFAULT, embedder, _show).seen_by(Filters.of(_DEFAULT))
    for number, row in enumerate(questions, 1):
        for name, ids in _rankings(row["question"], view):
            rows.setdefault(name, []).append(measure(ids, set(row["relevant_ids"])))
        _show("asking", number, len(questions))
    report = {name: summary(measured) for name, measured in rows.items()}
    print(_table(report, len(questions), len(every)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines: id, text")
    parser.add_argument(
        "--questions", type=Path, required=True, help="JSON Lines: question, relevant_ids"
    )
    parser.add_argument("--embedder", default="embedded", help="also minilm, trained:FOLDER")
    parser.add_argument("--every", type=int, default=1, help="take every Nth question")
    return parser.parse_args()


def _show(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{stage} {done}/{total} ", end="", file=sys.stderr, flush=True)


def _rankings(question: str, view: View) -> Iterator[tuple[str, list[str]]]:
    """By every way of retrieval the ids of its ten best passages."""
    found = candidates_for(question, view, _DEFAULT)
    yield "default", [candidate["document"] for candidate in found[:TOP]]
    for name, search in (("bm25", view.search_lexical), ("dense", view.search_vector)):
        (hits,) = search([question], TOP)
        yield name, [hit.document for hit in hits]
    for name, settings in _FUSIONS.items():
        fused = candidates_for(question, view, settings)
        yield name, [candidate["document"] for candidate in fused[:TOP]]
    yield "reranked", [passage["document"] for passage in reranked(question, found, view)]


def _table(report: dict[str, dict[str, float]], questions: int, passages: int) -> str:
    lines = [
        f"{questions} questions, {passages} passages",
        "",
        f"| | {' | '.join(METRICS)} |",
        "|---|" + "---|" * len(METRICS),
    ]
    for name, figures in report.items():
        cells = [shown(figures, metric) for metric in METRICS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
