"""The knowledge graph that one caller may see: numbers to walk on, and triplets.

Follows HyPA-RAG section 3.5: keywords find entities, and paths of bounded length from them lead to
triplets and to the passages that state them. Entities are provisions, each of its document, and
what they name: terms, topics, other acts.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path as Folder
from typing import Any, NamedTuple, Protocol

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.folding import folded
from lexloop.core.settings_groups import Walk
from lexloop.core.types import Triplet
from lexloop.knowledge.columns import (
    Columns,
    Incidence,
    Ints,
    Mask,
    pack,
    provision_name,
    read_triplets,
    unpack,
)
from lexloop.knowledge.relations import PREDICATES, Predicate, entity_key
from lexloop.knowledge.walk import (
    SHARES,
    WHOLE,
    Asked,
    EntityIndex,
    best_paths,
    by_pagerank,
    reachable_provisions,
    stated,
    triplets_around,
    whole_graph,
)

_AT_ONCE, _LOOKED_AT, _STATED = 4096, 16, 8


class TripletSource(Protocol):
    """Triplets by number, from 0, in stored order."""

    def __len__(self) -> int:
        """Return the number of triplets."""
        ...

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with these numbers, in the order asked for."""
        ...

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """Return the triplets' numbers of each chunk; empty for an unknown chunk."""
        ...


class Path(NamedTuple):
    """A walk: ``triplets[i]`` joins ``entities[i]`` to ``entities[i + 1]``."""

    entities: tuple[str, ...]
    triplets: tuple[Triplet, ...]
    score: float


class RelatedProvision(NamedTuple):
    """A provision that was looked up.

    Args:
        triplet: Triplet that leads to it.
        stated: Some of its triplets.
        by: The chunk that hands on to it.
        score: Score in (0, 1].
    """

    triplet: Triplet
    stated: list[Triplet]
    by: str
    score: float


class Relation(NamedTuple):
    """A triplet near an entity.

    ``subject`` and ``object`` are the entities it joins; ``reached`` is the entity through which it
    was found. That may be neither: the provision that states it.
    """

    triplet: Triplet
    subject: str
    object: str
    reached: str


