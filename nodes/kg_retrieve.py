"""kg_retrieve: triplets near the question's keywords, and the passages that state them."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from langgraph.runtime import Runtime

from lexloop.core.running import computing
from lexloop.core.settings_groups import Walk
from lexloop.core.state import State, Update
from lexloop.core.types import Scored, Triplet
from lexloop.nodes.context import Context
from lexloop.store.graph import KnowledgeGraph

CANDIDATES = 10
"""Chunks that the search did not find which go on to the reranker."""
_PATHS = 24
_LOOKED_UP = 24
_KEYWORD_SEEDS = 12
_SOURCES = 10
"""Candidates of the search, the best first, whose provisions are followed further."""
_CHUNKS = 2
"""Chunks of a provision that was looked up which go on."""


class Stated(NamedTuple):
    """A chunk to go on: its id, its score in (0, 1], and the chunk that hands on to it or ""."""

    chunk_id: str
    score: float
    by: str


ScoredTriplets = list[tuple[Triplet, float]]
"""Triplets with the scores, in (0, 1], of what brought them up."""


def related(
    graph: KnowledgeGraph,
    keywords: Sequence[str],
    chunk_ids: Sequence[str],
    path_length: int,
    by: Walk = "paths",
) -> tuple[ScoredTriplets, list[Stated]]:
    """Return the relations around a question, and the chunks that it may need.

    Paths of up to ``path_length`` (S) triplets lead from the entities of the keywords, best first,
    to what is said of them; from the provisions that the chunks state one looks up what these hand
    on to, and what limits them.

    Returns:
        The relations, best first; and the chunks, by turns of what was looked up and of the paths,
        each best first.
    """
    asked = graph.match(keywords, _KEYWORD_SEEDS)
    paths = graph.walk(asked, path_length, _PATHS, by)
    relations = [(triplet, path.score) for path in paths for triplet in path.triplets]
    walked = [Stated(triplet["chunk_id"], score, "") for triplet, score in relations]
    looked_up: list[Stated] = []
    for found in graph.look_up(chunk_ids, asked, path_length, _LOOKED_UP):
        relations.append((found.triplet, found.score))
        homes = dict.fromkeys(triplet["chunk_id"] for triplet in found.stated)
        first = [name for name in homes if name != found.by][:_CHUNKS]
        looked_up += [Stated(name, found.score, found.by) for name in first]
    by_turns = chain.from_iterable(zip_longest(looked_up, walked))
    return sorted(relations, key=lambda scored: -scored[1]), [t for t in by_turns if t is not None]


def triplets_of(relations: ScoredTriplets, most: int) -> list[Triplet]:
    """Return each relation once, best first; at most ``most``."""
    found: dict[tuple[str, str, str], Triplet] = {}
    for triplet, _ in relations:
        said = (triplet["subject"], triplet["predicate"], triplet["object"])
        found.setdefault(said, triplet)
    return list(found.values())[:most]


def chosen(statements: Iterable[Stated], known: Iterable[str]) -> list[Stated]:
    """Return the first chunks, each once, best first; at most ``CANDIDATES`` new ones."""
    taken: dict[str, Stated] = {}
    left, held = CANDIDATES, set(known)
    for one in statements:
        new = one.chunk_id not in held
        if one.chunk_id not in taken and (left or not new):
            left -= new
            taken[one.chunk_id] = one
    return sorted(taken.values(), key=lambda one: -one.score)


def _scored(one: Stated) -> Scored:
    """Return a chunk as a candidate."""
    plain: Scored = {"id": one.chunk_id, "score": one.score, "signals": {"graph": one.score}}
    return {**plain, "by": one.by} if one.by else plain


@computing
def kg_retrieve(state: State, runtime: Runtime[Context]) -> Update:
    """Write the triplets and the candidates that the graph brings up.

    The walk starts at the entities of the first K keywords, and takes paths of up to S triplets
    (HyPA-RAG tables 6 and 7); from the provisions of the best candidates it looks up, S steps far,
    what they refer to, what refers to them or excepts from them, and the definitions of their
    terms. With K or S of 0, or without a graph, it brings up nothing.
    """
    view, plan, settings = runtime.context.view, state["plan"], runtime.context.settings.retrieval
    if view is None or settings.knowledge_graph == "none" or plan["K"] < 1 or plan["S"] < 1:
        return {"triplets": [], "graph_candidates": []}
    keywords = state["parsed"]["keywords"][: plan["K"]]
    candidates = view.candidates(state["candidates"])
    operative = [one for one in candidates if not one.get("supporting")]
    top = [candidate["id"] for candidate in operative[: max(_SOURCES, plan["k"])]]
    relations, statements = related(view.graph, keywords, top, plan["S"], settings.walk)
    found = chosen(statements, [candidate["id"] for candidate in candidates])
    triplets = triplets_of(relations, settings.triplets)
    return {"triplets": triplets, "graph_candidates": [*map(_scored, found)]}
