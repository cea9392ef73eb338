"""What stands around passages that were not enough: their whole provisions, and those they name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from lexloop.core.types import MOST_POINTED, Passage, PointedUnit, Strategy
from lexloop.corpus.structure.references import find_references
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
    return _chunks(_provisions(passages, structure), structure)


def referred(passages: Sequence[Passage], structure: Structure) -> list[str]:
    """The ids of the chunks of the provisions that passages refer to, those of the best first."""
    return _chunks(_references(passages, structure), structure)


AROUND: dict[Strategy | None, Callable[[Sequence[Passage], Structure], list[str]]] = {
    "whole": whole,
    "referred": referred,
}
"""What goes on from the passages of the attempt before, by strategy."""


def _provisions(passages: Iterable[Passage], structure: Structure) -> Iterator[PointedUnit]:
    for passage in passages:
        tree = structure.tree_of(passage["document"]) or Tree()
        if (place := tree.at(passage["start"])) >= 0:
            above = (place, *tree.above(place))
            found = (p for p in above if tree.units[p].kind == "provision")
            yield from (_unit(passage["document"], tree, p) for p in islice(found, 1))


def _references(passages: Iterable[Passage], structure: Structure) -> Iterator[PointedUnit]:
    for passage in passages:
        tree = structure.tree_of(passage["document"]) or Tree()
        place = tree.at(passage["start"])
        for reference in find_references(passage["text"]):
            for found in tree.found_by.find(reference, place):
                unit = _unit(passage["document"], tree, found)
                if unit["end"] <= passage["start"] or passage["end"] <= unit["start"]:
                    yield unit  # not the passage's own number


def _unit(document: str, tree: Tree, place: int) -> PointedUnit:
    unit = tree.units[place]
    return {
        "document": document,
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }


def _chunks(units: Iterable[PointedUnit], structure: Structure) -> list[str]:
    """The first chunks of the units, each once."""
    seen = dict.fromkeys(id for unit in units for id in structure.chunks_over(unit))
    return list(islice(seen, MOST_POINTED))
