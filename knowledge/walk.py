"""Searches of the knowledge graph: best paths, related provisions, and neighbourhoods."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lexloop.core.types import Triplet
from lexloop.knowledge.entities import cites, named_by, provisions_of
from lexloop.knowledge.incidence import (
    EXCEPTS,
    FAN_OUT,
    PENALISES,
    REFERS,
    Incidence,
    Occurrences,
)
from lexloop.knowledge.phrases import DETERMINERS, alternatives, entity_key

_DECAY = 0.6
_SEED_REACH = 400
"""Triplets of one seed that are searched for other seeds."""
_UNMATCHED = 0.5
"""The share of the score that a step keeps when its triplet meets no further seed."""
_OUTWARD = {REFERS: 0.6, EXCEPTS: 0.6, PENALISES: 0.4}
"""The share that a step keeps to a provision's references, to its rule, to what it punishes."""
_INWARD = {EXCEPTS: 0.8, PENALISES: 0.7, REFERS: 0.3}
"""The share that a step keeps to its exceptions, to its sanctions, and to what refers to it."""
_DEFINED = 0.6
_UNMET = 0.4
"""The share that a step keeps to a provision that has none of the question's keywords."""
_RANK = 0.2
_REACH = 200
"""Triplets of one provision or keyword that are looked at; a hub has more."""
_WIDTH = 30
"""Provisions that are left for others at each further step."""
_REMEMBERED = 1 << 11
_EDGES = " ,;:.“”‘’\"'"


class PartialPath(NamedTuple):
    """A path found or to be continued; the lower the cost (minus its score), the better."""

    cost: float
    triplets: tuple[int, ...]
    chain: tuple[int, ...]


class Walk:
    """A best-first search for the best simple paths.

    Args:
        seeds: Entities with their weights in (0, 1], by number.
        path_length: S, the most triplets in a path.
    """

    def __init__(
        self, graph: Incidence, seeds: Mapping[int, float], path_length: int, limit: int
    ) -> None:
        self._graph, self._seeds = graph, seeds
        self._path_length, self._limit = path_length, limit
        self._near = lru_cache(maxsize=None)(graph.near_to)  # paths meet again
        self._met = self._meetings()
        self._bridges = self._bridging()
        self._queue: list[PartialPath] = []
        self._best: list[float] = []

    def paths(self) -> list[PartialPath]:
        """Return the best paths, best first, each with its entities and one that it reaches."""
        for entity, weight in self._seeds.items():
            self._continue(PartialPath(-weight, (), (entity,)))
        found: dict[tuple[int, ...], PartialPath] = {}
        for _ in range(3 * self._limit):
            if not self._queue or len(found) == self._limit:
                break
            cost, triplets, chain = heapq.heappop(self._queue)
            ends = [e for e in self._graph.joined_by(triplets[-1]) if e not in chain]
            found.setdefault(triplets, PartialPath(cost, triplets, (*chain, *ends[:1])))
            if len(triplets) < self._path_length:
                for end in ends:
                    self._continue(PartialPath(cost * _DECAY, triplets, (*chain, end)))
        return list(found.values())

    def _continue(self, path: PartialPath) -> None:
        """Queue the triplets that continue ``path`` from the last entity of its chain."""
        leave = path.chain[-1]
        if self._hopeless(path.cost):
            return
        specificity = float(self._graph.specificity[leave])
        for triplet in dict.fromkeys((*self._bridges.get(leave, ()), *self._near(leave))):
            if triplet in path.triplets:
                continue
            cost = path.cost
            if self._graph.defined[triplet] != leave:
                met = (self._seeds[s] for s in self._met.get(triplet, ()) if s not in path.chain)
                cost *= specificity * (_UNMATCHED + (1 - _UNMATCHED) * max(met, default=0.0))
            if not self._hopeless(cost):
                full = len(self._best) == 3 * self._limit
                (heapq.heappushpop if full else heapq.heappush)(self._best, -cost)
                heapq.heappush(
                    self._queue, PartialPath(cost, (*path.triplets, triplet), path.chain)
                )

    def _hopeless(self, cost: float) -> bool:
        """Return whether so many better paths are queued that this one's turn cannot come."""
        return len(self._best) == 3 * self._limit and -cost < self._best[0]

    def _meetings(self) -> dict[int, list[int]]:
        """Return the seeds that each triplet near a seed joins."""
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
        return dict(met)

    def _bridging(self) -> dict[int, list[int]]:
        """Return for each seed the triplets that join it to the weightiest other seeds."""
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


class LookUp(NamedTuple):
    """A provision that is looked up.

    Args:
        triplet: The triplet that leads to it, by number.
        section: The provision; the triplet itself stands in it, or refers to it.
        score: In (0, 1].
    """

    triplet: int
    section: int
    score: float


