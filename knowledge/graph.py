"""The knowledge graph: entities and the triplets that join them, matched and walked.

Follows HyPA-RAG section 3.5: keywords find entities, and paths of bounded length from them bring
up triplets and, through these, the passages that state them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from pathlib import Path as Folder
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import DataError
from lexloop.core.types import Triplet
from lexloop.knowledge.entities import EntityIndex
from lexloop.knowledge.incidence import Incidence, Ints, Occurrences, pack, unpack
from lexloop.knowledge.phrases import entity_key
from lexloop.knowledge.reading import TripletSource, read_triplets
from lexloop.knowledge.resolve import Aliases, resolve
from lexloop.knowledge.walk import (
    Leads,
    LookUps,
    Relation,
    Walk,
    relation,
    triplets_around,
    written_form,
)

_SPELLINGS, _LOOKED_AT, _STATED = 50, 16, 8


class Path(NamedTuple):
    """A walk: ``triplets[i]`` joins ``entities[i]`` to ``entities[i + 1]``."""

    entities: tuple[str, ...]
    triplets: tuple[Triplet, ...]
    score: float


class RelatedProvision(NamedTuple):
    """A provision that was looked up: what leads to it, some of its triplets, its score."""

    triplet: Triplet
    stated: list[Triplet]
    score: float


class KnowledgeGraph:
    """A bipartite graph of entities and triplets.

    Edges have no direction: a walk goes from "employer" to its duties and from a duty to whoever
    has it. The order in which triplets are stored does not matter. The triplets themselves stay in
    their source.
    """

    def __init__(
        self,
        found: Occurrences,
        source: TripletSource,
        incidence: Incidence,
        visible: NDArray[np.bool_],
    ) -> None:
        self._found, self._source = found, source
        self._incidence, self._visible = incidence, visible

    @classmethod
    def build(cls, source: TripletSource) -> "KnowledgeGraph":
        """Build the graph of all triplets of ``source``; repeated ones count once."""
        found = read_triplets(source)
        visible = np.ones(len(found.numbers), dtype=np.bool_)
        return cls(found, source, resolve(found, visible), visible)

    @classmethod
    def load(cls, folder: Folder, source: TripletSource) -> "KnowledgeGraph":
        """Open what ``save`` wrote, with the source that it was built from.

        Raises:
            DataError: The files are missing or damaged, or belong to another source.
        """
        found, incidence = unpack(folder)
        if found.numbers.max(initial=-1) >= len(source):
            raise DataError(
                f"The knowledge graph in {folder} knows more triplets than the {len(source)} there "
                "are.",
                "Build the index again with `lexloop index`.",
            )
        return cls(found, source, incidence, np.ones(len(found.numbers), dtype=np.bool_))

    def save(self, folder: Folder) -> dict[str, str]:
        """Write the files ``incidence.FILES`` into ``folder``, and return their SHA-256.

        Raises:
            OSError: They cannot be written.
            ValueError: The graph is a view.
        """
        if not self._visible.all():
            raise ValueError("a view of a graph cannot be saved")
        return pack(folder, self._found, self._incidence)

    def view(self, admits: Callable[[str], bool]) -> "KnowledgeGraph":
        """Return the graph that the triplets of the admitted documents alone make."""
        shown = np.array([admits(name) for name in self._found.documents], dtype=np.bool_)
        if shown.all():
            return self
        visible = shown[self._found.owners] & self._visible
        return KnowledgeGraph(self._found, self._source, resolve(self._found, visible), visible)

    def __len__(self) -> int:
        """Return the number of visible triplets; repeated ones count once."""
        return int(self._visible.sum())

    @property
    def entities(self) -> list[str]:
        """The names of all entities, sorted."""
        return [self._found.names[entity] for entity in self._entities.tolist()]

    @property
    def _entities(self) -> Ints:
        return np.flatnonzero(np.diff(self._incidence.at_offsets)).astype(np.int32)

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """Return entities for keywords with weights in (0, 1]; see ``EntityIndex.match``."""
        return self._index.match(keywords, limit)

    @cached_property
    def _index(self) -> EntityIndex:
        return EntityIndex(self._found, self._entities, self._aliases.acronyms)

    @cached_property
    def _aliases(self) -> Aliases:
        return Aliases(self._found, self._visible)

    def entities_of(self, chunk_ids: Iterable[str]) -> list[str]:
        """Return the entities of the chunks' triplets, in the order of the chunks."""
        found: dict[int, None] = {}
        for numbers in self._source.numbers_of(list(chunk_ids)):
            for triplet in sorted(self._triplets[numbers].tolist()):
                if triplet >= 0:
                    found.update(dict.fromkeys(self._incidence.joined_by(triplet)))
        return [self._found.names[entity] for entity in found]

    @cached_property
    def _leads(self) -> Leads:
        return Leads(self._incidence, self._found)

    @cached_property
    def _triplets(self) -> Ints:
        """The triplet of each number of the source; -1 where it repeats another."""
        triplets = np.full(len(self._source), -1, dtype=np.int32)
        triplets[self._found.numbers] = np.arange(len(self._found.numbers), dtype=np.int32)
        return triplets

    def walk(self, seeds: Mapping[str, float], path_length: int, limit: int) -> list[Path]:
        """Return the ``limit`` best simple paths of triplets that start at a seed.

        A path has 1 to ``path_length`` triplets. It starts with its seed's weight, in (0, 1]; every
        step multiplies it by the specificity of the entity it leaves and by how well its triplet
        meets another seed, and every step after the first by a decay. The definition of the entity
        left keeps the whole score. At a hub only its definitions, the triplets with the most
        specific other entities, and those that join two seeds are followed. Unknown seeds are
        ignored.

        Returns:
            Paths with distinct sequences of triplets, best first.
        """
        if path_length < 1 or limit < 1:
            return []
        numbers = {name: self._number_of(name) for name in sorted(seeds)}
        known = {n: seeds[name] for name, n in numbers.items() if n is not None}
        steps = Walk(self._incidence, known, path_length, limit).paths()
        fetched = self._fetch({triplet for step in steps for triplet in step.triplets})
        names = self._found.names
        return [
            Path(
                tuple(names[entity] for entity in step.chain),
                tuple(fetched[triplet] for triplet in step.triplets),
                -step.cost,
            )
            for step in steps
        ]

    def look_up(
        self, chunk_ids: Iterable[str], seeds: Mapping[str, float], path_length: int, limit: int
    ) -> list[RelatedProvision]:
        """Return the provisions to look up next, which those of chunks lead to.

        From the provisions that chunks state, the best first, a step goes to those that they refer
        to, to their exceptions and sanctions, and to the definitions of their terms; each with what
        it states. Provisions that meet the seeds, the question's entities with weights in (0, 1],
        come first.
        """
        if path_length < 1 or limit < 1:
            return []
        numbers = {n: weight for name, weight in seeds.items()
                   if (n := self._number_of(name)) is not None}  # fmt: skip
        looking = LookUps(self._incidence, self._leads, numbers)
        held = self._source.numbers_of(list(chunk_ids))
        chunks = [self._triplets[numbers_of].tolist() for numbers_of in held]
        reached = looking.found(chunks, path_length)[:limit]
        stated = {up.section: looking.statements(up.section)[:_STATED] for up in reached}
        wanted = {triplet for triplets in stated.values() for triplet in triplets}
        fetched = self._fetch(wanted.union(up.triplet for up in reached))
        return [
            RelatedProvision(
                fetched[up.triplet], [fetched[t] for t in stated[up.section]], up.score
            )
            for up in reached
        ]

    def find(self, phrase: str) -> str | None:
        """Return the entity that a phrase names, however it is written; None if none."""
        return next(
            (name for name in self._spelled(phrase) if self._number_of(name) is not None), None
        )

    def _spelled(self, phrase: str) -> Iterator[str]:
        """Yield a phrase's possible names: as it is, or with short forms written out."""
        yield phrase
        key = entity_key(phrase)
        yield key
        acronyms, names = self._aliases.acronyms, self._found.names
        numbers = [self._index_of(word) for word in key.split(" ")] if acronyms else []
        if any(number in acronyms for number in numbers):
            meant = [
                [word, *(names[n] for n in sorted(acronyms.get(number, ())))]
                for word, number in zip(key.split(" "), numbers, strict=True)
            ]
            for words in islice(product(*meant), _SPELLINGS):
                yield " ".join(words)

    def written(self, entities: Iterable[str]) -> dict[str, str]:
        """Return entities' names as the documents write them; lower case stays."""
        return {name: self._written(name) for name in dict.fromkeys(entities)}

    def _written(self, name: str) -> str:
        number = self._number_of(name)
        if number is None:
            return name
        near = [*self._incidence.near_to(number)]
        near += self._incidence.triplets_at(number)[:_LOOKED_AT].tolist()
        triplets = self._fetch(dict.fromkeys(near[:_LOOKED_AT])).values()
        return written_form(name, triplets, lambda phrase: {*self._spelled(phrase)})

    def neighbourhood(self, entity: str, depth: int, limit: int) -> list[Relation]:
        """Return relations up to ``depth`` entities away, the nearest first."""
        number = self._number_of(entity)
        if number is None:
            return []
        around = triplets_around(self._incidence, number, depth, limit)
        fetched, names = self._fetch(around), self._found.names
        return [
            relation(
                fetched[triplet],
                [names[end] for end in self._incidence.joined_by(triplet)],
                names[reached],
            )
            for triplet, reached in around.items()
        ]

    def degree(self, entity: str) -> int:
        """Return the number of triplets that join an entity; 0 for an unknown one."""
        number = self._number_of(entity)
        return 0 if number is None else self._incidence.degree(number)

    def _number_of(self, entity: str) -> int | None:
        number = self._index_of(entity)
        return number if number >= 0 and self._incidence.degree(number) else None

    def _index_of(self, name: str) -> int:
        number = bisect_left(self._found.names, name)
        held = number < len(self._found.names) and self._found.names[number] == name
        return number if held else -1

    def _fetch(self, triplets: Iterable[int]) -> dict[int, Triplet]:
        wanted = sorted(triplets)
        numbers: list[int] = self._found.numbers[wanted].tolist()
        return dict(zip(wanted, self._source.fetch(numbers), strict=True))
