"""The graph as arrays: where names occur in triplets, which entities these join, and both on disk.

What an acronym stands for, which section a reference means and which names are recognised inside
other phrases depends on the visible documents. So the triplets are read once, for everything that
could be a name, and ``resolve`` settles the rest for each view.
"""

import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_array
from lexloop.core.errors import DataError
from lexloop.core.files import remedy, write_text

Ints = NDArray[np.int32]

NAMED, NAMING, MENTIONED, CITED, SECTION = range(5)
"""Kinds of places: a phrase that names something; a subject whose name is recognised elsewhere,
too; a name within a phrase; a reference; and the section that states the triplet."""

REFERS, EXCEPTS, PENALISES = 1, 2, 3
"""Roles of triplets that lead from one provision to another; 0 for all others."""

FAN_OUT = 12
"""Triplets followed from one entity; a hub has more, and only its most telling ones count."""
_TELLING = 4
"""Entities of a triplet, from its first, that say how telling it is."""
_INTEGERS, _TEXTS = "knowledge.npy", "knowledge.json"
FILES = (_INTEGERS, _TEXTS)
"""The names of the files that ``pack`` writes."""


@dataclass(frozen=True)
class Occurrences:
    """Everything that could join triplets; names, documents and triplets in a stable order.

    Triplets are ordered by where they stand and what they say, repeated ones left out, so nothing
    depends on the order in which the source keeps them. ``*_offsets`` say where the run of each
    triplet or name begins, shape (owners + 1,).

    Args:
        names: Every name, sorted; the others are indexes into these lists.
        documents: The documents' names, sorted.
        references: References to provisions as they were written.
        labels: The labels of sections.
        terms: Search terms of names, sorted.
        numbers: The number of each triplet in its source, shape (triplets,).
        owners: The document of each triplet, shape (triplets,).
        definitions: The name that each triplet defines, or -1, shape (triplets,).
        roles: The role of each triplet between provisions, shape (triplets,).
        places: A name, reference or label each, as its kind says, shape (places,).
        kinds: Shape (places,).
        aliases: Triplet, short form, long form, and 1 where the short form is an acronym, which
            may serve beyond its document; shape (alias triplets, 4).
        speakable: 1 where a name may be recognised within phrases, shape (names,).
        reference_names: The name of each reference while no section is known for it.
        label_names: The name of each section.
        variants: Section name, document, and the name that tells it from its namesakes in other
            documents; sorted, shape (variants, 3).
        term_ids: Terms of the names, each name's sorted.
    """

    names: list[str]
    documents: list[str]
    references: list[str]
    labels: list[str]
    terms: list[str]
    numbers: Ints
    owners: Ints
    definitions: Ints
    roles: Ints
    place_offsets: Ints
    places: Ints
    kinds: Ints
    aliases: Ints = field(metadata={"columns": 4})
    speakable: Ints
    reference_names: Ints
    label_names: Ints
    variants: Ints = field(metadata={"columns": 3})
    term_offsets: Ints
    term_ids: Ints


@dataclass(frozen=True)
class Incidence:
    """A bipartite graph of triplets and entities, both as numbers.

    ``*_offsets`` say where the run of each triplet or name begins, shape (owners + 1,).

    Args:
        joined: The entities of the triplets, those of the object first.
        at: The triplets of the entities, ascending.
        near: At most ``FAN_OUT`` triplets of each entity, the most telling first.
        defined: The entity that each triplet defines, or -1, shape (triplets,).
        within: The sections of the triplets, the innermost first.
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
    def specificity(self) -> NDArray[np.float64]:
        """The specificity of each entity, in (0, 1], low at hubs; 0 without triplets."""
        return _specificity(np.diff(self.at_offsets))

    def joined_by(self, triplet: int) -> list[int]:
        """Return the entities of a triplet, without repetitions."""
        return _run(self.joined_offsets, self.joined, triplet)

    def pairs_of(self, triplets: Ints) -> tuple[Ints, Ints]:
        """Return each of the triplets beside each of its entities, in their order."""
        counts = self.joined_offsets[triplets + 1] - self.joined_offsets[triplets]
        return np.repeat(triplets, counts), self.joined[runs_of(self.joined_offsets, triplets)]

    def near_to(self, entity: int) -> list[int]:
        """Return the triplets to follow from an entity."""
        return _run(self.near_offsets, self.near, entity)

    def triplets_at(self, entity: int) -> Ints:
        """Return the triplets of an entity, ascending."""
        return self.at[self.at_offsets[entity] : self.at_offsets[entity + 1]]

    def sections_of(self, triplet: int) -> list[int]:
        """Return the sections that a triplet stands in, the innermost first."""
        return _run(self.within_offsets, self.within, triplet)

    def held_by(self, section: int) -> Ints:
        """Return the triplets in a section, ascending; none for what is no section."""
        return self.held[self.held_offsets[section] : self.held_offsets[section + 1]]

    def degree(self, entity: int) -> int:
        """Return the number of triplets that join an entity."""
        return int(self.at_offsets[entity + 1] - self.at_offsets[entity])


Pairs = tuple[Ints, Ints]
"""Triplets, ascending, and an entity beside each."""


def connect(pairs: Pairs, sections: Pairs, count: int, names: int, defined: Ints) -> Incidence:
    """Build the incidence of so many triplets and so many names.

    Args:
        pairs: Which entities each triplet joins, in their order; a repeated pair counts once.
        sections: Which sections each triplet stands in, the innermost first.
        count: The number of triplets.
        names: The number of names.
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
    telling = _telling(joined_offsets, entities, _specificity(np.diff(at_offsets)), at, owners)
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


