"""Passages for a model with what limits them, and those of one provision together."""

from collections.abc import Iterator, Sequence

from lexloop.core.types import LIMITING, Candidate, Scored
from lexloop.documents.chunks.limits import limits_of
from lexloop.documents.structure.tree import Tree
from lexloop.nodes.question.provisions import unit_at
from lexloop.store.view import View

_BEST, _MOST = 3, 4
"""The best passages whose limits are sought, and the most passages that these add."""


def with_limits(taken: Sequence[Candidate], view: View) -> list[Candidate]:
    """Return passages and the chunks with the exceptions and conditions of the best of them.

    A model that is not shown an exception cannot state it.
    """
    known = {candidate["id"] for candidate in taken}
    found = dict.fromkeys(
        n for one in taken[:_BEST] for n in _limiting(one, view) if n not in known
    )
    new: list[Scored] = [
        {"id": name, "score": 0.0, "signals": {LIMITING: 1.0}} for name in [*found][:_MOST]
    ]
    return [*taken, *view.candidates(new)]


def _limiting(candidate: Candidate, view: View) -> Iterator[str]:
    """Yield the ids of the chunks with what limits a passage."""
    name, document = candidate["document"], view.document(candidate["document"])
    for limit in limits_of(candidate["start"], candidate["end"], document.tree, document.text):
        if (place := document.tree.at(limit.start)) >= 0:
            unit = unit_at(name, document.tree, place)
            yield from view.chunks_over({**unit, "start": limit.start, "end": limit.end})


def together(taken: Sequence[Candidate], view: View) -> list[Candidate]:
    """Return passages, those of one provision in the order of the text behind the best of them."""
    groups: dict[tuple[str, int], list[Candidate]] = {}
    for candidate in taken:
        name = candidate["document"]
        key = (name, _provision_start(candidate, view.document(name).tree))
        groups.setdefault(key, []).append(candidate)
    return [one for group in groups.values() for one in sorted(group, key=lambda c: c["start"])]


def _provision_start(candidate: Candidate, tree: Tree) -> int:
    """Return where the outermost provision around a passage begins, or the passage itself."""
    place = tree.at((candidate["start"] + candidate["end"]) // 2)  # headings may open it
    around = (tree.units[p] for p in (place, *tree.above(place))) if place >= 0 else ()
    starts = [unit.start for unit in around if unit.kind == "provision"]
    return starts[-1] if starts else candidate["start"]
