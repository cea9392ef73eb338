"""What documents hold, as records: provisions, stretches of text, versions, relations."""

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.folding import folded
from lexloop.core.metadata import Metadata
from lexloop.documents.document import older_version
from lexloop.documents.structure.lookup import (
    asked_references,
    lead_ins,
    mentions,
    missing_place,
    named_places,
    owns_label,
    unfound,
)
from lexloop.documents.structure.telling import missing_line, not_found
from lexloop.documents.structure.tree import Tree
from lexloop.store.naming import NEAR, named_document, one_of, similar

if TYPE_CHECKING:
    from lexloop.store.graph import KnowledgeGraph, Relation
    from lexloop.store.view import View

HEADS = frozenset({"part", "annex", "provision"})
"""The kinds of units that are listed whatever the depth; what lies in them counts as deeper."""
_LONGEST = 20_000
"""The most characters of one stretch."""
SEE_TREE = "See the tree of the document."
_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_MOST_CHARACTERS = 400_000
_LINE = re.compile(r"[^\n]*\n+|[^\n]+")
_MOST_PAIRS = 1_000_000
"""Pairs of equal lines or words beyond which two passages are shown one after the other."""
_FEWEST_SAME = 2
"""Words in common between two changes that are shown as such; fewer make them one change."""


class Source(NamedTuple):
    """A document to show; ``pages`` has the offset at which each page begins, if it has any.

    ``identifier`` is what the law is known by; empty where nobody says.
    """

    name: str
    identifier: str
    tree: Tree
    text: str
    pages: Sequence[int]

    @classmethod
    def of(cls, view: "View", said: str) -> Self:
        """Return the document of a view that is meant; see ``named_document``.

        Raises:
            InputError: No document or several are meant.
        """
        name = named_document(view.documents, said)
        tree, text = view.tree_of(name), view.text_of(name)
        assert tree is not None
        assert text is not None
        identifier = view.metadata([name])[name].identifier
        return cls(name, identifier, tree, text, view.pages_of(name))

    def places(self, said: str, see: str) -> list[int]:
        """Return the places of a provision; several where they share one label.

        Args:
            said: Its label, number or heading.
            see: What the error hints at where there is none.

        Raises:
            InputError: There is none, or it is not said which.
        """
        tree, name = self.tree, self.name
        found = named_places(tree, said)
        labels = list(dict.fromkeys(tree.units[place].label for place in found))
        if found and (len(labels) == 1 or asked_references(said)):
            return found
        if found:
            raise InputError(f"{said!r} fits {len(labels)} places.", one_of("Name one", labels))
        missing = missing_place(tree, said)
        if missing is not None:
            raise NotFoundError(missing_line(tree, missing, name, said).text, see)
        known = {text.casefold(): text for u in tree.units for text in (u.label, u.heading) if text}
        alike = similar(folded(said).casefold(), known)
        raise NotFoundError(not_found(said, name), one_of("Near it are", alike) if alike else see)

    def record(self, place: int) -> dict[str, Any]:
        """Return a unit's label, kind, number, heading, page and span, without its text."""
        unit = self.tree.units[place]
        return {
            **{name: getattr(unit, name) for name in ("label", "kind", "number", "heading")},
            "page": bisect_right(self.pages, unit.start) or None,
            "start": unit.start,
            "end": unit.end,
        }

    def provision(self, place: int) -> dict[str, Any]:
        """Return a unit with the headings above it, its lead-ins, its text and its references."""
        tree, text, units = self.tree, self.text, self.tree.units
        above = [at for at in tree.above(place) if owns_label(tree, at)]
        return {
            **self.record(place),
            "above": [self.record(at) for at in above[::-1]],
            "lead_in": lead_ins(tree, place, text),
            "text": text[units[place].start : units[place].end].strip(),
            "refers_to": [
                {"said": said, "labels": [units[at].label for at in there]}
                for said, there in mentions(tree, place, text).items()
            ],
        }

    def outline(self, depth: int) -> dict[str, Any]:
        """Return what the document consists of, and the doubts of its reading."""
        return {
            "document": self.name,
            "identifier": self.identifier,
            "units": self.units(depth),
            "problems": self.doubts(),
        }

    def units(self, depth: int) -> list[dict[str, Any]]:
        """Return what the document consists of, each part with the number of those it lies in."""
        listed = self.listed(range(len(self.tree)), depth)
        return [{**self.record(place), "depth": level} for place, level in listed]

    def doubts(self) -> list[str]:
        """Return what is wrong with the numbering, and what is referred to and is not there."""
        return [*self.tree.problems, *unfound(self.tree, self.text)]

    def listed(self, places: Sequence[int], depth: int) -> list[tuple[int, int]]:
        """Return the units to list, each with the number of listed units that it lies in."""
        units = self.tree.units
        below: dict[int, int] = {}
        indent: dict[int, int] = {}
        found: list[tuple[int, int]] = []
        for place in places:
            unit = units[place]
            head = unit.kind in HEADS or (unit.kind == "table" and bool(unit.number))
            below[place] = 0 if head else below.get(unit.parent, 0) + 1
            indent[place] = indent.get(unit.parent, 0)
            if below[place] <= depth:
                found.append((place, indent[place]))
                indent[place] += 1
        return found

    def stretch(self, start: int, end: int) -> dict[str, Any]:
        """Return the text from ``start`` to ``end``, or as much more as whole provisions take.

        What would be longer than a stretch may be is widened to whole lines alone, and cut: whoever
        goes on from its end comes to the end of the document.
        """
        length, units = len(self.text), self.tree.units
        start, end = min(start, length), min(max(start, end), length)
        first, last = self._widened(start, end)
        inside = [p for p, u in enumerate(units) if u.start < last and first < u.end]
        return {
            "document": self.name,
            "text": self.text[first:last],
            "start": first,
            "end": last,
            "length": length,
            "units": [{**self.record(place), "body": units[place].body} for place in inside],
            "pages": list(self.pages),
        }

    def _widened(self, start: int, end: int) -> tuple[int, int]:
        first = min(self._provision_at(start)[0], start)
        last = max(self._provision_at(max(start, end - 1))[1], end)
        if last - first <= _LONGEST:
            return first, last
        first = self.text.rfind("\n", 0, start) + 1
        if start - first > _LONGEST // 2:
            first = start
        last = self.text.find("\n", end) + 1 or len(self.text)
        if last - first <= _LONGEST:
            return first, last
        cut = self.text.rfind("\n", max(start, first + 1), first + _LONGEST) + 1
        return first, cut if cut > start else first + _LONGEST

    def _provision_at(self, offset: int) -> tuple[int, int]:
        """Return the span of the provision that holds an offset, or of its line."""
        units, place = self.tree.units, self.tree.at(offset)
        while place >= 0 and units[place].kind not in HEADS:
            place = units[place].parent
        if place >= 0 and units[place].kind != "part":
            return units[place].start, units[place].end
        text = self.text
        return text.rfind("\n", 0, offset) + 1, text.find("\n", offset) + 1 or len(text)


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
    found, left = {document}, [document]
    while left:
        new = beside[left.pop()] - found
        found |= new
        left += new
    for name in known:
        if name not in found and _follows(view, name, found, known):
            found.add(name)
    order = {name: place for place, name in enumerate(known)}
    return sorted(found, key=lambda name: (_first_day(known[name]), order[name]))


