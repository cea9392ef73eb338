"""Searches of the knowledge graph: entities, best paths, and related provisions."""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.documents.text.tokens import tokenize
from lexloop.knowledge.columns import HOME, PART_OF, USES, Columns, Incidence, Ints
from lexloop.knowledge.relations import PREDICATES

_DECAY = 0.6
"""The share that every step after the first keeps."""
_UNMET = 0.5
"""The share that a step keeps if it reaches nothing that was asked for."""
_SHARES = {
    "part_of": (0.3, 0.5),
    "concerns": (0.5, 0.9),
    "defines": (1.0, 0.6),
    "alias_of": (1.0, 1.0),
    "uses": (0.6, 0.2),
    "refers_to": (0.6, 0.3),
    "exception_to": (0.6, 1.0),
    "amends": (0.6, 0.6),
    "applies_from": (0.5, 0.5),
}
SHARES: NDArray[np.float64] = np.array([*(_SHARES[name] for name in PREDICATES), (0.7, 0.7)])
"""The share that a step keeps along a relation of each kind, and against it; at last of a kind that
a model named."""
_ABOVE = 0.8
"""The weight of a provision for each level below it that a passage states."""
_RANK = 0.2
_POSTINGS = 200
"""The most entities compared for one word, those with short names first; limits the cost of a
match.
"""
_REACH = 200
"""Triplets considered of one provision or keyword; a hub has more."""


WHOLE = 5_000
"""The most triplets of a graph that networkx holds whole and walks; larger ones are read as a walk
arrives, which costs the same for an index of any size."""


class PartialPath(NamedTuple):
    """A complete or partial path; a lower cost (minus its score) is better."""

    cost: float
    triplets: tuple[int, ...]
    chain: tuple[int, ...]


class Asked:
    """The entities that a question asks for, and how closely others are related to them.

    Args:
        seeds: Entities with their weights in (0, 1], by number.
    """

    def __init__(self, graph: Incidence, seeds: Mapping[int, float]) -> None:
        self._seeds = seeds
        self.triplets: dict[int, float] = {}
        self._homes: dict[int, float] = {}
        for seed, weight in seeds.items():
            known = weight * float(graph.specificity[seed])
            triplets = graph.triplets_at(seed)[:_REACH]
            for triplet, home in zip(
                triplets.tolist(), graph.joined[triplets, HOME].tolist(), strict=True
            ):
                self.triplets[triplet] = max(known, self.triplets.get(triplet, 0.0))
                self._homes[home] = max(known, self._homes.get(home, 0.0))

    def met(self, entity: int) -> float:
        """Return how closely an entity, or a provision's triplets, are related to it, in [0, 1]."""
        return max(self._seeds.get(entity, 0.0), self._homes.get(entity, 0.0))


def best_paths(
    graph: Incidence,
    seeds: Mapping[int, float],
    length: int,
    limit: int,
    *,
    met: Callable[[int], float] | None = None,
    whole: Any = None,
    parts: bool = True,
) -> list[PartialPath]:
    """Return the best simple paths of 1 to ``length`` triplets, best first.

    A path starts at a seed with its weight, in (0, 1]. A step multiplies this by the specificity of
    the entity it leaves, by the share of its relation, and by the relevance of what it reaches, in
    [0, 1] by ``met`` or, without it, by the seeds; every step after the first also by a decay. At a
    hub only the most informative triplets are followed. Without ``parts`` no step goes from a
    provision to its parts or its parent. ``whole`` is the graph as ``whole_graph`` makes it, if it
    fits: then networkx finds the paths, and they are the same.
    """
    wanted = met or (lambda entity: seeds.get(entity, 0.0))
    if whole is not None:
        every = _simple_paths(graph, whole, seeds, length, wanted)
        return heapq.nsmallest(3 * limit, every)
    around = _Around(graph, parts)
    queue: list[PartialPath] = []
    best: list[float] = []
    most = 3 * limit

    def go_on(path: PartialPath, decay: float) -> None:
        leave = path.chain[-1]
        cost = path.cost * decay * float(graph.specificity[leave])
        for _, end, triplet, share in around.steps(leave):
            if triplet in path.triplets or end in path.chain:
                continue
            reached = cost * share * (_UNMET + (1 - _UNMET) * wanted(end))
            if len(best) == most and -reached < best[0]:
                continue  # enough better ones are queued, so its turn cannot come
            (heapq.heappushpop if len(best) == most else heapq.heappush)(best, -reached)
            queued = PartialPath(reached, (*path.triplets, triplet), (*path.chain, end))
            heapq.heappush(queue, queued)

    for seed, weight in sorted(seeds.items()):
        go_on(PartialPath(-weight, (), (seed,)), 1.0)
    paths: list[PartialPath] = []
    while queue and len(paths) < most:
        paths.append(heapq.heappop(queue))
        if len(paths[-1].triplets) < length:
            go_on(paths[-1], _DECAY)
    return paths


