"""How much of what is relevant the ten best passages hold: each signal, each fusion, the default.

    python benchmarks/retrieval.py --passages PASSAGES.jsonl --questions QUESTIONS.jsonl

Passages have ``id`` and ``text``; those without text are left out, and each other one is one
chunk. Questions have ``question`` and ``relevant_ids``; those without any are left out.

``default`` is what the node hybrid_retrieve hands on under the default settings for the question
as it stands: no sub-queries, no graph (one passage is one document and no triplets are made), no
reranking. ``reranked`` are the same candidates after the embedded reranker, as the graph takes
them. ``bm25`` and ``dense`` are each signal alone; ``rrf`` and ``linear`` name the fusion, with its
default weights. Every metric comes with its bootstrap 95 % interval.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from _pipeline import TOP, candidates_for, index_passages, reranked
from _shared import options, read_rows, shown, table

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.minilm import load_shipped
from lexloop.store.view import View
from lexloop_eval.metrics.retrieval import of_ranking
from lexloop_eval.score import Score

_DEFAULT = Settings()
_FUSIONS = {name: Settings(fusion=name) for name in ("rrf", "linear")}
_METRICS = ("recall@10", "map@10", "mrr@10", "ndcg@10", "hit@1", "hit@5")


def main() -> None:
    """Put every question to every way of retrieval and print the figures."""
    parser = options(__doc__)
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines: id, text")
    parser.add_argument("--questions", type=Path, required=True, help="question, relevant_ids")
    given = parser.parse_args()
    every = [row for row in read_rows(given.passages) if row["text"].strip()]
    questions = [row for row in read_rows(given.questions) if row["relevant_ids"]]
    view = index_passages(every, _DEFAULT, load_shipped()).seen_by(Filters.of(_DEFAULT))
    scores: dict[str, list[list[Score]]] = defaultdict(list)
    for row in questions:
        relevant = dict.fromkeys(row["relevant_ids"], 1)
        for name, ids in _rankings(row["question"], view):
            at = {k: of_ranking(ids, relevant, k) for k in (1, 5, 10)}
            named = (metric.split("@") for metric in _METRICS)
            scores[name].append([at[int(k)][name] for name, k in named])
    print(f"{len(questions)} questions, {len(every)} passages\n")
    rows = ([name, *map(shown, zip(*found, strict=True))] for name, found in scores.items())
    print(table(["", *_METRICS], rows))


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


if __name__ == "__main__":
    main()