class Leads:
    """Steps from statements to further provisions, whatever is asked; recent ones are cached."""

    def __init__(self, graph: Incidence, found: Occurrences) -> None:
        self._graph, self._roles = graph, found.roles
        self.of = lru_cache(maxsize=_REMEMBERED)(self._of)

    def _of(self, triplets: tuple[int, ...]) -> list[LookUp]:
        """Return the best step to each provision; its score is the share that the step keeps."""
        best: dict[int, LookUp] = {}
        for lead in self._every(triplets):
            if lead.section not in best or lead.score > best[lead.section].score:
                best[lead.section] = lead
        return [*best.values()]

    def _every(self, triplets: Sequence[int]) -> Iterator[LookUp]:
        graph, roles = self._graph, self._roles
        around: dict[int, None] = {}
        for triplet in triplets:
            sections = graph.sections_of(triplet)
            around.update(dict.fromkeys(sections))
            joined = graph.joined_by(triplet)
            if share := _OUTWARD.get(int(roles[triplet])):
                targets = (e for e in joined if e not in sections and len(graph.held_by(e)))
                yield from (LookUp(triplet, target, share) for target in targets)
            for term in joined:
                yield from self._definitions(term)
        for section in around:
            standing = set(graph.held_by(section).tolist())
            at = graph.triplets_at(section)
            for triplet in at[np.isin(roles[at], list(_INWARD))][:_REACH].tolist():
                if triplet not in standing:
                    share = _INWARD[int(roles[triplet])]
                    yield from (LookUp(triplet, s, share) for s in graph.sections_of(triplet)[:1])

    def _definitions(self, term: int) -> Iterator[LookUp]:
        specificity = float(self._graph.specificity[term])
        for triplet in self._graph.near_to(term):
            if self._graph.defined[triplet] != term:
                return  # definitions come first
            for own in self._graph.sections_of(triplet)[:1]:
                yield LookUp(triplet, own, _DEFINED * specificity)


class LookUps:
    """One search, from the provisions that retrieved chunks state.

    Args:
        seeds: Entities of the question's keywords with their weights in (0, 1], by number.
    """

    def __init__(self, graph: Incidence, leads: Leads, seeds: Mapping[int, float]) -> None:
        self._graph, self._leads = graph, leads
        self._met: dict[int, float] = {}
        for seed, weight in seeds.items():
            known = weight * float(graph.specificity[seed])
            for triplet in graph.triplets_at(seed)[:_REACH].tolist():
                self._met[triplet] = max(known, self._met.get(triplet, 0.0))
        self._meets = lru_cache(maxsize=None)(self._meeting)
        self._best: dict[int, LookUp] = {}

    def found(self, chunks: Sequence[Iterable[int]], length: int) -> list[LookUp]:
        """Return the provisions up to ``length`` steps away, best first.

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
                self._leave(self._held_by(reached.section), reached.score * _DECAY)
        return sorted((up for s, up in self._best.items() if s not in here), key=_order)

    def statements(self, section: int) -> list[int]:
        """Return the triplets of a provision, those nearest to the keywords first."""
        return sorted(self._held_by(section), key=lambda triplet: -self._met.get(triplet, 0.0))

    def _leave(self, triplets: Sequence[int], score: float) -> None:
        for triplet, section, share in self._leads.of(tuple(triplets)):
            gained = score * share * (_UNMET + (1 - _UNMET) * self._meets(section))
            known = self._best.get(section)
            if known is None or gained > known.score:
                self._best[section] = LookUp(triplet, section, gained)

    def _meeting(self, section: int) -> float:
        """Return how much a provision has to do with the question's keywords, in [0, 1]."""
        return max((self._met.get(t, 0.0) for t in self._held_by(section)), default=0.0)

    def _held_by(self, section: int) -> list[int]:
        held: list[int] = self._graph.held_by(section)[:_REACH].tolist()
        return held


def _order(found: LookUp) -> tuple[float, int]:
    return -found.score, found.section


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


class Relation(NamedTuple):
    """A triplet near an entity.

    ``subject`` and ``object`` are the entities it leads from and to; ``reached`` is the one through
    which it was found, which may be neither: the section that states it, or one that is mentioned.
    """

    triplet: Triplet
    subject: str
    object: str
    reached: str


def relation(triplet: Triplet, joined: Sequence[str], reached: str) -> Relation:
    """Return a triplet between two of the entities that it joins, its object's first."""
    of_object = 1 if cites(triplet["object"]) else len(named_by(triplet["object"]))
    target = joined[0] if of_object else triplet["object"]
    named = [name for name in named_by(triplet["subject"]) if name in joined]
    if named:
        subject = named[0]
    elif triplet["predicate"] == "alias_of" or len(joined) <= of_object:
        subject = triplet["subject"]  # a short form is one with what it stands for
    else:
        subject = joined[of_object]
    return Relation(triplet, subject, target, reached)


def written_form(
    name: str, triplets: Iterable[Triplet], meant: Callable[[str], Container[str]]
) -> str:
    """Return a name as the documents write it; of several forms the commonest and shortest.

    The name is as the graph has it, in small letters and the singular; the triplets are some that
    mention it; ``meant`` leads from a name to the names that it may stand for.
    """
    forms: Counter[str] = Counter()
    for triplet in triplets:
        phrases = (*provisions_of(triplet["section"]), triplet["subject"], triplet["object"])
        for phrase in phrases:
            whole = [part for part in (phrase, *alternatives(phrase)) if name in meant(part)]
            forms.update(whole[:1] or _runs(name, phrase.split(), meant))
    # one that is spelled out goes before a short form of it
    return min(
        forms, key=lambda form: (entity_key(form) != name, -forms[form], len(form), form),
        default=name,
    )  # fmt: skip


def _runs(name: str, words: Sequence[str], meant: Callable[[str], Container[str]]) -> Iterator[str]:
    """Yield the first run of words that has a name."""
    for size in range(1, min(name.count(" ") + 2, len(words)) + 1):
        for first in range(len(words) - size + 1):
            run = " ".join(words[first : first + size]).strip(_EDGES)
            if words[first].lower() not in DETERMINERS and name in meant(run):
                yield run
                return