def _simple_paths(
    graph: Incidence,
    whole: Any,
    seeds: Mapping[int, float],
    length: int,
    wanted: Callable[[int], float],
) -> Iterator[PartialPath]:
    """Yield every simple path of 1 to ``length`` triplets from the seeds, by networkx."""
    import networkx as nx

    for seed, weight in seeds.items():
        if seed not in whole:
            continue
        ends = whole.nodes - {seed}
        for edges in nx.all_simple_edge_paths(whole, seed, ends, cutoff=length):
            triplets = tuple(triplet for _, _, triplet in edges)
            if len({*triplets}) < len(triplets):
                continue
            cost, decay = -weight, 1.0
            for leave, end, triplet in edges:
                cost = cost * decay * float(graph.specificity[leave])
                share = whole[leave][end][triplet]["share"]
                cost, decay = cost * share * (_UNMET + (1 - _UNMET) * wanted(end)), _DECAY
            yield PartialPath(cost, triplets, (seed, *(end for _, end, _ in edges)))


def by_pagerank(
    whole: Any, seeds: Mapping[int, float], length: int, limit: int
) -> list[PartialPath]:
    """Return the triplets that personalised PageRank finds around the seeds, best first.

    It ranks the entities within ``length`` steps of the seeds, along relations by their shares. A
    triplet has the rank that it passes on, as a fraction of the most that one does.
    """
    import networkx as nx

    inside = {seed: weight for seed, weight in seeds.items() if seed in whole}
    if not inside:
        return []
    near = nx.compose_all([nx.ego_graph(whole, seed, radius=length) for seed in inside])
    rank = nx.pagerank(near, personalization=inside, weight="share")
    passed: dict[int, PartialPath] = {}
    for leave, end, triplet, share in near.edges(keys=True, data="share"):
        path = PartialPath(-rank[leave] * share, (triplet,), (leave, end))
        passed[triplet] = min(path, passed.get(triplet, path))
    best = heapq.nsmallest(limit, passed.values())
    most = -best[0].cost if best else 1.0
    return [path._replace(cost=path.cost / most) for path in best]


def whole_graph(graph: Incidence, parts: bool) -> Any:
    """Return the whole graph of a caller as a networkx graph; ``parts`` as for ``best_paths``."""
    import networkx as nx

    around, whole = _Around(graph, parts), nx.MultiDiGraph()
    for entity in np.flatnonzero(graph.degrees).tolist():
        whole.add_edges_from(around.read(entity))
    return whole


