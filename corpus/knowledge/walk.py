"""Best-first search for the best simple paths of the knowledge graph."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

FAN_OUT = 12
"""Triplets followed from one entity; a hub has more, and only its most telling ones count."""
_SEED_REACH = 400
"""Triplets of one seed that are searched for other seeds."""
_DECAY = 0.6
_UNMATCHED = 0.5
"""What a step keeps of the score when its triplet meets no further seed."""


class Adjacency(Protocol):
    """What a walk needs of the graph; triplets are numbers, entities names."""

    @property
    def joined(self) -> Sequence[Sequence[str]]:
        """The entities that each triplet joins."""
        ...

    @property
    def rarity(self) -> Mapping[str, float]:
        """Of each entity, in (0, 1]; low at hubs."""
        ...

    def near(self, entity: str) -> Sequence[int]:
        """At most ``FAN_OUT`` triplets to follow from an entity."""
        ...

    def triplets_at(self, entity: str) -> Collection[int]:
        """All triplets that join an entity."""
        ...

    def defines(self, number: int, entity: str) -> bool:
        """Whether a triplet says what ``entity`` means."""
        ...


class Step(NamedTuple):
    """A path found or to be continued; the lower the cost, the better (minus its score)."""

    cost: float
    numbers: tuple[int, ...]
    chain: tuple[str, ...]


class Walk:
    """One search.

    Args:
        graph: Where to walk.
        seeds: Entities of the graph with their weights in (0, 1].
        path_length: S, the most triplets in a path.
        limit: How many paths to find.
    """

    def __init__(
        self, graph: Adjacency, seeds: Mapping[str, float], path_length: int, limit: int
    ) -> None:
        self._graph = graph
        self._seeds = seeds
        self._path_length = path_length
        self._limit = limit
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
            cost, numbers, chain = heapq.heappop(self._queue)
            ends = [entity for entity in self._graph.joined[numbers[-1]] if entity not in chain]
            found.setdefault(numbers, Step(cost, numbers, (*chain, *ends[:1])))
            if len(numbers) < self._path_length:
                for end in ends:
                    self._continue(Step(cost * _DECAY, numbers, (*chain, end)))
        return list(found.values())

    def _continue(self, path: Step) -> None:
        """Queue the triplets that continue ``path`` from the last entity of its chain."""
        leave = path.chain[-1]
        if self._hopeless(path.cost):
            return
        for number in dict.fromkeys((*self._bridges.get(leave, ()), *self._graph.near(leave))):
            if number in path.numbers:
                continue
            met = max(
                (self._seeds[seed] for seed in self._met.get(number, ()) if seed not in path.chain),
                default=0.0,
            )
            cost = path.cost
            if not self._graph.defines(number, leave):
                cost *= self._graph.rarity[leave] * (_UNMATCHED + (1 - _UNMATCHED) * met)
            if not self._hopeless(cost):
                self._note(cost)
                heapq.heappush(self._queue, Step(cost, (*path.numbers, number), path.chain))

    def _hopeless(self, cost: float) -> bool:
        """Whether so many better paths are queued already that this one's turn cannot come."""
        return len(self._best) == 3 * self._limit and -cost < self._best[0]

    def _note(self, cost: float) -> None:
        if len(self._best) < 3 * self._limit:
            heapq.heappush(self._best, -cost)
        else:
            heapq.heappushpop(self._best, -cost)

    def _meetings(self) -> dict[int, list[str]]:
        """The seeds that each triplet near a seed joins."""
        met: dict[int, list[str]] = {}
        for seed in self._seeds:
            triplets = self._graph.triplets_at(seed)
            near = triplets if len(triplets) <= _SEED_REACH else self._graph.near(seed)
            for number in near:
                if number not in met:
                    met[number] = [e for e in self._graph.joined[number] if e in self._seeds]
        return met

    def _bridging(self) -> dict[str, list[int]]:
        """For each seed the triplets that join it to the weightiest other seeds."""
        bridges: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for number, seeds in self._met.items():
            if len(seeds) > 1:
                weight = sum(self._seeds[seed] for seed in seeds)
                for seed in seeds:
                    bridges[seed].append((-weight, number))
        return {
            seed: [number for _, number in sorted(found)[:FAN_OUT]]
            for seed, found in bridges.items()
        }
