"""Searches of the knowledge graph: best paths, and what provisions hand on to."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.knowledge.columns import HOME, PART_OF, USES, Incidence
from lexloop.knowledge.relations import PREDICATES

_DECAY = 0.6
"""The share that every step after the first keeps."""
_UNMET = 0.5
"""The share that a step keeps when it meets nothing that was asked for."""
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
"""What a provision counts for of each level below it that a passage states."""
_RANK = 0.2
_REACH = 200
"""Triplets of one provision or keyword that are looked at; a hub has more."""


class PartialPath(NamedTuple):
    """A path found or to be continued; the lower the cost (minus its score), the better."""

    cost: float
    triplets: tuple[int, ...]
    chain: tuple[int, ...]


class Asked:
    """The entities that a question asks for, and how much others have to do with them.

    Args:
        seeds: Entities with their weights in (0, 1], by number.
    """

    def __init__(self, graph: Incidence, seeds: Mapping[int, float]) -> None:
        self._seeds = seeds
        self.triplets: dict[int, float] = {}
        self._homes: dict[int, float] = {}
        for seed, weight in seeds.items():
            known = weight * float(graph.specificity[seed])
            found = graph.triplets_at(seed)[:_REACH]
            for triplet, home in zip(
                found.tolist(), graph.joined[found, HOME].tolist(), strict=True
            ):
                self.triplets[triplet] = max(known, self.triplets.get(triplet, 0.0))
                self._homes[home] = max(known, self._homes.get(home, 0.0))

    def met(self, entity: int) -> float:
        """Return how much an entity, or what a provision states, has to do with it, in [0, 1]."""
        return max(self._seeds.get(entity, 0.0), self._homes.get(entity, 0.0))


def best_paths(
    graph: Incidence,
    seeds: Mapping[int, float],
    met: Callable[[int], float],
    length: int,
    limit: int,
    *,
    parts: bool = True,
) -> list[PartialPath]:
    """Return the best simple paths of 1 to ``length`` triplets, best first.

    A path starts at a seed with its weight, in (0, 1]. A step multiplies that by the specificity of
    the entity it leaves, by the share of its relation, and by more the more what it reaches has to
    do with what was asked, in [0, 1] by ``met``; every step after the first by a decay. At a hub
    only the most telling triplets are followed; and without ``parts`` none from a provision to its
    parts or to its whole.
    """
    steps = lru_cache(maxsize=None)(lambda entity: _steps(graph, entity, parts))  # they meet again
    queue: list[PartialPath] = []
    best: list[float] = []
    most = 3 * limit

    def go_on(path: PartialPath, decay: float) -> None:
        leave = path.chain[-1]
        cost = path.cost * decay * float(graph.specificity[leave])
        for triplet, end, share in steps(leave):
            if triplet in path.triplets or end in path.chain:
                continue
            reached = cost * share * (_UNMET + (1 - _UNMET) * met(end))
            if len(best) == most and -reached < best[0]:
                continue  # so many better ones are queued that its turn cannot come
            (heapq.heappushpop if len(best) == most else heapq.heappush)(best, -reached)
            queued = PartialPath(reached, (*path.triplets, triplet), (*path.chain, end))
            heapq.heappush(queue, queued)

    for seed, weight in sorted(seeds.items()):
        go_on(PartialPath(-weight, (), (seed,)), 1.0)
    found: list[PartialPath] = []
    while queue and len(found) < most:
        found.append(heapq.heappop(queue))
        if len(found[-1].triplets) < length:
            go_on(found[-1], _DECAY)
    return found


def _steps(graph: Incidence, entity: int, parts: bool) -> list[tuple[int, int, float]]:
    """Return the steps from an entity: the triplet, where it leads, and the share that it keeps.

    Who uses a term is led to where it is defined.
    """
    found: list[tuple[int, int, float]] = []
    near = graph.near_to(entity)
    rows, kinds = graph.joined[near].tolist(), graph.kinds[near].tolist()
    for triplet, (subject, target, home), kind in zip(near, rows, kinds, strict=True):
        if kind == PART_OF and not parts:
            continue
        share = float(SHARES[kind, int(entity == target)])
        ends = [one for one in dict.fromkeys((target, subject, home)) if one not in (entity, -1)]
        if entity != target and kind == USES:
            ends += [home for home in graph.defining(target) if home != entity]
        found += [(triplet, end, share) for end in ends]
    return found


class HandedOn(NamedTuple):
    """A provision that others hand on to.

    Args:
        triplet: The triplet that leads there at last, by number.
        provision: It.
        chunk: The place of the best chunk that hands on to it.
        score: In (0, 1].
    """

    triplet: int
    provision: int
    chunk: int
    score: float


def handed_on(
    graph: Incidence, chunks: Sequence[Iterable[int]], asked: Asked, length: int, limit: int
) -> list[HandedOn]:
    """Return the provisions that those of chunks lead to in up to ``length`` steps, best first.

    Args:
        graph: The graph.
        chunks: The triplets of each chunk, the best chunk first.
        asked: What meets it comes first.
        length: S of the plan.
        limit: The most provisions.
    """
    seeds: dict[int, float] = {}
    stating: dict[int, int] = {}
    own: list[set[int]] = [set() for _ in chunks]
    for rank, triplets in enumerate(chunks):
        for home in {int(graph.joined[triplet, HOME]) for triplet in triplets} - {-1}:
            weight = 1 / (1 + _RANK * rank)
            for above in graph.lineage(home):
                own[rank].add(above)
                if weight > seeds.get(above, 0.0):
                    seeds[above], stating[above] = weight, rank
                weight *= _ABOVE
    best: dict[int, HandedOn] = {}
    for path in best_paths(graph, seeds, asked.met, length, 2 * limit, parts=False):
        end, by = path.chain[-1], stating[path.chain[0]]
        if end not in own[by] and len(graph.held_by(end)):
            best.setdefault(end, HandedOn(path.triplets[-1], end, by, -path.cost))
    return list(best.values())[:limit]


def stated(graph: Incidence, provision: int, asked: Asked) -> list[int]:
    """Return the triplets of a provision and its parts, those nearest to the question first."""
    found: list[int] = []
    ring = [provision]
    while ring and len(found) < _REACH:
        found += [t for part in ring for t in graph.held_by(part).tolist()]
        ring = [part for whole in ring for part in graph.parts_of(whole)]
    return sorted(found[:_REACH], key=lambda triplet: -asked.triplets.get(triplet, 0.0))


def triplets_around(graph: Incidence, entity: int, depth: int, limit: int) -> dict[int, int]:
    """Return triplets up to ``depth`` entities away, each with the entity passed.

    The nearest come first and, around one entity, the most telling. Those that a walk would not
    follow are taken only where nothing further off is looked for.
    """
    found: dict[int, int] = {}
    seen = {entity}
    ring = [entity]
    for _ in range(depth):
        ends: dict[int, None] = {}
        for leave in ring:
            rest = graph.triplets_at(leave).tolist() if depth == 1 else []
            for triplet in dict.fromkeys((*graph.near_to(leave), *rest)):
                if len(found) >= limit:
                    return found
                if triplet not in found:
                    found[triplet] = leave
                    ends.update(dict.fromkeys(graph.joined_by(triplet)))
        ring = [end for end in ends if end not in seen]
        seen.update(ring)
    return found
