"""What stands around passages that were not enough: the whole provisions that they are parts of."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from lexloop.core.types import MOST_POINTED, Passage, PointedUnit
from lexloop.corpus.structure.tree import Tree


class Structure(Protocol):
    """The structure of the documents that an asker may see."""

    def tree_of(self, document: str) -> Tree | None:
        """A document's tree; None where there is no such document."""
        ...

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """The ids of the chunks that hold a unit's words, in order."""
        ...


def whole(passages: Sequence[Passage], structure: Structure) -> list[str]:
    """The ids of the chunks of the provisions that passages lie in, those of the best first."""
    units = (unit for passage in passages if (unit := _provision(passage, structure)))
    found = dict.fromkeys(name for unit in units for name in structure.chunks_over(unit))
    return list(islice(found, MOST_POINTED))


def _provision(passage: Passage, structure: Structure) -> PointedUnit | None:
    document = passage["document"]
    tree = structure.tree_of(document)
    place = tree.at(passage["start"]) if tree else -1
    if tree is None or place < 0:
        return None
    for above in (place, *tree.above(place)):
        unit = tree.units[above]
        if unit.kind == "provision":
            return {
                "document": document,
                "place": above,
                "label": unit.label,
                "start": unit.start,
                "end": unit.end,
            }
    return None
