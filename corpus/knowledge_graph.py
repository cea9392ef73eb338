"""The knowledge graph: entities and the triplets that join them, matched and walked.

Follows HyPA-RAG section 3.5: keywords find entities, and paths of bounded length from them bring
up triplets and, through these, the passages that state them.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from lexloop.core.types import Triplet
from lexloop.corpus.entity_index import EntityIndex
from lexloop.corpus.graph_entities import EntityNames

_FAN_OUT = 12
"""Triplets tried per entity, those with the rarest other entities first: a hub's are not all."""
_SEED_REACH = 400
_DECAY = 0.6
_UNMATCHED = 0.5
"""What a step keeps of the score when its triplet meets no further keyword."""


class Path(NamedTuple):
    """A walk: ``triplets[i]`` joins ``entities[i]`` to ``entities[i + 1]``."""

    entities: tuple[str, ...]
    triplets: tuple[Triplet, ...]
    score: float


class _Step(NamedTuple):
    """A path in the queue; negative scores, so that the best comes first."""

    score: float
    numbers: tuple[int, ...]
    chain: tuple[str, ...]


class KnowledgeGraph:
    """A bipartite graph of entities and triplets.

    Edge direction is not kept: a walk goes from "employer" to its duties and from a duty to whoever
    has it. The order in which triplets are given does not matter.
    """

    def __init__(self, triplets: Iterable[Triplet]) -> None:
        import networkx as nx

        unique = {_identity(triplet): triplet for triplet in triplets}
        self.triplets: list[Triplet] = [unique[key] for key in sorted(unique)]
        self._names = EntityNames(self.triplets)
        self._graph: Any = nx.Graph()
        self._of_chunk: dict[str, list[int]] = defaultdict(list)
        self._joined: list[list[str]] = []
        for number, triplet in enumerate(self.triplets):
            entities = self._names.joined_by(triplet)
            self._joined.append(entities)
            self._of_chunk[triplet["chunk_id"]].append(number)
            self._graph.add_edges_from((entity, number) for entity in entities)
        self._rarity = {
            node: 1 / (1 + 0.25 * math.log2(degree))
            for node, degree in self._graph.degree()
            if isinstance(node, str)
        }
        self._near = {entity: self._nearest(entity) for entity in self._rarity}

    @classmethod
    def from_triplets(cls, triplets: Iterable[Triplet]) -> "KnowledgeGraph":
        """Build the graph; repeated triplets count once."""
        return cls(triplets)

    @property
    def entities(self) -> list[str]:
        """The names of all entities, in a stable order."""
        return sorted(self._rarity)

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """Entities for keywords with weights in (0, 1], best first; see ``EntityIndex.match``."""
        return self._index.match(keywords, limit)

    @cached_property
    def _index(self) -> EntityIndex:
        return EntityIndex(self._rarity, self._names.aliases)

    def entities_of(self, chunk_ids: Iterable[str]) -> list[str]:
        """The entities of the chunks' triplets, in the order of the chunks."""
        numbers = (number for chunk in chunk_ids for number in self._of_chunk.get(chunk, ()))
        return list(dict.fromkeys(entity for number in numbers for entity in self._joined[number]))

    def without(self, chunk_ids: Collection[str]) -> "KnowledgeGraph":
        """The graph as it would be had these chunks not been read."""
        return KnowledgeGraph(t for t in self.triplets if t["chunk_id"] not in chunk_ids)

    def walk(self, seeds: Mapping[str, float], path_length: int, limit: int) -> list[Path]:
        """The best simple paths of 1 to ``path_length`` triplets that start at a seed.

        A path starts with its seed's weight; every step multiplies it by the rarity of the entity
        it leaves and by how well its triplet meets another seed, and every step after the first
        by a decay. At a hub only the triplets with the rarest other entities, and those that join
        two seeds, are followed.

        Args:
            seeds: Entities and their weights in (0, 1]; unknown ones are ignored.
            path_length: S, the most triplets in one path.
            limit: How many paths at most.

        Returns:
            Paths with distinct sequences of triplets, best first.
        """
        known = {entity: seeds[entity] for entity in sorted(seeds) if entity in self._rarity}
        if path_length < 1 or limit < 1:
            return []
        bridges = self._bridges(known)
        queue: list[_Step] = []
        for entity, weight in known.items():
            self._push(queue, _Step(-weight, (), (entity,)), known, bridges)
        paths: dict[tuple[int, ...], Path] = {}
        for _ in range(3 * limit):
            if not queue or len(paths) == limit:
                break
            negative, numbers, chain = heapq.heappop(queue)
            ends = [entity for entity in self._joined[numbers[-1]] if entity not in chain]
            triplets = tuple(self.triplets[number] for number in numbers)
            paths.setdefault(numbers, Path((*chain, *ends[:1]), triplets, -negative))
            if len(numbers) < path_length:
                for end in ends:
                    step = _Step(negative * _DECAY, numbers, (*chain, end))
                    self._push(queue, step, known, bridges)
        return list(paths.values())

    def _push(
        self,
        queue: list[_Step],
        path: _Step,
        seeds: Mapping[str, float],
        bridges: Mapping[str, Sequence[int]],
    ) -> None:
        """Queue every triplet that continues ``path`` from the last entity of its chain."""
        score, numbers, chain = path
        leave = chain[-1]
        for number in dict.fromkeys((*bridges.get(leave, ()), *self._near[leave])):
            if number in numbers:
                continue
            met = max(
                (seeds.get(e, 0.0) for e in self._joined[number] if e not in chain), default=0
            )
            kept = self._rarity[leave] * (_UNMATCHED + (1 - _UNMATCHED) * met)
            heapq.heappush(queue, _Step(score * kept, (*numbers, number), chain))

    def _bridges(self, seeds: Mapping[str, float]) -> dict[str, list[int]]:
        """For each seed the triplets that join it to another seed."""
        meeting: dict[int, list[str]] = defaultdict(list)
        for seed in seeds:
            near = self._near[seed] if self._graph.degree[seed] > _SEED_REACH else self._graph[seed]
            for number in near:
                meeting[number] = [entity for entity in self._joined[number] if entity in seeds]
        bridges: dict[str, list[int]] = defaultdict(list)
        for number in sorted(meeting):
            if len(meeting[number]) > 1:
                for seed in meeting[number]:
                    bridges[seed].append(number)
        return {seed: numbers[:_FAN_OUT] for seed, numbers in bridges.items()}

    def _nearest(self, entity: str) -> list[int]:
        """The triplets to follow from an entity: those whose other entities are rarest."""

        def order(number: int) -> tuple[float, int]:
            others = [self._rarity[e] for e in self._joined[number][:4] if e != entity]
            return -max(others, default=0.0), number

        if self._graph.degree[entity] == 1:
            return list(self._graph[entity])
        return heapq.nsmallest(_FAN_OUT, self._graph[entity], key=order)


def _identity(triplet: Triplet) -> tuple[str, int, int, str, str, str, str]:
    return (
        triplet["document"],
        triplet["start"],
        triplet["end"],
        triplet["subject"],
        triplet["predicate"],
        triplet["object"],
        triplet["chunk_id"],
    )