class _Around:
    """The part of the graph that a walk has reached, as a networkx graph.

    The arrays contain the whole graph. Edges are read from them once, when the walk arrives.

    Args:
        parts: Whether a provision leads to its parts and its parent.
    """

    def __init__(self, graph: Incidence, parts: bool) -> None:
        import networkx as nx

        self._graph, self._parts = graph, parts
        self._held: Any = nx.MultiDiGraph()
        self._left: set[int] = set()

    def steps(self, entity: int) -> Iterable[tuple[int, int, int, float]]:
        """Return the edges from an entity: source, target, triplet and share."""
        if entity not in self._left:
            self._left.add(entity)
            self._held.add_node(entity)
            self._held.add_edges_from(self.read(entity))
        edges: Iterable[tuple[int, int, int, float]] = self._held.out_edges(
            entity, keys=True, data="share"
        )
        return edges

    def read(self, entity: int) -> Iterator[tuple[int, int, int, dict[str, float]]]:
        """Yield an entity's edges. A provision that uses a term leads to its definition."""
        graph = self._graph
        near = graph.near_to(entity)
        rows, kinds = graph.joined[near].tolist(), graph.kinds[near].tolist()
        for triplet, (subject, target, home), kind in zip(near, rows, kinds, strict=True):
            if kind == PART_OF and not self._parts:
                continue
            share = {"share": float(SHARES[kind, int(entity == target)])}
            entities = dict.fromkeys((target, subject, home))
            ends = [other for other in entities if other not in (entity, -1)]
            if entity != target and kind == USES:
                ends += [home for home in graph.defining(target) if home != entity]
            yield from ((entity, end, triplet, share) for end in ends)


class HandedOn(NamedTuple):
    """A provision that others hand on to.

    Args:
        triplet: The triplet that leads there at last, by number.
        provision: Number of the provision.
        chunk: The place of the best chunk that hands on to it.
        score: Score in (0, 1].
    """

    triplet: int
    provision: int
    chunk: int
    score: float


def reachable_provisions(
    graph: Incidence,
    chunks: Sequence[Iterable[int]],
    asked: Asked,
    length: int,
    limit: int,
    *,
    whole: Any = None,
) -> list[HandedOn]:
    """Return the provisions reached from those of chunks in up to ``length`` steps, best first.

    Args:
        graph: The graph.
        chunks: The triplets of each chunk, the best chunk first.
        asked: Provisions related to it come first.
        length: S of the plan.
        limit: The most provisions.
        whole: The graph without parts, as for ``best_paths``.
    """
    seeds: dict[int, float] = {}
    stating: dict[int, int] = {}
    by_chunk: list[set[int]] = [set() for _ in chunks]
    for rank, triplets in enumerate(chunks):
        for home in {int(graph.joined[triplet, HOME]) for triplet in triplets} - {-1}:
            weight = 1 / (1 + _RANK * rank)
            for above in graph.lineage(home):
                by_chunk[rank].add(above)
                if weight > seeds.get(above, 0.0):
                    seeds[above], stating[above] = weight, rank
                weight *= _ABOVE
    best: dict[int, HandedOn] = {}
    paths = best_paths(graph, seeds, length, 2 * limit, met=asked.met, whole=whole, parts=False)
    for path in paths:
        end, by = path.chain[-1], stating[path.chain[0]]
        if end not in by_chunk[by] and len(graph.held_by(end)):
            best.setdefault(end, HandedOn(path.triplets[-1], end, by, -path.cost))
    return list(best.values())[:limit]


def stated(graph: Incidence, provision: int, asked: Asked) -> list[int]:
    """Return the triplets of a provision and its parts, closest to the question first."""
    triplets: list[int] = []
    ring = [provision]
    while ring and len(triplets) < _REACH:
        triplets += [t for part in ring for t in graph.held_by(part).tolist()]
        ring = [part for whole in ring for part in graph.parts_of(whole)]
    return sorted(triplets[:_REACH], key=lambda triplet: -asked.triplets.get(triplet, 0.0))


def triplets_around(graph: Incidence, entity: int, depth: int, limit: int) -> dict[int, int]:
    """Return triplets up to ``depth`` entities away, each with the entity passed.

    The nearest come first and, around one entity, the most informative. Triplets that a walk would
    not follow are included only at the last step.
    """
    nearest: dict[int, int] = {}
    visited = {entity}
    ring = [entity]
    for _ in range(depth):
        ends: dict[int, None] = {}
        for leave in ring:
            rest = graph.triplets_at(leave).tolist() if depth == 1 else []
            for triplet in dict.fromkeys((*graph.near_to(leave), *rest)):
                if len(nearest) >= limit:
                    return nearest
                if triplet not in nearest:
                    nearest[triplet] = leave
                    ends.update(dict.fromkeys(graph.joined_by(triplet)))
        ring = [end for end in ends if end not in visited]
        visited.update(ring)
    return nearest


