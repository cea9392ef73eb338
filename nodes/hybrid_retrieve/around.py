"""What stands around passages that were not enough: the whole provisions that they are parts of."""

from collections.abc import Sequence
from itertools import islice

from lexloop.core.types import MOST_POINTED, Passage, PointedUnit
from lexloop.nodes.backend import Backend


def whole(passages: Sequence[Passage], backend: Backend) -> list[str]:
    """The ids of the chunks of the provisions that passages lie in, those of the best first."""
    units = (unit for passage in passages if (unit := _provision(passage, backend)))
    found = dict.fromkeys(name for unit in units for name in backend.chunks_over(unit))
    return list(islice(found, MOST_POINTED))


def _provision(passage: Passage, backend: Backend) -> PointedUnit | None:
    document = passage["document"]
    tree = backend.tree_of(document)
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
