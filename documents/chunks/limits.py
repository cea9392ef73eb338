"""The limits of a provision: exceptions, conditions and provisos elsewhere in its document."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from lexloop.documents.chunks.carrying import PROVISO, WHOLE, carried_from, spoken_of
from lexloop.documents.chunks.statements import Statement, sentence_at, unnumbered
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.exceptions import LIMITING

_SILENT = frozenset(("recital", "contents"))
"""Kinds of units that cannot limit a provision."""
MOST = 3
"""The most limits quoted for one provision."""
_PART = frozenset(
    ("paragraph", "subsection", "sentence", "restriction", "prohibition", "obligation")
)


def limits_of(start: int, end: int, tree: Tree, text: str) -> list[Statement]:
    """Return the statements of a document that limit one of its spans, in order.

    A limiting statement contains an exception, a condition or a proviso and names something in the
    span: by number, as "this Section" in the same section, or as "the foregoing" in the next
    paragraph.

    Args:
        start: Start of the span, in code points; the span lies in one provision.
        end: End of the span, exclusive.
        tree: The document's tree.
        text: Its text.
    """
    limiting: dict[int, Statement] = {}
    if (place := tree.at(start)) < 0:
        return []
    lineage = [place, *tree.above(place)]
    numbers = [unit.number for unit in map(tree.units.__getitem__, lineage) if unit.number]
    for at in _limiting(text):
        if start <= at < end or len(limiting) == MOST or (other := tree.at(at)) < 0:
            continue
        unit, words = tree.units[other], text[tree.units[other].body : tree.own_end(other)]
        together = _provision(tree, other) in lineage
        silent = unit.kind in _SILENT or any(
            tree.units[unit_above].kind == "note" for unit_above in tree.above(other)
        )
        if silent or not (together or any(number in words for number in numbers)):
            continue
        limit = sentence_at(tree, text, other, at)
        if limit is None:
            continue
        if PROVISO.match(
            limit.own
        ):  # a limit applies to the unit that contains it, whatever else it names
            limits = any(
                tree.at(carried.start) == place for carried in carried_from(limit, tree, text)
            )
        else:
            limits = _names(limit, other, lineage, tree, together)
        if limits:
            limiting[limit.start] = limit
    return [*limiting.values()]


def notes_of(cited: Sequence[Statement], tree: Tree, text: str) -> list[Statement]:
    """Return the first footnotes attached to the quoted statements; see ``limits_of``."""
    spans = dict.fromkeys(span for statement in cited for span in statement.notes)
    notes = []
    for start, end in islice(spans, MOST):
        label = tree.units[place].label if (place := tree.at(start)) >= 0 else ""
        notes.append(Statement(start, end, (), label, "", unnumbered(text[start:end])))
    return notes


@lru_cache(maxsize=32)
def _limiting(text: str) -> tuple[int, ...]:
    """Return the offsets of all words that limit something."""
    return tuple(match.start() for match in LIMITING.finditer(text))


def _names(limit: Statement, at: int, lineage: Sequence[int], tree: Tree, together: bool) -> bool:
    """Return whether a statement in unit ``at`` names a unit, or one that contains it.

    ``together`` is true if both units are in the same provision.
    """
    place = lineage[0]
    if together and at != place and spoken_of(limit.own) & WHOLE:
        return True
    if together and _follows(at, place, tree) and _points_to_the_last(limit.own):
        return True
    for reference in find_references(limit.own):
        if _is_subject_to(limit.own, reference.start) or (reference.itself and not together):
            continue  # here the named provision limits the statement, not the other way round
        named = (p for p in tree.find(reference, at) if tree.units[p].kind != "part")
        if set(named) & set(lineage):
            return at not in lineage[1:] or not reference.itself
    return False


def _is_subject_to(words: str, end: int) -> bool:
    """Return whether the words before ``end`` subject a text to the provision named after it."""
    _, subject, between = " ".join(words[:end].lower().split()).rpartition("subject to")
    return bool(subject) and not any(sign in between for sign in ".;:")


def _points_to_the_last(words: str) -> bool:
    flat = f" {' '.join(words.lower().split())}"
    return bool(spoken_of(words) & _PART) or " the foregoing" in flat or " the above" in flat


def _follows(at: int, place: int, tree: Tree) -> bool:
    """Return whether a unit is another one or its next sibling."""
    beside = list(tree.children(tree.units[place].parent))
    behind = beside.index(place) + 1
    return at == place or (behind < len(beside) and at == beside[behind])


def _provision(tree: Tree, place: int) -> int:
    """Return the provision or the annex's point that contains a unit, or the unit itself."""
    inner = place
    for candidate in (place, *tree.above(place)):
        if tree.units[candidate].kind == "provision":
            return candidate
        if tree.units[candidate].kind == "annex":
            return inner
        inner = candidate
    return place
