"""How much of what is relevant the ten best passages hold: each signal, each fusion, the default.

    python benchmarks/retrieval.py --passages PASSAGES.jsonl --questions QUESTIONS.jsonl
        [--embedder NAME] [--known INDEX] [--unseen PAIRS.jsonl] [--within] [--every N] [--json OUT]

Passages have ``id`` and ``text``; those without text are left out, and each other one is one
chunk. Questions have ``question`` and ``relevant_ids``; those without any are left out, and with
``--unseen`` those with a passage in a document that one of the pairs lies in, so that an embedder
trained on these is asked about others. Both ask for ``document_id`` of a passage, as ``--within``
does, which searches only the document that answers. ``--known`` names an index by the same
embedder: what it has vectors of is not embedded again.

``default`` is what the node hybrid_retrieve hands on under the default settings for the question
as it stands: no sub-queries, no graph (one passage is one document and no triplets are made), no
reranking. ``reranked`` are the same candidates after the embedded reranker, as the graph takes
them. ``bm25`` and ``dense`` are each signal alone; ``rrf`` and ``linear`` name
the fusion, with its default weights. Every metric comes with its bootstrap 95 % interval,
``..._low`` to ``..._high``. The figures go to standard output as JSON, a table of them to standard
error.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from _pipeline import TOP, Row, candidates_for, index_passages, read_rows, reranked
from _ranking import METRICS, measure, shown, summary

from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.finetune.pairs import read_pairs
from lexloop.models.embedders import load_embedder
from lexloop.store.folder.store import open_folder
from lexloop.store.preparing import KnownVectors
from lexloop.store.view import View

_DEFAULT = Settings()
_FUSIONS = {name: Settings(fusion=name) for name in ("rrf", "linear")}


def main() -> None:
    """Put every question to every way of retrieval, print the figures, write them where asked."""
    options = _options()
    embedder = load_embedder(options.embedder, Connection())
    every = [row for row in read_rows(options.passages) if row["text"].strip()]
    owners = {row["id"]: str(row.get("document_id", "")) for row in every}
    questions = _asked(options, owners)
    known = KnownVectors.of(open_folder(options.known, embedder)) if options.known else None
    rows: dict[str, list[dict[str, float]]] = {}
    for passages, asked in _groups(every, questions, owners, options.within):
        collection = index_passages(passages, _DEFAULT, embedder, _show, known)
        view = collection.seen_by(Filters.of(_DEFAULT))
        for number, row in enumerate(asked, 1):
            for name, ids in _rankings(row["question"], view):
                rows.setdefault(name, []).append(measure(ids, set(row["relevant_ids"])))
            _show("asking", number, len(asked))
    report = {name: summary(measured) for name, measured in rows.items()}
    print(_table(report, len(questions), len(every)), file=sys.stderr)
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines: id, text")
    parser.add_argument(
        "--questions", type=Path, required=True, help="JSON Lines: question, relevant_ids"
    )
    parser.add_argument("--embedder", default="embedded", help="also minilm, trained:FOLDER")
    parser.add_argument(
        "--unseen", type=Path, action="append", default=[], metavar="PAIRS", help="trained on"
    )
    parser.add_argument("--known", type=Path, metavar="INDEX", help="whose vectors serve again")
    parser.add_argument("--within", action="store_true", help="search each document by itself")
    parser.add_argument("--every", type=int, default=1, help="take every Nth question")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


def _asked(options: argparse.Namespace, owners: Mapping[str, str]) -> list[Row]:
    """The questions that something answers, of documents that were not trained on."""
    trained = {pair.document for path in options.unseen for pair in read_pairs(path)}
    questions = [row for row in read_rows(options.questions) if row["relevant_ids"]]
    unseen = [
        row
        for row in questions
        if trained.isdisjoint(owners[name] for name in row["relevant_ids"] if name in owners)
    ]
    return unseen[:: options.every]


def _groups(
    passages: Sequence[Row], questions: Sequence[Row], owners: Mapping[str, str], within: bool
) -> Iterator[tuple[list[Row], list[Row]]]:
    """What is searched at once, and the questions that it is searched for."""
    if not within:
        yield list(passages), list(questions)
        return
    asked: dict[str, list[Row]] = defaultdict(list)
    for row in questions:
        for owner in {owners[name] for name in row["relevant_ids"] if name in owners}:
            asked[owner].append(row)
    for name, rows in asked.items():
        yield [row for row in passages if owners[row["id"]] == name], rows


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
