"""Median time of a knowledge-graph walk over synthetic triplets, hubs included.

Usage: python benchmarks/graph_walk.py [EDGES]
"""

import json
import random
import statistics
import sys
import time

from lexloop.core.types import Triplet
from lexloop.corpus.knowledge.graph import KnowledgeGraph

_ACTORS = 300
_TERMS = 4000
_QUERIES = 200


def synthetic(edges: int, seed: int = 0) -> list[Triplet]:
    """Triplets whose subjects follow a power law, so that a few actors have thousands of duties."""
    draw = random.Random(seed)
    triplets: list[Triplet] = []
    for i in range(edges):
        actor = f"actor {int(_ACTORS * draw.random() ** 3)}"
        words = " ".join(f"term{int(_TERMS * draw.random() ** 2)}" for _ in range(6))
        triplets.append(
            {
                "subject": actor,
                "predicate": "requires",
                "object": words,
                "chunk_id": f"c{i // 3}",
                "document": f"d{i // (edges // 40 + 1)}",
                "section": f"§ {i // 30 % 90}",
                "page": None,
                "start": i,
                "end": i + 1,
                "quote": "x",
            }
        )
    return triplets


def main() -> None:
    """Print flat JSON: build seconds, and medians and 95th percentiles in milliseconds."""
    edges = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    triplets = synthetic(edges)
    began = time.perf_counter()
    graph = KnowledgeGraph.from_triplets(triplets)
    built = time.perf_counter() - began
    began = time.perf_counter()
    graph.match(["term1"], 1)
    indexed = time.perf_counter() - began
    draw = random.Random(1)
    matching: list[float] = []
    walking: list[float] = []
    for _ in range(_QUERIES):
        keywords = [f"actor {draw.randrange(_ACTORS)}"]
        keywords += [f"term{draw.randrange(_TERMS)} term{draw.randrange(40)}" for _ in range(4)]
        began = time.perf_counter()
        seeds = graph.match(keywords, 20)
        matched = time.perf_counter()
        graph.walk(seeds, 3, 48)
        matching.append(1000 * (matched - began))
        walking.append(1000 * (time.perf_counter() - matched))
    report = {
        "edges": edges,
        "build_seconds": round(built, 2),
        "index_seconds": round(indexed, 2),
        "match_ms_median": round(statistics.median(matching), 2),
        "walk_ms_median": round(statistics.median(walking), 2),
        "walk_ms_p95": round(statistics.quantiles(walking, n=20)[-1], 2),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
