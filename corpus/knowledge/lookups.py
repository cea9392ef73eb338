"""What a lawyer looks up next: where a provision refers to, its exceptions, sanctions and terms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lexloop.corpus.knowledge.incidence import Incidence
from lexloop.corpus.knowledge.occurrences import EXCEPTS, PENALISES, REFERS, Occurrences

_OUTWARD = {REFERS: 0.6, EXCEPTS: 0.6, PENALISES: 0.4}
"""How much of its score a step keeps to what a provision refers to, is excepted from, punishes."""
_INWARD = {EXCEPTS: 0.8, PENALISES: 0.7, REFERS: 0.3}
"""And to what is an exception to it, punishes breaking it, or merely builds on it."""
_DEFINED = 0.6
_UNMET = 0.4
"""What a step keeps to a provision that has nothing to do with the question's keywords."""
_DECAY = 0.6
_RANK = 0.2
_REACH = 200
"""Triplets of one provision or keyword that are looked at; a hub has more."""
_WIDTH = 30
"""Provisions that are left for others at each further step."""
_KEPT = 1 << 11


class LookUp(NamedTuple):
    """A provision that is looked up.

    Args:
        triplet: What leads to it, by number.
        section: The provision; the triplet itself stands in it, or refers to it.
        score: In (0, 1].
    """

    triplet: int
    section: int
    score: float


class Leads:
    """What leads on from statements, whatever is asked; of statements met lately it is kept.

    Args:
        graph: Where to look.
        found: The roles of its triplets.
    """

    def __init__(self, graph: Incidence, found: Occurrences) -> None:
        self._graph, self._roles = graph, found.roles
        self.of = lru_cache(maxsize=_KEPT)(self._of)

    def _of(self, triplets: tuple[int, ...]) -> list[tuple[int, int, float]]:
        """The triplet that leads to each provision, the provision, and the share it keeps."""
        best: dict[int, tuple[int, int, float]] = {}
        for triplet, section, share in self._every(triplets):
            if section not in best or share > best[section][2]:
                best[section] = triplet, section, share
        return [*best.values()]

    def _every(self, triplets: Sequence[int]) -> Iterator[tuple[int, int, float]]:
        graph, roles = self._graph, self._roles
        around: dict[int, None] = {}
        for triplet in triplets:
            sections = graph.sections_of(triplet)
            around.update(dict.fromkeys(sections))
            joined = graph.joined_by(triplet)
            if share := _OUTWARD.get(int(roles[triplet])):
                targets = (e for e in joined if e not in sections and len(graph.held_by(e)))
                yield from ((triplet, target, share) for target in targets)
            for term in joined:
                yield from self._definitions(term)
        for section in around:
            standing = set(graph.held_by(section).tolist())
            at = graph.triplets_at(section)
            for triplet in at[np.isin(roles[at], list(_INWARD))][:_REACH].tolist():
                if triplet not in standing:
                    share = _INWARD[int(roles[triplet])]
                    yield from ((triplet, own, share) for own in graph.sections_of(triplet)[:1])

    def _definitions(self, term: int) -> Iterator[tuple[int, int, float]]:
        rarity = float(self._graph.rarity[term])
        for triplet in self._graph.near_to(term):
            if self._graph.defined[triplet] != term:
                return  # definitions come first
            for own in self._graph.sections_of(triplet)[:1]:
                yield triplet, own, _DEFINED * rarity


class LookUps:
    """One search, from the provisions that retrieved chunks state.

    Args:
        graph: Where to look.
        leads: What leads on from its statements.
        seeds: Entities of the question's keywords with their weights in (0, 1], by number.
    """

    def __init__(self, graph: Incidence, leads: Leads, seeds: Mapping[int, float]) -> None:
        self._graph, self._leads = graph, leads
        self._met: dict[int, float] = {}
        self._meeting: dict[int, float] = {}
        for seed, weight in seeds.items():
            known = weight * float(graph.rarity[seed])
            for triplet in graph.triplets_at(seed)[:_REACH].tolist():
                self._met[triplet] = max(known, self._met.get(triplet, 0.0))
        self._best: dict[int, LookUp] = {}

    def found(self, chunks: Sequence[Iterable[int]], length: int) -> list[LookUp]:
        """The provisions up to ``length`` steps away, best first.

        Args:
            chunks: The triplets of each retrieved chunk, the best chunk first.
            length: S of the plan.
        """
        seen = [[t for t in found if t >= 0 and self._graph.sections_of(t)] for found in chunks]
        stated = [triplets for triplets in seen if triplets]
        here = {s for triplets in stated for t in triplets for s in self._graph.sections_of(t)}
        for rank, triplets in enumerate(stated):
            self._leave(triplets, 1 / (1 + _RANK * rank))
        for _ in range(length - 1):
            ring = sorted(self._best.values(), key=_order)[:_WIDTH]
            for reached in ring:
                held = self._graph.held_by(reached.section)[:_REACH].tolist()
                self._leave(held, reached.score * _DECAY)
        return sorted((up for s, up in self._best.items() if s not in here), key=_order)

    def statements(self, section: int) -> list[int]:
        """The triplets of a provision, those first that have most to do with the keywords."""
        held: list[int] = self._graph.held_by(section)[:_REACH].tolist()
        return sorted(held, key=lambda triplet: -self._met.get(triplet, 0.0))

    def _leave(self, triplets: Sequence[int], score: float) -> None:
        for triplet, section, share in self._leads.of(tuple(triplets)):
            gained = score * share * (_UNMET + (1 - _UNMET) * self._meets(section))
            known = self._best.get(section)
            if known is None or gained > known.score:
                self._best[section] = LookUp(triplet, section, gained)

    def _meets(self, section: int) -> float:
        """How much a provision has to do with the question's keywords, in [0, 1]."""
        known = self._meeting.get(section)
        if known is None:
            held = self._graph.held_by(section)[:_REACH].tolist()
            known = max((self._met.get(triplet, 0.0) for triplet in held), default=0.0)
            self._meeting[section] = known
        return known


def _order(found: LookUp) -> tuple[float, int]:
    return -found.score, found.section
