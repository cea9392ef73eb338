"""The entities that each visible triplet joins, resolved from the occurrences of names."""

from collections import defaultdict
from functools import cache, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lexloop.knowledge.entities import (
    cited_by,
    outer_number,
    section_label,
)
from lexloop.knowledge.incidence import (
    CITED,
    MENTIONED,
    NAMING,
    SECTION,
    Incidence,
    Ints,
    Occurrences,
    connect,
)

Mask = NDArray[np.bool_]
_SHARED_SECTIONS = 3
"""A reference that may mean more sections than these is left unresolved."""


def resolve(found: Occurrences, visible: Mask) -> Incidence:
    """Join the visible triplets by their entities; no other triplet has an influence.

    Acronyms are merged with what they stand for: by their own document's word, or by that of
    another when no two differ. References meet the section that they name, of the same document
    first. Names that subjects have are recognised within other phrases. The mask ``visible`` has
    the shape (triplets,).
    """
    triplet = np.repeat(np.arange(len(visible), dtype=np.int32), np.diff(found.place_offsets))
    seen = np.flatnonzero(visible[triplet])
    triplet, place, kind = triplet[seen], found.places[seen], found.kinds[seen]
    owner = found.owners[triplet]
    aliases = Aliases(found, visible)
    entity = place.copy()
    named = kind < CITED
    entity[named] = aliases.resolved(place[named], owner[named])
    keep = kind != CITED
    loose = np.flatnonzero((kind == MENTIONED) & (entity == place))
    subjects = np.zeros(len(found.names), dtype=np.bool_)
    subjects[entity[kind == NAMING]] = True
    # names that subjects have may be recognised within phrases
    keep[loose] = (subjects & (found.speakable > 0))[place[loose]]
    sections = _Sections(found, place[kind == SECTION], owner[kind == SECTION])
    entity[kind == SECTION] = sections.nodes
    cited = np.flatnonzero(kind == CITED)
    pairs = [sections.cited(r, d) for r, d in _tuples(place[cited], owner[cited])]
    where = np.concatenate((np.flatnonzero(keep), np.repeat(cited, [len(p) for p in pairs])))
    what = np.concatenate((entity[keep], np.array([e for p in pairs for e in p], dtype=np.int32)))
    order = np.argsort(where, kind="stable")
    where, what = where[order], what[order]
    nameless = bool(found.names) and not found.names[0]
    if nameless:
        where, what = where[what > 0], what[what > 0]  # the empty name is no entity
    defining = (found.definitions >= 0) & visible
    defined = np.full(len(visible), -1, dtype=np.int32)
    defined[defining] = aliases.resolved(found.definitions[defining], found.owners[defining])
    standing = np.flatnonzero((kind == SECTION) & (entity > 0 if nameless else True))
    sections_of = triplet[standing], entity[standing]
    return connect((triplet[where], what), sections_of, len(visible), len(found.names), defined)


class Aliases:
    """The long forms of the short forms in visible documents."""

    def __init__(self, found: Occurrences, visible: Mask) -> None:
        self._own: dict[tuple[int, int], set[int]] = defaultdict(set)
        self.acronyms: dict[int, set[int]] = defaultdict(set)
        rows: list[list[int]] = found.aliases[visible[found.aliases[:, 0]]].tolist()
        shorts = {short for _, short, _, _ in rows}
        for triplet, short, long_form, acronym in rows:
            self._own[short, int(found.owners[triplet])].add(long_form)
            if acronym:
                self.acronyms[short].add(long_form)
        self._is_short = np.zeros(len(found.names), dtype=np.bool_)
        self._is_short[list(shorts)] = True
        self._shorts = shorts

    def resolved(self, names: Ints, owners: Ints) -> Ints:
        """Return each name, or its long form in its document."""
        result = names.copy()
        short = np.flatnonzero(self._is_short[names])
        pairs = _tuples(names[short], owners[short])
        result[short] = [self._long_form(name, document) for name, document in pairs]
        return result

    def _long_form(self, name: int, document: int) -> int:
        """Return a name's long form; a form with two, or with a short one again, stays."""
        meant = self._own.get((name, document)) or self.acronyms.get(name, set())
        return next(iter(meant)) if len(meant) == 1 and not meant & self._shorts else name


class _Sections:
    """The sections that visible triplets stand in.

    ``nodes`` are the entities of the sections given; ``cited`` returns the sections that a
    reference of a document resolves to, or the reference itself.
    """

    def __init__(self, found: Occurrences, labels: Ints, owners: Ints) -> None:
        self._found = found
        count = max(len(found.documents), 1)
        pairs, inverse = np.unique(labels.astype(np.int64) * count + owners, return_inverse=True)
        held = [divmod(pair, count) for pair in pairs.tolist()]
        self._holding: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(
            partial(defaultdict, list)
        )
        for label, document in sorted(held, key=lambda pair: (found.labels[pair[0]], pair[1])):
            said = section_label(found.labels[label])
            self._holding[said.number][document].append((label, said.kind))
        names = {(int(found.label_names[label]), document) for label, document in held}
        shared = np.bincount([name for name, _ in names], minlength=len(found.names)) > 1
        apart: list[list[int]] = found.variants[shared[found.variants[:, 0]]].tolist()
        self._apart = {(name, document): node for name, document, node in apart}
        nodes = np.array([self._node(label, document) for label, document in held], dtype=np.int32)
        self.nodes: Ints = nodes[inverse]
        # many references of a document ask for the same sections
        self.cited, self._meant = cache(self._cited), cache(self._few)

    def _node(self, label: int, document: int) -> int:
        name = int(self._found.label_names[label])
        return self._apart.get((name, document), name)

    def _cited(self, reference: int, document: int) -> list[int]:
        said = cited_by(self._found.references[reference])
        number = said.number
        while number:
            own = document if document in self._holding.get(number, {}) else None
            if meant := self._meant(number, said.kind, own):
                return meant
            number = outer_number(number)
        return [int(self._found.reference_names[reference])]

    def _few(self, number: str, kind: str, document: int | None) -> list[int]:
        """Return the sections of this number, of one document or all; none where they are many."""
        held = self._holding.get(number, {})
        found = (
            (label, place)
            for place in (sorted(held) if document is None else [document])
            for label, of_kind in held[place]
            if not kind or not of_kind or of_kind == kind
        )
        meant = list(islice(found, _SHARED_SECTIONS + 1))
        return [self._node(*at) for at in meant] if len(meant) <= _SHARED_SECTIONS else []


def _tuples(one: Ints, other: Ints) -> list[tuple[int, int]]:
    return list(zip(one.tolist(), other.tolist(), strict=True))
