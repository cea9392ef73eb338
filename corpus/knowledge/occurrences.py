"""Where names occur in triplets, before it is settled which of them are entities.

What an acronym stands for, which section a reference means and which names are known well enough
to be recognised in passing all depend on the documents that may be seen. So the triplets are read
once, for everything that could be a name, and ``resolve`` settles the rest for each view.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]

NAMED, NAMING, MENTIONED, CITED, SECTION = range(5)
"""Kinds of places: a phrase that names something; a subject whose name is recognised elsewhere,
too; a name within a phrase; a reference; and the section that states the triplet."""

REFERS, EXCEPTS, PENALISES = 1, 2, 3
"""Roles of triplets that lead from one provision to another; 0 for all others."""


@dataclass(frozen=True)
class Occurrences:
    """Everything that could join triplets; names, documents and triplets in a stable order.

    Triplets are ordered by where they stand and what they say, repeated ones left out, so nothing
    depends on the order in which the source keeps them.

    Args:
        names: Every name, sorted; the others are indexes into these lists.
        documents: The documents' names, sorted.
        references: References to provisions as they were written.
        labels: The labels of sections.
        terms: Search terms of names, sorted.
        numbers: The number of each triplet in its source, shape (triplets,).
        owners: The document of each triplet, shape (triplets,).
        definitions: The name that each triplet defines, or -1, shape (triplets,).
        roles: What each triplet is between provisions, shape (triplets,).
        place_offsets: Where each triplet's places begin, shape (triplets + 1,).
        places: A name, reference or label each, as its kind says, shape (places,).
        kinds: Shape (places,).
        aliases: Triplet, short form, long form, and 1 where the short form is an acronym, which
            may serve beyond its document; shape (alias triplets, 4).
        speakable: 1 where a name may be recognised within phrases, shape (names,).
        reference_names: The name of each reference while no section is known for it.
        label_names: The name of each section.
        variants: Section name, document, and the name that tells it from its namesakes in other
            documents; sorted, shape (variants, 3).
        term_offsets: Where each name's terms begin, shape (names + 1,).
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

    def triplet_of_place(self) -> Ints:
        """The triplet of each place, shape (places,)."""
        count = len(self.numbers)
        return np.repeat(np.arange(count, dtype=np.int32), np.diff(self.place_offsets))