def _follows(view: "View", name: str, others: set[str], known: Mapping[str, Metadata]) -> bool:
    """Return whether a document can be another version of all of these."""
    title, own = view.titles[name].casefold(), known[name]
    return bool(own.version) and all(
        title == view.titles[other].casefold()
        and own.jurisdiction == known[other].jurisdiction
        and bool(known[other].version)
        and _apart(own, known[other])
        for other in others
    )


def _apart(one: Metadata, other: Metadata) -> bool:
    """Return whether there is no day on which both are in force."""
    return _last_day(one) < _first_day(other) or _last_day(other) < _first_day(one)


def _first_day(metadata: Metadata) -> date:
    return metadata.in_force_from or date.min


def _last_day(metadata: Metadata) -> date:
    return metadata.in_force_to or date.max


def same_provision(source: Source, place: int, other: Source) -> int | None:
    """Return the place in another version of the provision at a place; None where it is gone.

    The heading counts more than the number, which may have moved; what has no heading is found by
    its number within what has one.
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
    named = [p for p, u in enumerate(other.tree.units) if u.heading.casefold() == heading]
    alike = [p for p in named if other.tree.units[p].kind == unit.kind]
    return alike[0] if len(alike) == 1 else labelled


def _labelled(source: Source, label: str) -> int | None:
    return next((p for p, u in enumerate(source.tree.units) if u.label == label), None)


def version_record(view: "View", source: Source, place: int | None, day: date) -> dict[str, Any]:
    """Return a version of a document, with a provision of it where it has that.

    It ``answers`` where it is in force on the day.
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
            {**version_record(view, one, None, day), "text": one.text} for one in (a, b)
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
    found: list[dict[str, str]] = []
    for old, new, same in _by_lines_and_words(a, b):
        for op, text in [("same", new)] if same else [("removed", old), ("added", new)]:
            if text and found and found[-1]["op"] == op:
                found[-1]["text"] += text
            elif text:
                found.append({"op": op, "text": text})
    return found