class KnowledgeGraph:
    """A graph of entities and the triplets that join them, as one caller may see it.

    Edges are followed both ways: from a provision to what it refers to, and from there to what
    refers to it. The order of the stored triplets does not matter. The triplets themselves stay in
    their source.
    """

    def __init__(self, columns: Columns, source: TripletSource, visible: Mask) -> None:
        self._columns, self._source, self._visible = columns, source, visible

    @classmethod
    def build(cls, source: TripletSource) -> "KnowledgeGraph":
        """Build the graph of all triplets of ``source``; repeated ones count once."""
        parts = (range(n, min(n + _AT_ONCE, len(source))) for n in range(0, len(source), _AT_ONCE))
        columns = read_triplets(chain.from_iterable(map(source.fetch, parts)))
        return cls(columns, source, np.ones(len(columns.numbers), dtype=np.bool_))

    @classmethod
    def load(cls, folder: Folder, source: TripletSource) -> "KnowledgeGraph":
        """Open the files that ``save`` wrote, with the source that it was built from.

        Raises:
            DataError: The files are missing or damaged, or belong to another source.
        """
        columns = unpack(folder)
        if columns.numbers.max(initial=-1) >= len(source):
            raise DataError(
                f"The knowledge graph in {folder} knows more triplets than the {len(source)} there "
                "are.",
                "Build the index again with `lexloop index`.",
            )
        return cls(columns, source, np.ones(len(columns.numbers), dtype=np.bool_))

    def save(self, folder: Folder) -> dict[str, str]:
        """Write the files ``columns.FILES`` into ``folder``, and return their SHA-256.

        Raises:
            OSError: The files cannot be written.
            ValueError: The graph is a view.
        """
        if not self._visible.all():
            raise ValueError("a view of a graph cannot be saved")
        return pack(folder, self._columns)

    def view(self, admits: Callable[[str], bool]) -> "KnowledgeGraph":
        """Return the graph that the triplets of the admitted documents alone make."""
        shown = np.array([admits(name) for name in self._columns.documents], dtype=np.bool_)
        if shown.all():
            return self
        visible = shown[self._columns.owners] & self._visible
        return KnowledgeGraph(self._columns, self._source, visible)

    def __len__(self) -> int:
        """Return the number of visible triplets; repeated ones count once."""
        return int(self._visible.sum())

    @cached_property
    def _incidence(self) -> Incidence:
        return Incidence(self._columns, self._visible, SHARES)

    @cached_property
    def _whole(self) -> Any:
        """The graph as networkx holds it, or None if it is too large for that."""
        return whole_graph(self._incidence, parts=True) if len(self) <= WHOLE else None

    @cached_property
    def _without_parts(self) -> Any:
        return whole_graph(self._incidence, parts=False) if len(self) <= WHOLE else None

    @property
    def entities(self) -> list[str]:
        """The names of all entities, sorted."""
        return [self._columns.names[n] for n in np.flatnonzero(self._incidence.degrees).tolist()]

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """Return entities for keywords with weights in (0, 1]; see ``EntityIndex.match``."""
        weights = self._index.match(keywords, limit)
        return {self._columns.names[entity]: weight for entity, weight in weights.items()}

    @cached_property
    def _index(self) -> EntityIndex:
        return EntityIndex(self._columns, self._incidence)

    def walk(
        self, seeds: Mapping[str, float], path_length: int, limit: int, by: Walk = "paths"
    ) -> list[Path]:
        """Return the ``limit`` best simple paths of triplets that start at a seed.

        A path has 1 to ``path_length`` triplets; ``walk.best_paths`` explains its score. Unknown
        seeds are ignored. ``by`` PageRank they are single triplets, if the graph is small enough
        for it.

        Returns:
            Paths with distinct sequences of triplets, best first.
        """
        if path_length < 1 or limit < 1:
            return []
        known, whole = self._known(seeds), self._whole
        if by == "pagerank" and whole is not None:
            paths = by_pagerank(whole, known, path_length, limit)
        else:
            paths = best_paths(self._incidence, known, path_length, limit, whole=whole)
        best = sorted({step.triplets: step for step in reversed(paths)}.values())[:limit]
        fetched = self._fetch({triplet for step in best for triplet in step.triplets})
        names = self._columns.names
        return [
            Path(
                tuple(names[entity] for entity in step.chain),
                tuple(fetched[triplet] for triplet in step.triplets),
                -step.cost,
            )
            for step in best
        ]

    def look_up(
        self, chunk_ids: Iterable[str], seeds: Mapping[str, float], path_length: int, limit: int
    ) -> list[RelatedProvision]:
        """Return the provisions to look up next, reached from those of some chunks.

        A step goes from the provisions that the chunks state, best first, and their parents, to
        what they refer to, what refers to them or excepts from them, and the definitions of their
        terms. Provisions that match the seeds, the question's entities with weights in (0, 1], come
        first. Each has the triplets that it states.
        """
        if path_length < 1 or limit < 1:
            return []
        asked = Asked(self._incidence, self._known(seeds))
        names: list[str] = []
        chunks: list[list[int]] = []
        asked_for = list(chunk_ids)
        for name, numbers in zip(asked_for, self._source.numbers_of(asked_for), strict=True):
            shown = [t for t in self._triplets[numbers].tolist() if t >= 0 and self._visible[t]]
            if shown:
                names.append(name)
                chunks.append(shown)
        related = reachable_provisions(
            self._incidence, chunks, asked, path_length, limit, whole=self._without_parts
        )
        statements = {
            handed.provision: stated(self._incidence, handed.provision, asked)[:_STATED]
            for handed in related
        }
        wanted = {triplet for triplets in statements.values() for triplet in triplets}
        fetched = self._fetch(wanted.union(handed.triplet for handed in related))
        return [
            RelatedProvision(
                fetched[handed.triplet],
                [fetched[t] for t in statements[handed.provision]],
                names[handed.chunk],
                handed.score,
            )
            for handed in related
        ]

    def of_kind(self, predicate: Predicate, limit: int) -> list[Triplet]:
        """Return the first triplets of a predicate, in the order of their documents and places."""
        kind = PREDICATES.index(predicate)
        numbers = np.flatnonzero((self._columns.kinds == kind) & self._visible)[:limit].tolist()
        return list(self._fetch(numbers).values())

    def _known(self, seeds: Mapping[str, float]) -> dict[int, float]:
        numbers = ((self._number_of(name), weight) for name, weight in seeds.items())
        return {number: weight for number, weight in numbers if number >= 0}

    @cached_property
    def _triplets(self) -> Ints:
        """The triplet of each number of the source; -1 if it repeats another."""
        triplets = np.full(len(self._source), -1, dtype=np.int32)
        numbers = self._columns.numbers
        triplets[numbers] = np.arange(len(numbers), dtype=np.int32)
        return triplets

    def find(self, phrase: str) -> str | None:
        """Return the entity that a phrase names, however it is written, or None.

        If several documents have a label, the first is meant, unless the phrase says "of" which.
        """
        phrase = folded(phrase)
        name, _, document = phrase.rpartition(" of ")
        keys = [phrase, entity_key(phrase), provision_name(entity_key(name), document)]
        names = self._columns.names
        first = bisect_left(names, provision_name(keys[1], ""))
        for number in range(first, len(names)):
            if not names[number].startswith(provision_name(keys[1], "")):
                break
            keys.append(names[number])
        return next((names[n] for key in keys if (n := self._number_of(key)) >= 0), None)

    def written(self, entities: Iterable[str]) -> dict[str, str]:
        """Return entities' names as the documents write them, in the most common form."""
        return {name: self._written(name) for name in dict.fromkeys(entities)}

    def _written(self, name: str) -> str:
        number = self._number_of(name)
        if number < 0:
            return name
        key, _, document = name.partition("\n")
        near = [*self._incidence.held_by(number)[:1].tolist(), *self._incidence.near_to(number)]
        near += self._incidence.triplets_at(number)[:_LOOKED_AT].tolist()
        triplets = self._fetch(dict.fromkeys(near[:_LOOKED_AT])).values()
        if document:
            label = next(t["section"] for t in triplets if entity_key(t["section"]) == key)
            others = (provision_name(key, other) for other in self._columns.documents)
            alone = sum(self._number_of(other) >= 0 for other in others) == 1
            return label if alone else f"{label} of {document}"
        sides = (side for t in triplets for side in (t["subject"], t["object"]))
        forms = Counter(side for side in sides if entity_key(side) == key)
        return min(forms, key=lambda form: (-forms[form], len(form), form), default=key)

    def neighbourhood(self, entity: str, depth: int, limit: int) -> list[Relation]:
        """Return relations up to ``depth`` entities away, the nearest first."""
        number = self._number_of(entity)
        if number < 0:
            return []
        around = triplets_around(self._incidence, number, depth, limit)
        fetched, names = self._fetch(around), self._columns.names
        relations: list[Relation] = []
        for place, reached in around.items():
            triplet = fetched[place]
            subject, target, _ = self._incidence.joined[place].tolist()
            relations.append(
                Relation(
                    triplet,
                    names[subject] if subject >= 0 else triplet["subject"],
                    names[target] if target >= 0 else triplet["object"],
                    names[reached],
                )
            )
        return relations

    def degree(self, entity: str) -> int:
        """Return the number of triplets that join an entity; 0 for an unknown one."""
        number = self._number_of(entity)
        return int(self._incidence.degrees[number]) if number >= 0 else 0

    def _number_of(self, name: str) -> int:
        """Return the number of an entity by its name; -1 if unknown."""
        number = bisect_left(self._columns.names, name)
        if number == len(self._columns.names) or self._columns.names[number] != name:
            return -1
        return int(self._incidence.meant[number]) if self._incidence.named[number] else -1

    def _fetch(self, triplets: Iterable[int]) -> dict[int, Triplet]:
        wanted = sorted(triplets)
        numbers: list[int] = self._columns.numbers[wanted].tolist()
        return dict(zip(wanted, self._source.fetch(numbers), strict=True))
