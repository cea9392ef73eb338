"""What limits a provision: exceptions, conditions and provisos that its document has elsewhere."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from lexloop.documents.chunks.carrying import PROVISO, WHOLE, carried_from, spoken_of
from lexloop.documents.chunks.statements import Statement, sentence_at, unnumbered
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.exceptions import LIMITING

_SILENT = frozenset(("recital", "contents"))
"""Kinds of units that limit nothing."""
MOST = 3
"""The most limits that are quoted of one provision."""
_PART = frozenset(
    ("paragraph", "subsection", "sentence", "restriction", "prohibition", "obligation")
)


def limits_of(start: int, end: int, tree: Tree, text: str) -> list[Statement]:
    """Return the statements of a document that limit a span of it, in order.

    Such a statement has the words of an exception, a condition or a proviso, and names what is
    in the span: by its number, as "this Section" within the same section, or as "the foregoing" in
    the paragraph behind it.

    Args:
        start: Where the span begins, in code points; it lies in one provision.
        end: Where it ends; half-open.
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
        if PROVISO.match(limit.own):  # it limits what it stands under, whatever it names
            limits = any(
                tree.at(carried.start) == place for carried in carried_from(limit, tree, text)
            )
        else:
            limits = _names(limit, other, lineage, tree, together)
        if limits:
            limiting[limit.start] = limit
    return [*limiting.values()]


def notes_of(cited: Sequence[Statement], tree: Tree, text: str) -> list[Statement]:
    """Return the first footnotes that hang on what is quoted; see ``limits_of``."""
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
    """Return whether a statement in a unit ``at`` names a unit, or what it lies in.

    ``together`` says whether both are of one provision.
    """
    place = lineage[0]
    if together and at != place and spoken_of(limit.own) & WHOLE:
        return True
    if together and _follows(at, place, tree) and _points_to_the_last(limit.own):
        return True
    for reference in find_references(limit.own):
        if _is_subject_to(limit.own, reference.start) or (reference.itself and not together):
            continue  # it is limited by what it names
        named = (p for p in tree.find(reference, at) if tree.units[p].kind != "part")
        if set(named) & set(lineage):
            return at not in lineage[1:] or not reference.itself
    return False


def _is_subject_to(words: str, end: int) -> bool:
    """Return whether what is named from ``end`` on is what the words are subject to."""
    _, subject, between = " ".join(words[:end].lower().split()).rpartition("subject to")
    return bool(subject) and not any(sign in between for sign in ".;:")


def _points_to_the_last(words: str) -> bool:
    flat = f" {' '.join(words.lower().split())}"
    return bool(spoken_of(words) & _PART) or " the foregoing" in flat or " the above" in flat


def _follows(at: int, place: int, tree: Tree) -> bool:
    """Return whether a unit is the next one of those beside another, or is it."""
    beside = list(tree.children(tree.units[place].parent))
    behind = beside.index(place) + 1
    return at == place or (behind < len(beside) and at == beside[behind])


def _provision(tree: Tree, place: int) -> int:
    """Return the provision, or the point of an annex, that a unit is or lies in; else itself."""
    inner = place
    for candidate in (place, *tree.above(place)):
        if tree.units[candidate].kind == "provision":
            return candidate
        if tree.units[candidate].kind == "annex":
            return inner
        inner = candidate
    return place