class EntityIndex:
    """An inverted index over the names of entities."""

    def __init__(self, columns: Columns, graph: Incidence) -> None:
        self._numbers = {term: number for number, term in enumerate(columns.terms)}
        self._offsets, self._terms = columns.term_offsets, columns.term_ids
        self._meant = graph.meant
        entities = np.flatnonzero(graph.named).astype(np.int32)
        self._total = len(entities)
        lengths = np.diff(columns.term_offsets)
        # short names first, names of one length in order
        ranked = entities[np.argsort(lengths[entities], kind="stable")]
        terms = self._terms[_places(self._offsets, ranked)]
        order = np.argsort(terms, kind="stable")
        self._posted = np.repeat(ranked, lengths[ranked])[order]
        frequency = np.bincount(terms, minlength=len(columns.terms))
        self._ends = np.concatenate(([0], np.cumsum(frequency)))
        self._idf = np.log(1 + (self._total - frequency + 0.5) / (frequency + 0.5))
        self._norm = np.zeros(len(columns.names))
        owners = np.repeat(entities, lengths[entities])
        np.add.at(self._norm, owners, self._idf[self._terms[_places(self._offsets, entities)]])

    def match(self, keywords: Sequence[str], limit: int) -> dict[int, float]:
        """Return the entities that share words with the keywords.

        A keyword and an entity are compared by the idf of the words they share, over the geometric
        mean of the idf of all their words, so rare words count and long names do not win by length.
        An entity that matches several keywords gains from each.

        Returns:
            Entity -> weight in (0, 1], best first.
        """
        missed: dict[int, float] = {}
        for keyword in dict.fromkeys(keywords):
            best: dict[int, float] = {}
            for name, weight in zip(*self._alike({*tokenize(keyword)}), strict=True):
                entity = int(self._meant[name])
                best[entity] = max(float(weight), best.get(entity, 0.0))
            for entity, weight in best.items():
                missed[entity] = missed.get(entity, 1.0) * (1 - weight)
        ranked = sorted((value, entity) for entity, value in missed.items() if value < 1)
        return {entity: 1 - value for value, entity in ranked[: max(limit, 0)]}

    def _alike(self, terms: set[str]) -> tuple[Ints, NDArray[np.float64]]:
        numbers = (self._numbers.get(term) for term in sorted(terms))
        known = [n for n in numbers if n is not None and self._ends[n] < self._ends[n + 1]]
        if not known:
            return np.zeros(0, dtype=np.int32), np.zeros(0)
        unknown = math.log(1 + 2 * self._total) * (len(terms) - len(known))
        wanted = math.fsum(self._idf[known]) + unknown
        posted = [self._posted[self._ends[n] : self._ends[n + 1]][:_POSTINGS] for n in known]
        close = np.unique(np.concatenate(posted))
        counts = self._offsets[close + 1] - self._offsets[close]
        shared_terms = self._terms[_places(self._offsets, close)]
        shared = np.where(np.isin(shared_terms, known), self._idf[shared_terms], 0.0)
        weights = np.bincount(np.repeat(np.arange(len(close)), counts), shared)
        return close, np.minimum(1.0, weights / np.sqrt(wanted * self._norm[close]))


def _places(offsets: Ints, owners: Ints) -> NDArray[np.int64]:
    """Return the places of every owner's run, one run after the other."""
    counts = (offsets[owners + 1] - offsets[owners]).astype(np.int64)
    begins = np.repeat(offsets[owners] - np.cumsum(counts) + counts, counts)
    return np.arange(len(begins), dtype=np.int64) + begins
