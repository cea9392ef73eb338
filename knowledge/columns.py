"""The graph as numbers: the entities that triplets join, for one caller, in memory and on disk."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_array
from lexloop.core.errors import DataError
from lexloop.core.files import remedy, write_text
from lexloop.core.types import Triplet
from lexloop.knowledge.relations import PREDICATES, cites, entity_key, outer_key, reference_key

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]

SUBJECT, OBJECT, HOME = range(3)
"""The columns of ``Columns.joined``: both sides of a triplet, and the provision that states it."""
PART_OF, DEFINES, USES = (PREDICATES.index(name) for name in ("part_of", "defines", "uses"))
FAN_OUT = 12
"""Triplets followed from one entity; of a hub only the most informative ones."""
_INTEGERS, _TEXTS = "knowledge.npy", "knowledge.json"
FILES = (_INTEGERS, _TEXTS)
"""The names of the files that ``pack`` writes."""

_DEEPEST = 8


@dataclass(frozen=True)
class Columns:
    """Every distinct triplet of an index in a stable order, and all names.

    Args:
        names: The keys of the entities, sorted. The arrays are indexes into this and the next two.
        documents: The documents' names, sorted.
        terms: The words of names, sorted.
        numbers: The number of each triplet in its source, shape (triplets,).
        owners: The document of each triplet, shape (triplets,).
        kinds: Index of each predicate in ``PREDICATES``; -1 for a model's own words.
        joined: Subject, object and home of each triplet, -1 for none; shape (triplets, 3).
        aliases: A triplet, a name, and the name that the triplet makes it mean; shape (aliases, 3).
        term_offsets: The start of each name's words in ``term_ids``, shape (names + 1,).
        term_ids: The words of the names, sorted within each name.
    """

    names: list[str]
    documents: list[str]
    terms: list[str]
    numbers: Ints
    owners: Ints
    kinds: Ints
    joined: Ints
    aliases: Ints
    term_offsets: Ints
    term_ids: Ints


class _Row(NamedTuple):
    """A triplet in sort order: by document, place, words, and last its source."""

    document: str
    start: int
    end: int
    subject: str
    predicate: str
    object: str
    chunk_id: str
    section: str
    number: int


def read_triplets(triplets: Iterable[Triplet]) -> Columns:
    """Read triplets in the order of their numbers; repeated ones count once."""
    rows = [
        _Row(t["document"], t["start"], t["end"], t["subject"], t["predicate"],
             t["object"], t["chunk_id"], t["section"], number)
        for number, t in enumerate(triplets)
    ]  # fmt: skip
    rows.sort()
    return _Reader([r for i, r in enumerate(rows) if not i or r[:-1] != rows[i - 1][:-1]]).columns()


class _Table(dict[str, int]):
    """A table that numbers texts in the order in which they are added."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class _Reader:
    """The names in triplets. A provision's is its label and its document, any other's its words."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._rows, self._names = rows, _Table()
        self._homes: dict[str, dict[str, int]] = defaultdict(dict)
        """For each key of a label the documents that have it, each with the first triplet there."""
        self._abroad: dict[str, None] = {}
        for number, row in enumerate(rows):
            if row.section:
                self._homes[entity_key(row.section)].setdefault(row.document, number)

    def columns(self) -> Columns:
        """Return the table's columns, with the names in order."""
        kinds: dict[str, int] = {name: place for place, name in enumerate(PREDICATES)}
        joined = [
            (self._named(r.subject, r), self._named(r.object, r), self._home(r)) for r in self._rows
        ]
        aliases = [*self._short_forms(joined), *self._foreign_references()]
        names = sorted(self._names)
        rank = np.full(len(names) + 1, -1, dtype=np.int32)
        rank[[self._names[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        rows = _ints(aliases).reshape(-1, 3)
        rows[:, 1:] = rank[rows[:, 1:]]
        documents = sorted({row.document for row in self._rows})
        owners = {name: place for place, name in enumerate(documents)}
        terms, offsets, term_ids = _terms(names)
        return Columns(
            names=names,
            documents=documents,
            terms=terms,
            numbers=_ints([row.number for row in self._rows]),
            owners=_ints([owners[row.document] for row in self._rows]),
            kinds=_ints([kinds.get(row.predicate, -1) for row in self._rows]),
            joined=rank[_ints(joined).reshape(-1, 3)],
            aliases=rows,
            term_offsets=offsets,
            term_ids=term_ids,
        )

    def _named(self, phrase: str, row: _Row) -> int:
        """Return the number of a phrase's name; a reference has that of its provision."""
        key = entity_key(phrase)
        if row.document in self._homes.get(key, ()):
            return self._names[provision_name(key, row.document)]
        if not cites(phrase):
            return self._names[key] if key else -1
        key, anywhere = reference_key(phrase)
        if anywhere:
            if defined := self._meant(key, row.document):
                return self._names[defined]
            self._abroad[key] = None
        return self._names[key]

    def _meant(self, key: str, document: str) -> str:
        """Return the innermost provision of a document that a reference names; "" if none."""
        while key and document not in self._homes.get(key, ()):
            key = outer_key(key)
        return provision_name(key, document) if key else ""

    def _home(self, row: _Row) -> int:
        return (
            self._names[provision_name(entity_key(row.section), row.document)]
            if row.section
            else -1
        )

    def _short_forms(
        self, joined: Sequence[tuple[int, int, int]]
    ) -> Iterator[tuple[int, int, int]]:
        for number, (row, (short, long_form, _)) in enumerate(zip(self._rows, joined, strict=True)):
            if row.predicate == "alias_of" and short >= 0 and long_form >= 0:
                yield number, short, long_form

    def _foreign_references(self) -> Iterator[tuple[int, int, int]]:
        """Yield references to provisions outside their own document, with each possible target."""
        for key in self._abroad:
            meanings: dict[str, str] = {}
            inner = key
            while inner:
                for document in self._homes.get(inner, ()):
                    meanings.setdefault(document, inner)
                inner = outer_key(inner)
            for document, meant in meanings.items():
                first = self._homes[meant][document]
                yield first, self._names[key], self._names[provision_name(meant, document)]


def provision_name(key: str, document: str) -> str:
    """Return the name of a provision: documents have provisions of the same label."""
    return f"{key}\n{document}"


def _terms(names: Sequence[str]) -> tuple[list[str], Ints, Ints]:
    """Return the words of names, the offsets of each name's words, and these words."""
    words_of = [{*name.partition("\n")[0].split(" ")} for name in names]
    terms = sorted(set().union(*words_of))
    numbers = {term: number for number, term in enumerate(terms)}
    ids = [sorted(numbers[term] for term in words) for words in words_of]
    offsets = np.cumsum([0, *map(len, ids)])
    return terms, offsets.astype(np.int32), _ints([*chain.from_iterable(ids)])


def _ints(values: Sequence[object]) -> Ints:
    return np.array(values, dtype=np.int32)


class Incidence:
    """The triplets that an asker may see, and the entities that they join; others are not there.

    Args:
        columns: Columns of all triplets.
        visible: Which triplets are visible, shape (triplets,).
        shares: How informative a triplet of each kind is, for its object and for its subject; the
            last row is for a model's own words. Shape (kinds + 1, 2).
    """

    def __init__(self, columns: Columns, visible: Mask, shares: NDArray[np.float64]) -> None:
        count = len(columns.names)
        self.meant = _meant(columns, visible)
        self.joined: Ints = self.meant[columns.joined]
        visible_ids = columns.joined[visible]
        self.named = np.zeros(count, dtype=np.bool_)
        """Which names occur in a visible triplet, including aliases."""
        self.named[visible_ids[visible_ids >= 0]] = True
        shown = np.flatnonzero(visible)
        triplets = np.repeat(shown, 3)
        entities = self.joined[shown].ravel()
        column = np.tile(np.arange(3), len(shown))
        # an entity counts once in a triplet, by its first place
        real = entities >= 0
        real &= ~((column == OBJECT) & (entities == np.roll(entities, 1)))
        real &= ~(
            (column == HOME)
            & ((entities == np.roll(entities, 1)) | (entities == np.roll(entities, 2)))
        )
        triplets, entities, column = triplets[real], entities[real], column[real]
        self.degrees = np.bincount(entities, minlength=count)
        self.specificity = 1 / (1 + 0.25 * np.log2(np.maximum(self.degrees, 1)))
        self._at, self._at_offsets = _grouped(triplets, entities, count)
        other = self.joined[triplets, np.where(column == OBJECT, HOME, OBJECT)]
        telling = shares[columns.kinds[triplets], (column == OBJECT).astype(int)]
        telling = telling * np.where(other >= 0, self.specificity[other], 1.0)
        best = np.lexsort((triplets, -telling))
        self._near, self._near_offsets = _grouped(triplets[best], entities[best], count)
        self.kinds = columns.kinds
        self._defining, self._defining_offsets = self._of_kind(shown, DEFINES, SUBJECT, HOME, count)
        self._parts, self._parts_offsets = self._of_kind(shown, PART_OF, OBJECT, SUBJECT, count)
        wholes, self._wholes_offsets = self._of_kind(shown, PART_OF, SUBJECT, OBJECT, count)
        self._wholes = wholes
        homed = shown[self.joined[shown, HOME] >= 0]
        self._held, self._held_offsets = _grouped(homed, self.joined[homed, HOME], count)

    def _of_kind(
        self, shown: NDArray[np.integer[Any]], kind: int, by: int, value: int, count: int
    ) -> tuple[Ints, Ints]:
        """Return one side of the triplets of a kind, grouped by another side."""
        rows = self.joined[shown[self.kinds[shown] == kind]]
        rows = rows[(rows[:, by] >= 0) & (rows[:, value] >= 0)]
        return _grouped(rows[:, value], rows[:, by], count)

    def defining(self, term: int) -> list[int]:
        """Return the provisions that define a term."""
        return _run(self._defining, self._defining_offsets, term)

    def parts_of(self, provision: int) -> list[int]:
        """Return the parts of a provision, in order."""
        return _run(self._parts, self._parts_offsets, provision)

    def lineage(self, provision: int) -> Iterator[int]:
        """Yield a provision and its ancestors, nearest first."""
        for _ in range(_DEEPEST):
            yield provision
            above = _run(self._wholes, self._wholes_offsets, provision)
            if not above or not len(self.held_by(above[0])):
                return
            provision = above[0]

    def near_to(self, entity: int) -> list[int]:
        """Return the triplets to follow from an entity, the most telling first."""
        return _run(self._near, self._near_offsets, entity)[:FAN_OUT]

    def triplets_at(self, entity: int) -> Ints:
        """Return the triplets of an entity, ascending."""
        return self._at[self._at_offsets[entity] : self._at_offsets[entity + 1]]

    def held_by(self, provision: int) -> Ints:
        """Return the triplets that a provision itself states, ascending."""
        return self._held[self._held_offsets[provision] : self._held_offsets[provision + 1]]

    def joined_by(self, triplet: int) -> list[int]:
        """Return the entities of a triplet, its object's first."""
        subject, target, home = self.joined[triplet].tolist()
        return [entity for entity in dict.fromkeys((target, subject, home)) if entity >= 0]


def _run(values: Ints, offsets: Ints, owner: int) -> list[int]:
    run: list[int] = values[offsets[owner] : offsets[owner + 1]].tolist()
    return run


def _meant(columns: Columns, visible: Mask) -> Ints:
    """Return the name that each name stands for: the only other one, or itself.

    The last entry is -1, so that the index -1 gives -1.
    """
    meant = np.append(np.arange(len(columns.names), dtype=np.int32), np.int32(-1))
    meanings: dict[int, set[int]] = {}
    for _, name, other in columns.aliases[visible[columns.aliases[:, 0]]].tolist():
        meanings.setdefault(name, set()).add(other)
    for name, others in meanings.items():
        if len(others) == 1:
            meant[name] = others.pop()
    return meant


def _grouped(
    values: NDArray[np.integer[Any]], owners: NDArray[np.integer[Any]], count: int
) -> tuple[Ints, Ints]:
    """Return the values grouped by owner, in their order, and the start of each owner's values."""
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=count))
    return values[order].astype(np.int32), np.concatenate(([0], ends)).astype(np.int32)


def pack(folder: Path, columns: Columns) -> dict[str, str]:
    """Write the graph into ``folder``, and return the SHA-256 of each file.

    Raises:
        OSError: The files cannot be written.
    """
    arrays = {column.name: getattr(columns, column.name) for column in fields(Columns)}
    texts = {name: value for name, value in arrays.items() if isinstance(value, list)}
    integers = {name: value for name, value in arrays.items() if name not in texts}
    shapes = {name: value.shape for name, value in integers.items()}
    text = json.dumps({"shapes": shapes, "texts": texts}, separators=(",", ":"))
    numbers = np.concatenate([value.ravel() for value in integers.values()])
    return {
        _INTEGERS: save_array(folder / _INTEGERS, numbers),
        _TEXTS: write_text(folder / _TEXTS, text),
    }


def unpack(folder: Path) -> Columns:
    """Open the files that ``pack`` wrote.

    Raises:
        DataError: A file is missing, or the two do not fit together.
    """
    try:
        stored = json.loads((folder / _TEXTS).read_text("utf-8"))
        integers = np.asarray(load_array(folder / _INTEGERS, np.int32))
        values: dict[str, Any] = {name: _texts(texts) for name, texts in stored["texts"].items()}
        values |= _split(integers, stored["shapes"])
        return Columns(**values)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"The knowledge graph in {folder} cannot be read: {error!r}.",
            remedy(error, "Build the index again with `lexloop index`."),
        ) from error


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{_TEXTS} holds something else than texts")
    return value


def _split(integers: Ints, shapes: dict[str, Sequence[int]]) -> dict[str, Ints]:
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    if integers.dtype != np.int32 or integers.shape != (sum(sizes),):
        shown = f"{integers.dtype} {integers.shape}"
        raise ValueError(f"{_INTEGERS} is {shown} and not int32 ({sum(sizes)},)")
    parts = np.split(integers, np.cumsum(sizes)[:-1])
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}
