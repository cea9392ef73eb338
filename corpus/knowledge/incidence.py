"""Which entities each triplet joins, as arrays, and what to follow from each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.knowledge.occurrences import Ints

FAN_OUT = 12
"""Triplets followed from one entity; a hub has more, and only its most telling ones count."""
_TELLING = 4
"""Entities of a triplet, from its first, that say how telling it is."""


@dataclass(frozen=True)
class Incidence:
    """A bipartite graph of triplets and entities, both as numbers.

    Args:
        joined_offsets: Where each triplet's entities begin, shape (triplets + 1,).
        joined: The entities of the triplets, those of the object first.
        at_offsets: Where each entity's triplets begin, shape (names + 1,).
        at: The triplets of the entities, ascending.
        near_offsets: Where the triplets to follow from each entity begin, shape (names + 1,).
        near: At most ``FAN_OUT`` triplets of each entity, the most telling first.
        defined: The entity that each triplet defines, or -1, shape (triplets,).
        within_offsets: Where the sections that each triplet stands in begin, shape (triplets + 1,).
        within: The sections of the triplets, the innermost first.
        held_offsets: Where the triplets that each section holds begin, shape (names + 1,).
        held: The triplets of the sections, ascending.
    """

    joined_offsets: Ints
    joined: Ints
    at_offsets: Ints
    at: Ints
    near_offsets: Ints
    near: Ints
    defined: Ints
    within_offsets: Ints
    within: Ints
    held_offsets: Ints
    held: Ints

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """Of each entity, in (0, 1], low at hubs; 0 for a name without triplets."""
        return _rarity(np.diff(self.at_offsets))

    def joined_by(self, triplet: int) -> list[int]:
        """The entities of a triplet, without repetitions."""
        first, end = self.joined_offsets[triplet : triplet + 2].tolist()
        found: list[int] = self.joined[first:end].tolist()
        return found

    def pairs_of(self, triplets: Ints) -> tuple[Ints, Ints]:
        """Each of the triplets beside each of its entities, in their order."""
        counts = self.joined_offsets[triplets + 1] - self.joined_offsets[triplets]
        return np.repeat(triplets, counts), self.joined[runs_of(self.joined_offsets, triplets)]

    def near_to(self, entity: int) -> list[int]:
        """The triplets to follow from an entity."""
        first, end = self.near_offsets[entity : entity + 2].tolist()
        found: list[int] = self.near[first:end].tolist()
        return found

    def triplets_at(self, entity: int) -> Ints:
        """The triplets of an entity, ascending."""
        return self.at[self.at_offsets[entity] : self.at_offsets[entity + 1]]

    def sections_of(self, triplet: int) -> list[int]:
        """The sections that a triplet stands in, the innermost first."""
        first, end = self.within_offsets[triplet : triplet + 2].tolist()
        found: list[int] = self.within[first:end].tolist()
        return found

    def held_by(self, section: int) -> Ints:
        """The triplets that stand in a section, ascending; none for what is no section."""
        return self.held[self.held_offsets[section] : self.held_offsets[section + 1]]

    def degree(self, entity: int) -> int:
        """How many triplets join an entity."""
        return int(self.at_offsets[entity + 1] - self.at_offsets[entity])


Pairs = tuple[Ints, Ints]
"""Triplets, ascending, and an entity beside each."""


def connect(pairs: Pairs, sections: Pairs, count: int, names: int, defined: Ints) -> Incidence:
    """The incidence of pairs of a triplet and an entity.

    Args:
        pairs: Which entities each triplet joins, in their order; a repeated pair counts once.
        sections: Which sections each triplet stands in, the innermost first.
        count: How many triplets there are.
        names: How many names there are.
        defined: The entity that each triplet defines, or -1.
    """
    triplets, entities = pairs
    # numbers of pairs outgrow 32 bits
    _, first = np.unique(triplets.astype(np.int64) * max(names, 1) + entities, return_index=True)
    first.sort()
    triplets, entities = triplets[first], entities[first]
    joined_offsets = offsets_of(triplets, count)
    order = np.argsort(entities, kind="stable")
    at, owners = triplets[order], entities[order]
    at_offsets = offsets_of(owners, names)
    telling = _telling(joined_offsets, entities, _rarity(np.diff(at_offsets)), at, owners)
    best = np.lexsort((at, -telling, defined[at] != owners, owners))
    place = np.arange(len(at), dtype=np.int64) - at_offsets[owners[best]]
    near = best[place < FAN_OUT]
    standing, inside = sections
    by_section = np.argsort(inside, kind="stable")
    return Incidence(
        joined_offsets=joined_offsets,
        joined=entities,
        at_offsets=at_offsets,
        at=at,
        near_offsets=offsets_of(owners[near], names),
        near=at[near],
        defined=defined,
        within_offsets=offsets_of(standing, count),
        within=inside.astype(np.int32),
        held_offsets=offsets_of(inside[by_section], names),
        held=standing[by_section].astype(np.int32),
    )


def offsets_of(owners: NDArray[np.integer[Any]], count: int) -> Ints:
    """Where the run of each of ``count`` owners begins in ``owners``, which ascend."""
    ends = np.cumsum(np.bincount(owners, minlength=count))
    return np.concatenate(([0], ends)).astype(np.int32)


def runs_of(offsets: Ints, owners: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The positions of every owner's run, one run after the other."""
    counts = (offsets[owners + 1] - offsets[owners]).astype(np.int64)
    begins = np.repeat(offsets[owners] - np.cumsum(counts) + counts, counts)
    positions: NDArray[np.int64] = np.arange(len(begins), dtype=np.int64) + begins
    return positions


def _rarity(degrees: Ints) -> NDArray[np.float64]:
    found = np.zeros(len(degrees))
    known = degrees > 0
    found[known] = 1 / (1 + 0.25 * np.log2(degrees[known]))
    return found


def _telling(
    offsets: Ints, joined: Ints, rarity: NDArray[np.float64], triplets: Ints, entities: Ints
) -> NDArray[np.float64]:
    """How rare the rarest other entity of each triplet is, seen from one of its entities."""
    best = np.zeros(len(triplets))
    starts, ends = offsets[triplets], offsets[triplets + 1]
    for place in range(_TELLING):
        there = starts + place < ends
        other = joined[starts[there] + place]
        shown = np.where(other == entities[there], 0.0, rarity[other])
        best[there] = np.maximum(best[there], shown)
    return best
