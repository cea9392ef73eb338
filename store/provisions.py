"""Records of documents: provisions, stretches of text, relations."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from typing_extensions import TypedDict

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.folding import folded
from lexloop.core.types import At
from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import (
    asked_references,
    broken_references,
    lead_ins,
    mentions,
    missing_place,
    named_places,
    owns_label,
)
from lexloop.documents.structure.place import at_of
from lexloop.documents.structure.telling import missing_line, not_found
from lexloop.documents.structure.tree import Tree
from lexloop.store.naming import NEAR, named_document, one_of, similar

if TYPE_CHECKING:
    from lexloop.store.graph import KnowledgeGraph, Relation
    from lexloop.store.view import View

HEADS = frozenset({"part", "annex", "provision"})
"""The kinds of units that are listed at any depth; the units in them count as deeper."""
_LONGEST = 20_000
"""The most characters of one stretch."""
SEE_TREE = "See the tree of the document."


class Where(TypedDict):
    """A place in a file: its page or, without pages, see ``At``."""

    page: int | None
    at: At


class Source(NamedTuple):
    """A document to show; ``pages`` has the offset of each page, if there are pages.

    ``identifier`` is the official one of a law, "" if unknown. ``document`` maps words to places in
    the file; None for a text without a file.
    """

    name: str
    identifier: str
    tree: Tree
    text: str
    pages: Sequence[int]
    document: Document | None = None

    @classmethod
    def of(cls, view: "View", phrase: str) -> Self:
        """Return the document of a view that is meant; see ``named_document``.

        Raises:
            InputError: No document matches, or several do.
        """
        name = named_document(view.documents, phrase)
        document = view.document(name)
        return cls.of_document(document, view.metadata([name])[name].identifier)

    @classmethod
    def of_document(cls, document: Document, identifier: str) -> Self:
        """Return a document that was read."""
        tree, text, pages = document.tree, document.text, document.pages
        return cls(document.name, identifier, tree, text, pages, document)

    def where(self, start: int, end: int) -> "Where":
        """Return where a span begins: its page, if there are pages, and its place in the file."""
        at = at_of(self.document, start, end) if self.document else At()
        return {"page": bisect_right(self.pages, start) or None, "at": at}

    def places(self, phrase: str, see: str) -> list[int]:
        """Return the places of a provision; several if they share one label.

        Args:
            phrase: Its label, number or heading.
            see: Hint of the error if there is none.

        Raises:
            InputError: There is no such provision, or the words are ambiguous.
        """
        tree, name = self.tree, self.name
        places = named_places(tree, phrase)
        labels = list(dict.fromkeys(tree.units[place].label for place in places))
        if places and (len(labels) == 1 or asked_references(phrase)):
            return places
        if places:
            raise InputError(f"{phrase!r} fits {len(labels)} places.", one_of("Name one:", labels))
        missing = missing_place(tree, phrase)
        if missing is not None:
            raise NotFoundError(missing_line(tree, missing, name, phrase).text, see)
        known = {text.casefold(): text for u in tree.units for text in (u.label, u.heading) if text}
        alike = similar(folded(phrase).casefold(), known)
        raise NotFoundError(
            not_found(phrase, name), one_of("Near it are:", alike) if alike else see
        )

    def record(self, place: int) -> dict[str, Any]:
        """Return a unit's label, kind, number, heading, place and span, without its text."""
        unit = self.tree.units[place]
        return {
            **{name: getattr(unit, name) for name in ("label", "kind", "number", "heading")},
            **self.where(unit.start, unit.end),
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
                {"said": phrase, "labels": [units[at].label for at in targets]}
                for phrase, targets in mentions(tree, place, text).items()
            ],
        }

    def outline(self, depth: int) -> dict[str, Any]:
        """Return the units of the document, and the doubts about its structure."""
        return {
            "document": self.name,
            "identifier": self.identifier,
            "units": self.units(depth),
            "problems": self.doubts(),
        }

    def units(self, depth: int) -> list[dict[str, Any]]:
        """Return the units of the document, each with its depth."""
        listed = self.listed(range(len(self.tree)), depth)
        return [{**self.record(place), "depth": level} for place, level in listed]

    def doubts(self) -> list[str]:
        """Return gaps in the numbering, and references to missing provisions."""
        return [*self.tree.problems, *broken_references(self.tree, self.text)]

    def listed(self, places: Sequence[int], depth: int) -> list[tuple[int, int]]:
        """Return the units to list, each with its depth among the listed ones."""
        units = self.tree.units
        below: dict[int, int] = {}
        indent: dict[int, int] = {}
        listed: list[tuple[int, int]] = []
        for place in places:
            unit = units[place]
            head = unit.kind in HEADS or (unit.kind == "table" and bool(unit.number))
            below[place] = 0 if head else below.get(unit.parent, 0) + 1
            indent[place] = indent.get(unit.parent, 0)
            if below[place] <= depth:
                listed.append((place, indent[place]))
                indent[place] += 1
        return listed

    def stretch(self, start: int, end: int) -> dict[str, Any]:
        """Return the text from ``start`` to ``end``, widened to whole provisions.

        If that is too long, it is widened to whole lines only, and cut. Reading on from its end
        reaches the end of the document.
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
        """Return the span of the provision at an offset, or of its line."""
        units, place = self.tree.units, self.tree.at(offset)
        while place >= 0 and units[place].kind not in HEADS:
            place = units[place].parent
        if place >= 0 and units[place].kind != "part":
            return units[place].start, units[place].end
        text = self.text
        return text.rfind("\n", 0, offset) + 1, text.find("\n", offset) + 1 or len(text)


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
                    **relation.triplet,
                    "subject_entity": relation.subject,
                    "object_entity": relation.object,
                    "reached": relation.reached,
                }
                for relation in self.relations
            ],
        }


def neighbourhood(
    graph: "KnowledgeGraph", entity: str, depth: int, limit: int, *, where: str, elsewhere: str = ""
) -> Neighbourhood:
    """Return the relations around an entity, each with the place that states it.

    Args:
        graph: Graph of all documents that the caller may see.
        entity: A term, an acronym or a section.
        depth: Number of entities to go away from the first.
        limit: The most relations.
        where: Name of the documents for the error if there is no such entity.
        elsewhere: Another hint for the error.

    Raises:
        InputError: There is no such entity; similar ones are named.
    """
    name = _named(graph, entity, where, elsewhere)
    relations = graph.neighbourhood(name, depth, limit)
    ends = (
        end
        for relation in relations
        for end in (relation.subject, relation.object, relation.reached)
    )
    words = graph.written([name, *ends])
    shown = [
        relation._replace(
            subject=words[relation.subject],
            object=words[relation.object],
            reached=words[relation.reached],
        )
        for relation in relations
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
