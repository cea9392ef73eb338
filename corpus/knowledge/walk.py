"""Best-first search for the best simple paths of the knowledge graph."""

import heapq
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lexloop.corpus.knowledge.incidence import FAN_OUT, Incidence

_SEED_REACH = 400
"""Triplets of one seed that are searched for other seeds."""
_DECAY = 0.6
_UNMATCHED = 0.5
"""What a step keeps of the score when its triplet meets no further seed."""


class Step(NamedTuple):
    """A path found or to be continued; the lower the cost, the better (minus its score)."""

    cost: float
    triplets: tuple[int, ...]
    chain: tuple[int, ...]


class Walk:
    """One search.

    Args:
        graph: Where to walk.
        seeds: Entities with their weights in (0, 1], by number.
        path_length: S, the most triplets in a path.
        limit: How many paths to find.
    """

    def __init__(
        self, graph: Incidence, seeds: Mapping[int, float], path_length: int, limit: int
    ) -> None:
        self._graph = graph
        self._seeds = seeds
        self._path_length = path_length
        self._limit = limit
        self._looked_up: dict[int, list[int]] = {}
        self._met = self._meetings()
        self._bridges = self._bridging()
        self._queue: list[Step] = []
        self._best: list[float] = []

    def paths(self) -> list[Step]:
        """The best paths, best first, each with the entities it has passed and one it reaches."""
        for entity, weight in self._seeds.items():
            self._continue(Step(-weight, (), (entity,)))
        found: dict[tuple[int, ...], Step] = {}
        for _ in range(3 * self._limit):
            if not self._queue or len(found) == self._limit:
                break
            cost, triplets, chain = heapq.heappop(self._queue)
            ends = [e for e in self._graph.joined_by(triplets[-1]) if e not in chain]
            found.setdefault(triplets, Step(cost, triplets, (*chain, *ends[:1])))
            if len(triplets) < self._path_length:
                for end in ends:
                    self._continue(Step(cost * _DECAY, triplets, (*chain, end)))
        return list(found.values())

    def _continue(self, path: Step) -> None:
        """Queue the triplets that continue ``path`` from the last entity of its chain."""
        leave = path.chain[-1]
        if self._hopeless(path.cost):
            return
        rarity = float(self._graph.rarity[leave])
        for triplet in dict.fromkeys((*self._bridges.get(leave, ()), *self._near(leave))):
            if triplet in path.triplets:
                continue
            cost = path.cost
            if self._graph.defined[triplet] != leave:
                cost *= rarity * (_UNMATCHED + (1 - _UNMATCHED) * self._meets(triplet, path.chain))
            if not self._hopeless(cost):
                self._note(cost)
                heapq.heappush(self._queue, Step(cost, (*path.triplets, triplet), path.chain))

    def _meets(self, triplet: int, chain: tuple[int, ...]) -> float:
        """The weight of the best seed that a triplet joins and the path has not passed."""
        seeds = self._met.get(triplet)
        return max((self._seeds[s] for s in seeds if s not in chain), default=0.0) if seeds else 0.0

    def _near(self, entity: int) -> list[int]:
        """The triplets to follow; paths meet again, so each entity is looked up once."""
        found = self._looked_up.get(entity)
        if found is None:
            found = self._looked_up[entity] = self._graph.near_to(entity)
        return found

    def _hopeless(self, cost: float) -> bool:
        """Whether so many better paths are queued already that this one's turn cannot come."""
        return len(self._best) == 3 * self._limit and -cost < self._best[0]

    def _note(self, cost: float) -> None:
        if len(self._best) < 3 * self._limit:
            heapq.heappush(self._best, -cost)
        else:
            heapq.heappushpop(self._best, -cost)

    def _meetings(self) -> dict[int, list[int]]:
        """The seeds that each triplet near a seed joins."""
        if not self._seeds:
            return {}
        near = [
            self._graph.triplets_at(seed)
            if self._graph.degree(seed) <= _SEED_REACH
            else np.array(self._near(seed), dtype=np.int32)
            for seed in self._seeds
        ]
        triplets, entities = self._graph.pairs_of(np.unique(np.concatenate(near)))
        seeds = np.isin(entities, list(self._seeds))
        met: dict[int, list[int]] = defaultdict(list)
        for triplet, seed in zip(triplets[seeds].tolist(), entities[seeds].tolist(), strict=True):
            met[triplet].append(seed)
        return met

    def _bridging(self) -> dict[int, list[int]]:
        """For each seed the triplets that join it to the weightiest other seeds."""
        bridges: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for triplet, seeds in self._met.items():
            if len(seeds) > 1:
                weight = sum(self._seeds[seed] for seed in seeds)
                for seed in seeds:
                    bridges[seed].append((-weight, triplet))
        return {
            seed: [triplet for _, triplet in sorted(found)[:FAN_OUT]]
            for seed, found in bridges.items()
        }
