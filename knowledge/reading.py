"""Occurrences of names in triplets."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from lexloop.core.types import Triplet
from lexloop.documents.text.tokens import tokenize
from lexloop.knowledge.entities import (
    NAME_WORDS,
    cites,
    named_by,
    provisions_of,
    reference_name,
    speakable,
)
from lexloop.knowledge.incidence import (
    CITED,
    EXCEPTS,
    MENTIONED,
    NAMED,
    NAMING,
    PENALISES,
    REFERS,
    SECTION,
    Ints,
    Occurrences,
)
from lexloop.knowledge.phrases import entity_key, key_words, written_out

_NOT_NAMING = frozenset(
    {"amount", "applies_to", "deadline", "exception_to", "penalises", "refers_to"}
)
"""Predicates whose subjects may be whole clauses."""
_ROLES = {"refers_to": REFERS, "exception_to": EXCEPTS, "penalises": PENALISES}
_AT_ONCE = 4096


class TripletSource(Protocol):
    """Triplets by number, from 0 in the order in which they are stored."""

    def __len__(self) -> int:
        """Return the number of triplets."""
        ...

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with these numbers, in the order asked for."""
        ...

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """Return the triplets' numbers of each chunk; none for an unknown chunk."""
        ...


class _Row(NamedTuple):
    """A triplet as the graph sorts them: by document, place, words, and at last its source."""

    document: str
    start: int
    end: int
    subject: str
    predicate: str
    object: str
    chunk_id: str
    section: str
    number: int


def read_triplets(source: TripletSource) -> Occurrences:
    """Read every triplet of ``source`` once; repeated ones count once."""
    rows = _rows(source)
    reader = _Reader(rows)
    for row in rows:
        reader.read(row)
    return reader.occurrences([row.number for row in rows])


def _rows(source: TripletSource) -> list[_Row]:
    found: list[_Row] = []
    for first in range(0, len(source), _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, len(source)))
        for number, t in zip(numbers, source.fetch(numbers), strict=True):
            found.append(
                _Row(t["document"], t["start"], t["end"], t["subject"], t["predicate"],
                    t["object"], t["chunk_id"], t["section"], number)
            )  # fmt: skip
    found.sort()
    return [row for i, row in enumerate(found) if i == 0 or row[:-1] != found[i - 1][:-1]]


