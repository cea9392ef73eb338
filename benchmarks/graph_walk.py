"""How long the knowledge graph takes: built, stored, opened, filtered, matched and walked.

Triplets are synthetic, hubs and references included, and kept in memory.

Usage: python benchmarks/graph_walk.py [--triplets N]
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from triplet_list import TripletList

from lexloop.core.types import Triplet
from lexloop.store.graph import KnowledgeGraph

_ACTORS = 300
_TERMS = 4000
_QUERIES = 200
_OPENINGS = 5
_DOCUMENTS = 40
_SECTION_TRIPLETS = 30
_PATH_LENGTH, _PATHS, _SEEDS = 3, 48, 20
_PREDICATES = ("requires", "requires", "permits", "prohibits", "amount", "defines")


def synthetic(count: int, seed: int = 0) -> list[Triplet]:
    """Triplets whose subjects follow a power law, so that a few actors have thousands of duties."""
    draw = random.Random(seed)
    return [_triplet(i, count, draw) for i in range(count)]


def _triplet(i: int, count: int, draw: random.Random) -> Triplet:
    section = i // _SECTION_TRIPLETS
    words = " ".join(f"term{int(_TERMS * draw.random() ** 2)}" for _ in range(6))
    refers = draw.random() < 0.1
    return {
        "subject": f"actor {int(_ACTORS * draw.random() ** 3)}",
        "predicate": "refers_to" if refers else draw.choice(_PREDICATES),
        "object": f"section {draw.randrange(section + 1)}(a)" if refers else words,
        "chunk_id": f"c{i // 3}",
        "document": f"d{i * _DOCUMENTS // count}",
        "section": f"§ {section}",
        "page": None,
        "start": i,
        "end": i + 1,
        "quote": "x",
    }


def opening_figures(triplets: list[Triplet]) -> tuple[KnowledgeGraph, dict[str, float]]:
    """The graph as opened from disk, and the seconds that it took to get there."""
    source = TripletList(triplets)
    graph, build_s = timed(lambda: KnowledgeGraph.build(source))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, save_s = timed(lambda: graph.save(folder))
        size = sum(path.stat().st_size for path in folder.iterdir())
        loads = [timed(lambda: KnowledgeGraph.load(folder, source)) for _ in range(_OPENINGS)]
        opened = loads[-1][0]
        _, first_s = timed(lambda: opened.match(["term1"], 1))
        _, view_s = timed(lambda: opened.view(lambda document: document != "d3"))
    return opened, {
        "build_s": build_s,
        "save_s": save_s,
        "load_s": statistics.median(seconds for _, seconds in loads),
        "first_match_s": first_s,
        "view_s": view_s,
        "size_mb": size / 1e6,
    }


def query_figures(graph: KnowledgeGraph, seed: int = 1) -> dict[str, float]:
    """Milliseconds of matching five keywords and of walking from what they match."""
    draw = random.Random(seed)
    matching: list[float] = []
    walking: list[float] = []
    for _ in range(_QUERIES):
        keywords = [f"actor {draw.randrange(_ACTORS)}"]
        keywords += [f"term{draw.randrange(_TERMS)} term{draw.randrange(40)}" for _ in range(4)]
        seeds, matched_s = timed(partial(graph.match, keywords, _SEEDS))
        _, walked_s = timed(partial(graph.walk, seeds, _PATH_LENGTH, _PATHS))
        matching.append(1000 * matched_s)
        walking.append(1000 * walked_s)
    return {
        "match_ms_median": statistics.median(matching),
        "match_ms_p95": statistics.quantiles(matching, n=20)[-1],
        "walk_ms_median": statistics.median(walking),
        "walk_ms_p95": statistics.quantiles(walking, n=20)[-1],
    }


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What ``run`` gives and how many seconds it took."""
    began = time.perf_counter()
    result = run()
    return result, time.perf_counter() - began


def main() -> None:
    """Measure, and print flat JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--triplets", type=int, default=100_000, help="how many relations")
    options = parser.parse_args()
    graph, figures = opening_figures(synthetic(options.triplets))
    figures |= query_figures(graph)
    text = json.dumps(
        {
            "triplets": len(graph),
            "entities": len(graph.entities),
            "path_length": _PATH_LENGTH,
            "cores": os.cpu_count(),
        }
        | {name: round(value, 3) for name, value in figures.items()},
        indent=2,
    )
    print(text)


if __name__ == "__main__":
    main()
