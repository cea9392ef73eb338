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
from lexloop.corpus.knowledge.entities import EntityNames
from lexloop.corpus.knowledge.matching import EntityIndex
from lexloop.corpus.knowledge.walk import FAN_OUT, Walk


class Path(NamedTuple):
    """A walk: ``triplets[i]`` joins ``entities[i]`` to ``entities[i + 1]``."""

    entities: tuple[str, ...]
    triplets: tuple[Triplet, ...]
    score: float


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
        self.joined: list[list[str]] = []
        self._defined: dict[int, str] = {}
        for number, triplet in enumerate(self.triplets):
            entities = self._names.joined_by(triplet)
            self.joined.append(entities)
            self._of_chunk[triplet["chunk_id"]].append(number)
            if triplet["predicate"] == "means":
                self._defined[number] = self._names.name_of(triplet["subject"])
            self._graph.add_edges_from((entity, number) for entity in entities)
        self.rarity = {
            node: 1 / (1 + 0.25 * math.log2(degree))
            for node, degree in self._graph.degree()
            if isinstance(node, str)
        }
        self._near = {entity: self._nearest(entity) for entity in self.rarity}

    @classmethod
    def from_triplets(cls, triplets: Iterable[Triplet]) -> "KnowledgeGraph":
        """Build the graph; repeated triplets count once."""
        return cls(triplets)

    @property
    def entities(self) -> list[str]:
        """The names of all entities, in a stable order."""
        return sorted(self.rarity)

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """Entities for keywords with weights in (0, 1], best first; see ``EntityIndex.match``."""
        return self._index.match(keywords, limit)

    @cached_property
    def _index(self) -> EntityIndex:
        return EntityIndex(self.rarity, self._names.aliases)

    def entities_of(self, chunk_ids: Iterable[str]) -> list[str]:
        """The entities of the chunks' triplets, in the order of the chunks."""
        numbers = (number for chunk in chunk_ids for number in self._of_chunk.get(chunk, ()))
        return list(dict.fromkeys(entity for number in numbers for entity in self.joined[number]))

    def without(self, chunk_ids: Collection[str]) -> "KnowledgeGraph":
        """The graph as it would be had these chunks not been read."""
        return KnowledgeGraph(t for t in self.triplets if t["chunk_id"] not in chunk_ids)

    def walk(self, seeds: Mapping[str, float], path_length: int, limit: int) -> list[Path]:
        """The best simple paths of 1 to ``path_length`` triplets that start at a seed.

        A path starts with its seed's weight; every step multiplies it by the rarity of the entity
        it leaves and by how well its triplet meets another seed, and every step after the first
        by a decay. The definition of the entity left keeps the whole score. At a hub only its
        definitions, the triplets with the rarest other entities, and those that join two seeds
        are followed.

        Args:
            seeds: Entities and their weights in (0, 1]; unknown ones are ignored.
            path_length: S, the most triplets in one path.
            limit: How many paths at most.

        Returns:
            Paths with distinct sequences of triplets, best first.
        """
        known = {entity: seeds[entity] for entity in sorted(seeds) if entity in self.rarity}
        if path_length < 1 or limit < 1:
            return []
        return [
            Path(chain, tuple(self.triplets[number] for number in numbers), -cost)
            for cost, numbers, chain in Walk(self, known, path_length, limit).paths()
        ]

    def near(self, entity: str) -> Sequence[int]:
        """The triplets to follow from an entity; at most ``FAN_OUT``."""
        return self._near[entity]

    def triplets_at(self, entity: str) -> Collection[int]:
        """The numbers of all triplets that join an entity."""
        triplets: Collection[int] = self._graph[entity]
        return triplets

    def defines(self, number: int, entity: str) -> bool:
        """Whether a triplet says what ``entity`` means."""
        return self._defined.get(number) == entity

    def _nearest(self, entity: str) -> list[int]:
        """An entity's definitions, then the triplets whose other entities are rarest."""

        def order(number: int) -> tuple[bool, float, int]:
            others = [self.rarity[e] for e in self.joined[number][:4] if e != entity]
            return not self.defines(number, entity), -max(others, default=0.0), number

        if self._graph.degree[entity] == 1:
            return list(self._graph[entity])
        return heapq.nsmallest(FAN_OUT, self._graph[entity], key=order)


def _identity(triplet: Triplet) -> tuple[str, int, int, str, str, str, str, str]:
    return (
        triplet["document"],
        triplet["start"],
        triplet["end"],
        triplet["subject"],
        triplet["predicate"],
        triplet["object"],
        triplet["chunk_id"],
        triplet["section"],
    )