def _run(offsets: Ints, values: Ints, owner: int) -> list[int]:
    first, end = offsets[owner : owner + 2].tolist()
    found: list[int] = values[first:end].tolist()
    return found


def offsets_of(owners: NDArray[np.integer[Any]], count: int) -> Ints:
    """Return where the run of each of ``count`` owners begins in ``owners``, which ascend."""
    ends = np.cumsum(np.bincount(owners, minlength=count))
    return np.concatenate(([0], ends)).astype(np.int32)


def runs_of(offsets: Ints, owners: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the positions of every owner's run, one run after the other."""
    counts = (offsets[owners + 1] - offsets[owners]).astype(np.int64)
    begins = np.repeat(offsets[owners] - np.cumsum(counts) + counts, counts)
    positions: NDArray[np.int64] = np.arange(len(begins), dtype=np.int64) + begins
    return positions


def _specificity(degrees: Ints) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + 0.25 * np.log2(np.maximum(degrees, 1)))
    return np.where(degrees > 0, found, 0.0)


def _telling(
    offsets: Ints, joined: Ints, specificity: NDArray[np.float64], triplets: Ints, entities: Ints
) -> NDArray[np.float64]:
    """Return the greatest specificity of each triplet's other entities, seen from one of them."""
    best = np.zeros(len(triplets))
    starts, ends = offsets[triplets], offsets[triplets + 1]
    for place in range(_TELLING):
        there = starts + place < ends
        other = joined[starts[there] + place]
        shown = np.where(other == entities[there], 0.0, specificity[other])
        best[there] = np.maximum(best[there], shown)
    return best


def pack(folder: Path, found: Occurrences, incidence: Incidence) -> dict[str, str]:
    """Write the graph into ``folder``, and return the SHA-256 of each file.

    Raises:
        OSError: It cannot be written.
    """
    texts: dict[str, list[str]] = {}
    integers: dict[str, Ints] = {}
    for part in (found, incidence):
        for column in fields(part):
            value = getattr(part, column.name)
            if isinstance(value, list):
                texts[column.name] = value
            else:
                integers[column.name] = value.ravel()
    lengths = {name: len(values) for name, values in integers.items()}
    text = json.dumps({"lengths": lengths, "texts": texts}, separators=(",", ":"))
    numbers = np.concatenate(list(integers.values()))
    return {
        _INTEGERS: save_array(folder / _INTEGERS, numbers),
        _TEXTS: write_text(folder / _TEXTS, text),
    }


def unpack(folder: Path) -> tuple[Occurrences, Incidence]:
    """Open what ``pack`` wrote.

    Raises:
        DataError: A file is missing, or the two do not fit together.
    """
    try:
        held = json.loads((folder / _TEXTS).read_text("utf-8"))
        mapped = load_array(folder / _INTEGERS, np.int32)
        values: dict[str, Any] = {name: _texts(texts) for name, texts in held["texts"].items()}
        values |= _split(np.asarray(mapped), held["lengths"])
        return _made(Occurrences, values), _made(Incidence, values)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"The knowledge graph in {folder} cannot be read: {error!r}.",
            remedy(error, "Build the index again with `lexloop index`."),
        ) from error


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{_TEXTS} holds something else than texts")
    return value


def _split(integers: Ints, lengths: dict[str, int]) -> dict[str, Ints]:
    total = sum(lengths.values())
    if integers.dtype != np.int32 or integers.shape != (total,):
        shown = f"{integers.dtype} {integers.shape}"
        raise ValueError(f"{_INTEGERS} is {shown} and not int32 ({total},)")
    ends = np.cumsum(list(lengths.values())).tolist()
    return dict(zip(lengths, np.split(integers, ends[:-1]), strict=True))


def _made(part: Any, values: dict[str, Any]) -> Any:
    made = {}
    for column in fields(part):
        value = values[column.name]
        width = column.metadata.get("columns")
        made[column.name] = value.reshape(-1, width) if width else value
    return part(**made)
