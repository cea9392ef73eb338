"""From keywords and chunks to paths of the graph, and from paths to triplets and candidates."""

from collections.abc import Callable, Sequence

from lexloop.core.types import Candidate, Chunk, Triplet
from lexloop.corpus.knowledge.graph import KnowledgeGraph, Path

TRIPLETS = 12
"""How many triplets go on to the generator."""
CANDIDATES = 10
"""How many chunks go on to the reranker."""
_PATHS = 48
_KEYWORD_SEEDS = 20
_CHUNK_SEEDS = 20
_CHUNK_SEED_WEIGHT = 0.2
"""An entity of a retrieved chunk counts for less than one the question names."""


def related(
    graph: KnowledgeGraph, keywords: Sequence[str], chunk_ids: Sequence[str], path_length: int
) -> list[Path]:
    """The best paths from the entities of the keywords and of the chunks.

    Args:
        graph: The graph to walk.
        keywords: The first K of the question's.
        chunk_ids: The best chunks found otherwise, best first.
        path_length: S, the most triplets in one path.
    """
    seeds = dict.fromkeys(graph.entities_of(chunk_ids)[:_CHUNK_SEEDS], _CHUNK_SEED_WEIGHT)
    seeds |= graph.match(keywords, _KEYWORD_SEEDS)
    return graph.walk(seeds, path_length, _PATHS)


def triplets_of(paths: Sequence[Path]) -> list[Triplet]:
    """The triplets on the paths, each relation once, best first; at most ``TRIPLETS``."""
    relations: dict[tuple[str, str, str], Triplet] = {}
    for path in paths:
        for triplet in path.triplets:
            relation = (triplet["subject"], triplet["predicate"], triplet["object"])
            relations.setdefault(relation, triplet)
    return list(relations.values())[:TRIPLETS]


def candidates_of(
    paths: Sequence[Path], chunks: Callable[[Sequence[str]], list[Chunk]]
) -> list[Candidate]:
    """The chunks that state the triplets, scored by their best path; at most ``CANDIDATES``."""
    scores: dict[str, float] = {}
    for path in paths:
        for triplet in path.triplets:
            scores.setdefault(triplet["chunk_id"], path.score)
    best = dict(list(scores.items())[:CANDIDATES])
    return [
        {**chunk, "score": best[chunk["id"]], "signals": {"graph": best[chunk["id"]]}}
        for chunk in chunks(list(best))
    ]
