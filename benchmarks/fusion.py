"""Which fusion finds most: BM25, vectors, reciprocal ranks, and linear with several boosts.

    python benchmarks/fusion.py --passages PASSAGES.jsonl --questions QUESTIONS.jsonl [--every 5]

Passages have ``id`` and ``text``; questions have ``question`` and ``relevant_ids``. One passage is
one chunk. Prints recall@10 and MAP@10 with bootstrap 95 % intervals; nothing is trained.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _answers_report import interval

from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.load.document import Document
from lexloop.corpus.opening import index_chunks
from lexloop.models.minilm import load_minilm
from lexloop.nodes.hybrid_retrieve.fusion import Ranking, linear, reciprocal_rank

DEPTH, TOP = 120, 10
BOOSTS = (0.2, 0.3, 0.4, 0.5, 0.7)
Fused = dict[str, float]


def main() -> None:
    """Search every question once and fuse the two lists in every way."""
    options = _options()
    passages = [row for row in _read(options.passages) if row["text"].strip()]
    questions = _read(options.questions)[:: options.every]
    collection = _collection(passages)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in _fusions()}
    for row in questions:
        (lexical,) = collection.search_lexical([row["question"]], DEPTH)
        (vector,) = collection.search_vector([row["question"]], DEPTH)
        relevant = set(row["relevant_ids"])
        for name, fuse in _fusions().items():
            fused = fuse(lexical, vector)
            top = sorted(fused, key=lambda i: (-fused[i], i))[:TOP]
            found[name].append(_scores(top, relevant))
    summary = {name: _summary(scores) for name, scores in found.items()}
    print(f"{len(questions)} questions, {len(passages)} passages")
    for name, figures in summary.items():
        cells = "   ".join(
            f"{metric} {figures[metric]:.3f} "
            f"[{figures[f'{metric}_low']:.3f}, {figures[f'{metric}_high']:.3f}]"
            for metric in ("recall@10", "map@10")
        )
        print(f"{name:14} {cells}")
    if options.json:
        options.json.write_text(json.dumps(summary, indent=2), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take every Nth question")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


def _read(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def _collection(passages: list[dict[str, Any]]) -> Collection:
    documents = [Document(row["id"], "", row["text"]) for row in passages]
    chunks: list[Chunk] = [
        {
            "id": row["id"],
            "document": row["id"],
            "title": "",
            "section": "",
            "page": None,
            "start": 0,
            "end": len(row["text"]),
            "text": row["text"],
        }
        for row in passages
    ]
    return index_chunks(documents, chunks, [], load_minilm())


def _fusions() -> dict[str, Callable[[Ranking, Ranking], Fused]]:
    constant = Settings().rrf_k
    fusions: dict[str, Callable[[Ranking, Ranking], Fused]] = {
        "bm25": lambda lexical, _: {chunk["id"]: score for chunk, score in lexical},
        "dense": lambda _, vector: {chunk["id"]: score for chunk, score in vector},
        "rrf": lambda lexical, vector: reciprocal_rank([lexical, vector], constant),
    }
    for boost in BOOSTS:
        fusions[f"linear {boost}"] = lambda lexical, vector, b=boost: linear(lexical, vector, b)
    return fusions


def _scores(top: list[str], relevant: set[str]) -> tuple[float, float]:
    """Recall@10 and average precision@10 of one question."""
    hits = [passage in relevant for passage in top]
    precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit]
    return sum(hits) / len(relevant), sum(precisions) / min(TOP, len(relevant))


def _summary(scores: list[tuple[float, float]]) -> dict[str, float]:
    summary: dict[str, float] = {}
    for metric, values in zip(("recall@10", "map@10"), zip(*scores, strict=True), strict=True):
        summary[metric] = float(np.mean(values))
        summary[f"{metric}_low"], summary[f"{metric}_high"] = interval(list(values))
    return summary


if __name__ == "__main__":
    main()
