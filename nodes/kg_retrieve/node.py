"""kg_retrieve: triplets near the question's keywords, and the passages that state them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest

from langgraph.runtime import Runtime

from lexloop.core.running import computing
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Chunk, Triplet
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.nodes.context import Context

TRIPLETS = 12
"""Triplets that go on to the generator."""
CANDIDATES = 10
"""Chunks that the search did not find which go on to the reranker."""
_PATHS = 24
_LOOKED_UP = 24
_KEYWORD_SEEDS = 12
_CHUNK_SEEDS = 10
_CHUNK_SEED_WEIGHT = 0.2
"""An entity of a retrieved chunk counts for less than one the question names."""
_CHUNKS = 2
"""Chunks of a provision that was looked up which go on."""

ScoredTriplets = list[tuple[Triplet, float]]
"""Triplets with the scores, in (0, 1], of what brought them up."""


def related(
    graph: KnowledgeGraph, keywords: Sequence[str], chunk_ids: Sequence[str], path_length: int
) -> tuple[ScoredTriplets, ScoredTriplets]:
    """Return the relations around a question, and the statements whose chunks it may need.

    Paths of up to ``path_length`` (S) triplets lead from the entities of the keywords and of the
    chunks, best first, to what is said of them; from the provisions that the chunks state one looks
    up what these refer to, and what refers to them.

    Returns:
        The relations, best first; and the statements, by turns of what was looked up and of the
        paths, each best first.
    """
    asked = graph.match(keywords, _KEYWORD_SEEDS)
    seeds = dict.fromkeys(graph.entities_of(chunk_ids)[:_CHUNK_SEEDS], _CHUNK_SEED_WEIGHT) | asked
    paths = graph.walk(seeds, path_length, _PATHS)
    walked = [(triplet, path.score) for path in paths for triplet in path.triplets]
    relations, looked_up = [*walked], ScoredTriplets()
    for found in graph.look_up(chunk_ids, asked, path_length, _LOOKED_UP):
        relations.append((found.triplet, found.score))
        homes = {triplet["chunk_id"]: triplet for triplet in reversed(found.stated)}
        first = list(reversed(homes.values()))[:_CHUNKS]
        looked_up += [(triplet, found.score) for triplet in first]
    by_turns = chain.from_iterable(zip_longest(looked_up, walked))
    return sorted(relations, key=lambda scored: -scored[1]), [t for t in by_turns if t is not None]


def triplets_of(relations: ScoredTriplets) -> list[Triplet]:
    """Return each relation once, best first; at most ``TRIPLETS``."""
    found: dict[tuple[str, str, str], Triplet] = {}
    for triplet, _ in relations:
        said = (triplet["subject"], triplet["predicate"], triplet["object"])
        found.setdefault(said, triplet)
    return list(found.values())[:TRIPLETS]


def candidates_of(
    statements: ScoredTriplets, known: Iterable[str], chunks: Callable[[Sequence[str]], list[Chunk]]
) -> list[Candidate]:
    """Return the chunks of the first statements, best first; at most ``CANDIDATES`` new ones."""
    scores: dict[str, float] = {}
    left, held = CANDIDATES, set(known)
    for triplet, score in statements:
        name = triplet["chunk_id"]
        if name in scores or (name not in held and not left):
            continue
        left -= name not in held
        scores[name] = score
    best = sorted(scores, key=lambda name: -scores[name])
    return [
        {**chunk, "score": scores[chunk["id"]], "signals": {"graph": scores[chunk["id"]]}}
        for chunk in chunks(best)
    ]


@computing
def kg_retrieve(state: State, runtime: Runtime[Context]) -> Update:
    """Write the triplets and the candidates that the graph brings up.

    The walk starts at the entities of the first K keywords and of the best candidates, and takes
    paths of up to S triplets (HyPA-RAG tables 6 and 7); from the provisions of the best candidates
    it looks up, S steps far, what they refer to, their exceptions and sanctions, and the
    definitions of their terms. With K or S of 0, or without a graph, it brings up nothing.
    """
    source, plan = runtime.context.graph_source, state["plan"]
    if source is None or plan["K"] < 1 or plan["S"] < 1:
        return {"triplets": [], "graph_candidates": []}
    keywords = state["parsed"]["keywords"][: plan["K"]]
    top = [candidate["id"] for candidate in state["candidates"][: plan["k"]]]
    relations, statements = related(source.graph(), keywords, top, plan["S"])
    known = [candidate["id"] for candidate in state["candidates"]]
    return {
        "triplets": triplets_of(relations),
        "graph_candidates": candidates_of(statements, known, source.chunks),
    }