class _Table(dict[str, int]):
    """Texts and the numbers given to them as they come."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class _Reader:
    """The places of triplets, collected one after the other."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._names = _Table()
        self._references, self._labels = _Table(), _Table()
        self._documents = {name: i for i, name in enumerate(sorted({row.document for row in rows}))}
        self._held_by: dict[str, set[str]] = defaultdict(set)
        self._owners: list[int] = []
        self._definitions: list[int] = []
        self._roles: list[int] = []
        self._ends = [0]
        self._places: list[int] = []
        self._kinds: list[int] = []
        self._aliases: list[tuple[int, int, int, int]] = []
        self._long_forms = _long_forms(rows)
        self._sought, self._lengths = self._sought_names(rows)
        self._mentions = lru_cache(maxsize=1 << 13)(self._found_in)

    def read(self, row: _Row) -> None:
        """Collect the places of one triplet, those of the object first."""
        naming = NAMED if row.predicate in _NOT_NAMING else NAMING
        subject, target = self._said(row)
        self._add_phrase(target, NAMED)
        self._add_phrase(subject, naming)
        for phrase in (target, subject):
            mentioned = self._mentions(phrase)
            self._places += mentioned
            self._kinds += [MENTIONED] * len(mentioned)
        for label in provisions_of(row.section) if row.section else ():
            self._held_by[label].add(row.document)
            self._add(SECTION, self._labels[label])
        key = entity_key(subject) if row.predicate in ("defines", "alias_of") else ""
        self._definitions.append(self._names[key] if key and row.predicate == "defines" else -1)
        if key and row.predicate == "alias_of" and (long_form := entity_key(row.object)):
            acronym = int(_is_acronym(row.subject))
            alias = len(self._owners), self._names[key], self._names[long_form], acronym
            self._aliases.append(alias)
        self._owners.append(self._documents[row.document])
        self._roles.append(_ROLES.get(row.predicate, 0))
        self._ends.append(len(self._places))

    def occurrences(self, numbers: Sequence[int]) -> Occurrences:
        """Return all places, once every triplet was read."""
        references = [self._names[reference_name(text)] for text in self._references]
        labels = [self._names[entity_key(text)] for text in self._labels]
        variants = list(self._variants())
        names = sorted(self._names)
        rank = np.empty(len(names), dtype=np.int32)
        rank[[self._names[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        places, kinds = _ints(self._places), _ints(self._kinds)
        of_names = kinds < CITED
        places[of_names] = rank[places[of_names]]
        definitions = _ints(self._definitions)
        definitions[definitions >= 0] = rank[definitions[definitions >= 0]]
        aliases = _ints(self._aliases).reshape(-1, 4)
        aliases[:, 1:3] = rank[aliases[:, 1:3]]
        named_apart = sorted((int(rank[a]), b, int(rank[c])) for a, b, c in variants)
        terms, term_offsets, term_ids = _terms(names)
        return Occurrences(
            names=names,
            documents=list(self._documents),
            references=list(self._references),
            labels=list(self._labels),
            terms=terms,
            numbers=_ints(numbers),
            owners=_ints(self._owners),
            definitions=definitions,
            roles=_ints(self._roles),
            place_offsets=_ints(self._ends),
            places=places,
            kinds=kinds,
            aliases=aliases,
            speakable=_ints([speakable(name) for name in names]),
            reference_names=rank[_ints(references)],
            label_names=rank[_ints(labels)],
            variants=_ints(named_apart).reshape(-1, 3),
            term_offsets=term_offsets,
            term_ids=term_ids,
        )

    def _said(self, row: _Row) -> tuple[str, str]:
        """Return subject and object with the short forms of their document written out."""
        known = self._long_forms.get(row.document)
        if known is None or row.predicate == "alias_of":
            return row.subject, row.object
        return written_out(row.subject, known), written_out(row.object, known)

    def _add_phrase(self, phrase: str, kind: int) -> None:
        if cites(phrase):
            self._add(CITED, self._references[phrase])
            return
        for key in named_by(phrase):
            self._add(kind, self._names[key])

    def _add(self, kind: int, place: int) -> None:
        self._places.append(place)
        self._kinds.append(kind)

    def _variants(self) -> Iterator[tuple[int, int, int]]:
        """Yield a name of its own for each section whose name other documents use, too."""
        holders: dict[str, set[str]] = defaultdict(set)
        for label, documents in self._held_by.items():
            holders[entity_key(label)] |= documents
        for name, documents in holders.items():
            if name and len(documents) > 1:
                for document in documents:
                    apart = self._names[f"{name} of {document}"]
                    yield self._names[name], self._documents[document], apart

    def _sought_names(self, rows: Iterable[_Row]) -> tuple[dict[str, int], dict[str, list[int]]]:
        """Return the names to recognise in phrases, and their lengths by first word."""
        sought: dict[str, int] = {}
        for row in rows:
            if row.predicate in _NOT_NAMING:
                continue
            subject, _ = self._said(row)
            keys = [*named_by(subject)] if not cites(subject) else []
            if row.predicate == "alias_of":
                keys += [entity_key(row.subject), entity_key(row.object)]
            sought.update((key, self._names[key]) for key in keys if key)
        lengths: dict[str, set[int]] = defaultdict(set)
        for name in sought:
            words = name.split(" ")
            if len(words) <= NAME_WORDS:
                lengths[words[0]].add(len(words))
        return sought, {first: sorted(found) for first, found in lengths.items()}

    def _found_in(self, phrase: str) -> tuple[int, ...]:
        words = key_words(phrase)
        runs = (
            " ".join(words[i : i + length])
            for i, word in enumerate(words)
            for length in self._lengths.get(word, ())
            if i + length <= len(words)
        )
        return tuple(self._sought[run] for run in runs if run in self._sought)


def _is_acronym(short: str) -> bool:
    return sum(letter.isupper() for letter in short) > 1


def _long_forms(rows: Iterable[_Row]) -> dict[str, dict[str, str]]:
    """Return each document's acronyms that stand for one thing in it, with their long forms."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.predicate == "alias_of" and _is_acronym(row.subject):
            found[row.document][row.subject].setdefault(entity_key(row.object), row.object)
    return {
        document: {s: next(iter(meant.values())) for s, meant in shorts.items() if len(meant) == 1}
        for document, shorts in found.items()
    }


def _terms(names: Sequence[str]) -> tuple[list[str], Ints, Ints]:
    """Return the search terms of names, the offsets of each name's terms, and these terms."""
    words = {word for name in names for word in name.split(" ")}
    of_word = {word: tokenize(word) for word in words}
    terms = sorted({term for found in of_word.values() for term in found})
    numbers = {term: number for number, term in enumerate(terms)}
    known = {word: [numbers[term] for term in found] for word, found in of_word.items()}
    held = [sorted({n for word in name.split(" ") for n in known[word]}) for name in names]
    offsets = np.cumsum([0, *map(len, held)])
    return terms, offsets.astype(np.int32), _ints([*chain.from_iterable(held)])


def _ints(values: Sequence[object]) -> Ints:
    return np.array(values, dtype=np.int32)