def _by_lines_and_words(a: str, b: str) -> Iterator[tuple[str, str, bool]]:
    for old, new, same in _blocks(_LINE.findall(a), _LINE.findall(b), 0):
        if same:
            yield old, new, True
        else:
            yield from _blocks(_WORD.findall(old), _WORD.findall(new), _FEWEST_SAME)


def _blocks(a: Sequence[str], b: Sequence[str], fewest: int) -> Iterator[tuple[str, str, bool]]:
    """Yield neighbouring runs of both, and whether they are the same but for blanks.

    Fewer than ``fewest`` words that are the same between two changes belong to them.
    """
    before, after = [piece.strip() for piece in a], [piece.strip() for piece in b]
    counted = Counter(filter(None, after))
    if sum(counted[piece] for piece in before) > _MOST_PAIRS:
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


class Neighbourhood(NamedTuple):
    """An entity, the number of its own relations, and relations up to ``depth`` entities away."""

    name: str
    depth: int
    degree: int
    relations: "list[Relation]"

    def record(self) -> dict[str, Any]:
        """Return the same as plain data."""
        return {
            "entity": self.name,
            "depth": self.depth,
            "degree": self.degree,
            "relations": [
                {
                    **found.triplet,
                    "subject_entity": found.subject,
                    "object_entity": found.object,
                    "reached": found.reached,
                }
                for found in self.relations
            ],
        }


def neighbourhood(
    graph: "KnowledgeGraph", entity: str, depth: int, limit: int, *, where: str, elsewhere: str = ""
) -> Neighbourhood:
    """Return the relations around an entity, each with the place that states it.

    Args:
        graph: Of all documents that the asker may see.
        entity: A term, an acronym or a section.
        depth: How many entities away to look.
        limit: The most relations.
        where: What the documents are called where there is no such entity.
        elsewhere: What else may be done then.

    Raises:
        InputError: There is none; what is like it is named.
    """
    name = _named(graph, entity, where, elsewhere)
    relations = graph.neighbourhood(name, depth, limit)
    ends = (end for found in relations for end in (found.subject, found.object, found.reached))
    words = graph.written([name, *ends])
    shown = [
        found._replace(
            subject=words[found.subject], object=words[found.object], reached=words[found.reached]
        )
        for found in relations
    ]
    return Neighbourhood(words[name], depth, graph.degree(name), shown)


def _named(graph: "KnowledgeGraph", entity: str, where: str, elsewhere: str) -> str:
    name = graph.find(entity)
    if name is not None:
        return name
    known = {name: name for name in graph.entities}
    alike = list(graph.match([entity], NEAR)) or similar(folded(entity).lower(), known)
    words = dict.fromkeys(graph.written(alike).values())
    hint = f"Near it are: {', '.join(map(repr, words))}." if alike else "Ask for one of its terms."
    raise InputError(
        f"The knowledge graph of {where} has no entity {entity!r}.", f"{hint} {elsewhere}".strip()
    )
