"""Versions of a document: which they are, the same provision in each, and their words compared."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.metadata import Metadata
from lexloop.documents.document import older_version
from lexloop.store.provisions import HEADS, SEE_TREE, Source

if TYPE_CHECKING:
    from lexloop.store.view import View

_WORD = re.compile(r"\w+(?:[.,:/]\d+)*|[^\w\s]|\s+")
_MOST_CHARACTERS = 400_000
_LINE = re.compile(r"[^\n]*\n+|[^\n]+")
MOST_PAIRS = 1_000_000
"""Pairs of equal lines or words beyond which two passages are shown one after the other."""
_FEWEST_SAME = 2
"""Words in common between two changes that are shown as such; fewer make them one change."""


def versions_of(view: "View", document: str) -> list[str]:
    """Return the versions of a document that a view shows, the oldest first.

    They supersede one another; or they share title and jurisdiction, and were never in force on
    the same day.
    """
    known = view.metadata(view.documents)
    beside: dict[str, set[str]] = {name: set() for name in known}
    for name, metadata in known.items():
        older = older_version(name, metadata, known)
        if older is not None and older != name:
            beside[name].add(older)
            beside[older].add(name)
    related, waiting = {document}, [document]
    while waiting:
        new = beside[waiting.pop()] - related
        related |= new
        waiting += new
    for name in known:
        if name not in related and _follows(view, name, related, known):
            related.add(name)
    order = {name: place for place, name in enumerate(known)}
    return sorted(related, key=lambda name: (_first_day(known[name]), order[name]))


def _follows(view: "View", name: str, related: set[str], known: Mapping[str, Metadata]) -> bool:
    """Return whether a document can be another version of all of these."""
    title, own = view.titles[name].casefold(), known[name]
    return bool(own.version) and all(
        title == view.titles[other].casefold()
        and own.jurisdiction == known[other].jurisdiction
        and bool(known[other].version)
        and _apart(own, known[other])
        for other in related
    )


def _apart(one: Metadata, other: Metadata) -> bool:
    """Return whether they are never in force on the same day."""
    return _last_day(one) < _first_day(other) or _last_day(other) < _first_day(one)


def _first_day(metadata: Metadata) -> date:
    return metadata.in_force_from or date.min


def _last_day(metadata: Metadata) -> date:
    return metadata.in_force_to or date.max


def same_provision(source: Source, place: int, other: Source) -> int | None:
    """Return the index of a provision in another version, or None if it is gone.

    The heading counts more than the number, which may have moved. A provision without a heading is
    found by its number inside the nearest provision with one.
    """
    units = source.tree.units
    headed = next((p for p in (place, *source.tree.above(place)) if _is_headed(source, p)), None)
    if headed is None:
        return _labelled(other, units[place].label)
    there = _same_head(source, headed, other)
    if there is None or headed == place:
        return there
    rest = units[place].label.removeprefix(units[headed].label)
    return _labelled(other, other.tree.units[there].label + rest)


def _is_headed(source: Source, place: int) -> bool:
    unit = source.tree.units[place]
    return unit.kind in HEADS and bool(unit.heading) and bool(unit.label)


def _same_head(source: Source, place: int, other: Source) -> int | None:
    unit = source.tree.units[place]
    labelled = _labelled(other, unit.label)
    heading = unit.heading.casefold()
    if labelled is not None and other.tree.units[labelled].heading.casefold() == heading:
        return labelled
    same_heading = [p for p, u in enumerate(other.tree.units) if u.heading.casefold() == heading]
    alike = [p for p in same_heading if other.tree.units[p].kind == unit.kind]
    return alike[0] if len(alike) == 1 else labelled


def _labelled(source: Source, label: str) -> int | None:
    return next((p for p, u in enumerate(source.tree.units) if u.label == label), None)


def version_record(view: "View", source: Source, place: int | None, day: date) -> dict[str, Any]:
    """Return the record of a document's version, with a provision if it has that.

    It ``answers`` if it is in force on the day.
    """
    metadata = view.metadata([source.name])[source.name]
    provision: dict[str, Any] = dict.fromkeys(("label", "heading", "text", "start", "end"))
    if place is not None:
        unit = source.tree.units[place]
        text = source.text[unit.start : unit.end].strip()
        provision = {**source.record(place), "text": text}
    return {
        "document": source.name,
        "title": view.titles[source.name],
        "in_force_from": metadata.in_force_from,
        "in_force_to": metadata.in_force_to,
        "version": metadata.version,
        "answers": metadata.in_force_on(day),
        **provision,
    }


def compared(view: "View", a: Source, b: Source, label: str, day: date) -> dict[str, Any]:
    """Return a provision in two versions, or without a label both whole, and how they differ.

    Raises:
        NotFoundError: Neither has the provision.
        InputError: The texts are too long.
    """
    if not label:
        first, second = (
            {**version_record(view, source, None, day), "text": source.text} for source in (a, b)
        )
    else:
        here, there = _in_both(a, b, label)
        first, second = version_record(view, a, here, day), version_record(view, b, there, day)
    texts = first["text"] or "", second["text"] or ""
    if sum(map(len, texts)) > _MOST_CHARACTERS:
        raise InputError("The two documents are too long to compare.", "Name a provision.")
    return {"a": first, "b": second, "parts": differences(*texts)}


def _in_both(a: Source, b: Source, label: str) -> tuple[int | None, int | None]:
    try:
        here = a.places(label, SEE_TREE)[0]
    except NotFoundError:
        there = b.places(label, SEE_TREE)[0]
        return same_provision(b, there, a), there
    return here, same_provision(a, here, b)


def differences(a: str, b: str) -> list[dict[str, str]]:
    """Return how one text became another, by words; without what was removed, they are ``b``."""
    changes: list[dict[str, str]] = []
    for old, new, same in compared_words(a, b):
        for op, text in [("same", new)] if same else [("removed", old), ("added", new)]:
            if text and changes and changes[-1]["op"] == op:
                changes[-1]["text"] += text
            elif text:
                changes.append({"op": op, "text": text})
    return changes


def compared_words(a: str, b: str) -> Iterator[tuple[str, str, bool]]:
    """Yield two texts piece by piece, and whether both pieces differ only in whitespace."""
    for old, new, same in _blocks(_LINE.findall(a), _LINE.findall(b), 0):
        if same:
            yield old, new, True
        else:
            yield from _blocks(_WORD.findall(old), _WORD.findall(new), _FEWEST_SAME)


def _blocks(a: Sequence[str], b: Sequence[str], fewest: int) -> Iterator[tuple[str, str, bool]]:
    """Yield neighbouring runs of both, and whether they differ only in whitespace.

    Fewer than ``fewest`` equal words between two changes count as changed.
    """
    before, after = [piece.strip() for piece in a], [piece.strip() for piece in b]
    counted = Counter(filter(None, after))
    if sum(counted[piece] for piece in before) > MOST_PAIRS:
        yield "".join(a), "".join(b), False
        return
    compared = difflib.SequenceMatcher(lambda piece: not piece, before, after, autojunk=False)
    codes = compared.get_opcodes()
    old: list[str] = []
    new: list[str] = []
    for number, (op, a0, a1, b0, b1) in enumerate(codes):
        between = 0 < number < len(codes) - 1
        if op == "equal" and not (between and sum(map(bool, before[a0:a1])) < fewest):
            if old or new:
                yield "".join(old), "".join(new), False
                old, new = [], []
            yield "".join(a[a0:a1]), "".join(b[b0:b1]), True
        else:
            old += a[a0:a1]
            new += b[b0:b1]
    if old or new:
        yield "".join(old), "".join(new), False
