"""Passages for a model with what limits them, and neighbours together."""

from collections.abc import Iterator, Sequence

from lexloop.core.types import LIMITING, Candidate, Scored
from lexloop.documents.chunks.limits import limits_of
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


def together(taken: Sequence[Candidate]) -> list[Candidate]:
    """Return passages in their order, but behind each one those that go on from it in the text."""
    starting = {(one["document"], one["start"]): one for one in taken}
    ordered: dict[str, Candidate] = {}
    for candidate in taken:
        following: Candidate | None = candidate
        while following is not None and following["id"] not in ordered:
            ordered[following["id"]] = following
            following = starting.get((following["document"], following["end"]))
    return [*ordered.values()]
