"""What a question points to: provisions in the documents, and answers about their structure."""

from collections.abc import Iterable, Iterator
from itertools import islice

from lexloop.core.types import (
    MOST_POINTED,
    Pointed,
    PointedUnit,
    Pointer,
    Pointing,
    StructureLine,
    StructureQuestion,
)
from lexloop.documents.structure import telling
from lexloop.documents.structure.references import Reference, Step
from lexloop.documents.structure.telling import AnswerLine, entitled, word_of
from lexloop.documents.structure.tree import Missing, Tree
from lexloop.nodes.pointing import unit_at
from lexloop.store.view import View

MOST_DOCUMENTS = 4
"""The most documents that one answer is about; of more it asks which is meant."""
_MOST_NAMED, _MOST_UNITS = 10, 200


def point(pointing: Pointing | None, view: View) -> Pointed:
    """Return the provisions that a question points to, and what the structure itself says."""
    if pointing is None:
        return {"units": [], "chunks": [], "told": [], "only": False}
    asked = _Question(pointing, view)
    structure = pointing["structure"]
    if structure is not None and not pointing["foreign"]:
        said, units = asked.of_structure(structure)
        if said or units:
            return _pointed(units, said, view, only=True)
    units = asked.units()
    told = [*asked.crowd, *asked.missing()]
    trees = [asked.tree(unit["document"]) for unit in units]
    parts = (telling.groups(t, u["place"]) for t, u in zip(trees, units, strict=True))
    if pointing["only"] and units and not told and all(parts):
        told = [line for unit in units for line in asked.outline(unit)]
        units = []
    return _pointed(units, told, view, only=pointing["only"])


def _pointed(
    units: list[PointedUnit], told: list[StructureLine], view: View, *, only: bool
) -> Pointed:
    chunks = (chunk_id for unit in units for chunk_id in view.chunks_over(unit))
    first = [*dict.fromkeys(islice(chunks, MOST_POINTED))]
    return {"units": units, "chunks": first, "told": told, "only": only}


class _Question:
    """One question and the documents it may be about.

    ``crowd`` lists them where there are too many to choose from.
    """

    def __init__(self, pointing: Pointing, view: View) -> None:
        self._pointing, self._view = pointing, view
        self._several = len(view.titles) > 1
        self.crowd: list[StructureLine] = []
        self._found = [(p, self._places(p)) for p in pointing["pointers"]]

    def units(self) -> list[PointedUnit]:
        """Return the units pointed to, in the order of the question, none within another."""
        every = [at for pointer, found in self._found for at in self._of_few(pointer, found)]
        units = dict.fromkeys(every)
        outermost = [
            (document, place)
            for document, place in units
            if not any((document, above) in units for above in self.tree(document).above(place))
        ]
        return [self._unit(*at) for at in outermost[:_MOST_UNITS]]

    def missing(self) -> list[StructureLine]:
        """Return what is there in place of numbers that are in no document."""
        told: dict[str, StructureLine] = {}
        for pointer, found in self._found:
            lacking = [] if found else self._documents(pointer)
            missing = [(d, m) for d in lacking if (m := self._lacking(d, pointer)) is not None]
            named = [(d, m) for d, m in missing if d in self._pointing["named"]] or missing
            # a document that has some of the way is the one meant
            nearest = [(d, m) for d, m in named if m.within >= 0] or named
            for document, lost in nearest[:MOST_DOCUMENTS]:
                line = telling.missing_line(self.tree(document), lost, document, pointer["written"])
                told[line.text] = self._told(document, line)
        return list(told.values())

    def of_structure(
        self, asked: StructureQuestion
    ) -> tuple[list[StructureLine], list[PointedUnit]]:
        """Return answers about the structure, and first or last units to be quoted."""
        scopes = [scope for _, found in self._found for scope in found]
        if not scopes and not self._pointing["pointers"]:
            listed = self._pointing["named"] or self._view.holding([], ())
            scopes = [(document, -1) for document in listed]
        found = {s: telling.members(self.tree(s[0]), asked["word"], s[1]) for s in scopes}
        having = [scope for scope in scopes if found[scope] or not asked["word"]] or scopes
        if len(having) > MOST_DOCUMENTS:
            return [], []
        if asked["word"] in telling.SMALL and not asked["counted"]:
            return [], [self._unit(*scope) for scope in scopes if scope[1] >= 0]
        if asked["end"] is not None and asked["saying"]:
            ends = [self._unit(s[0], found[s][asked["end"]]) for s in having if found[s]]
            return [], ends
        return [
            self._told(document, line, named=place >= 0 and line.text.endswith((":", ".")))
            for document, place in having
            for line in telling.told(asked, self.tree(document), document, place)
        ], []

    def outline(self, unit: PointedUnit) -> Iterator[StructureLine]:
        """Yield the contents of a part."""
        for line in telling.outline(self.tree(unit["document"]), unit["place"]):
            yield self._told(unit["document"], line, named=line.text.endswith(":"))

    def _places(self, pointer: Pointer) -> list[tuple[str, int]]:
        """Return the places that a pointer leads to.

        Where it leads into documents that are named, only these; of these, if there are any, only
        the units that the documents call as the question does.
        """
        found = [(d, p) for d in self._documents(pointer) for p in self._lead(d, pointer)]
        named = [(d, p) for d, p in found if d in self._pointing["named"]] or found
        return [(d, p) for d, p in named if self._is_called(d, p, pointer)] or named

    def _documents(self, pointer: Pointer) -> Iterable[str]:
        holding = self._view.holding([_reference(pointer)], self._pointing["named"])
        within = pointer["documents"]
        return [document for document in holding if within is None or document in within]

    def _lead(self, document: str, pointer: Pointer) -> list[int]:
        tree, reference = self.tree(document), _reference(pointer)
        steps, found = reference.steps, tree.find(reference) or tree.ending(reference)
        if not found and (at := next((i for i, s in enumerate(steps) if s.key == "section"), 0)):
            # "Article 12 of Chapter III": the numbers of articles run on over chapters
            alone = (Step("provision", steps[at].number), *steps[at + 1 :])
            found = tree.find(Reference(0, 0, alone))
        if not found and pointer["unnumbered"]:
            found = tree.find(Reference(0, 0, steps[:-1]))
        return [place for place in found if self._is_called(document, place, pointer, bare=True)]

    def _lacking(self, document: str, pointer: Pointer) -> Missing | None:
        tree = self.tree(document)
        missing = tree.missing(_reference(pointer))
        if missing is None or pointer["coded"]:
            return None
        place = missing.last if missing.last >= 0 else missing.within
        if not self._is_called(document, place, pointer):
            return None
        if self._pointing["only"] or missing.within >= 0:
            return missing
        # beside what else is asked, "section 230" may be of a law that is not here
        others = {name for _, found in self._found for name, _ in found}
        meant = not self._several or document in {*self._pointing["named"], *others}
        within = pointer["documents"]
        meant = meant or (within is not None and len(within) < len(self._view.titles))
        alike = _style(tree.units[place].number) == _style(missing.wanted[0].number)
        return missing if meant and alike else None

    def _is_called(self, document: str, place: int, pointer: Pointer, bare: bool = False) -> bool:
        """Return whether a document's word for a provision is the question's.

        With ``bare`` one that has but a number may be called anything.
        """
        tree = self.tree(document)
        path = (place, *tree.above(place))
        root = next((p for p in path if tree.units[p].kind == "provision"), -1)
        if root < 0 or not pointer["word"]:
            return True
        own = word_of(tree.units[root].label)
        if own == pointer["word"] or not bare:
            return own == pointer["word"]
        start = tree.units[root].start
        head = (self._view.text_of(document) or "")[start : start + 3]
        return not head.lower().startswith((own[:3], "§"))

    def _of_few(self, pointer: Pointer, found: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the places where they lie in few documents; else note in which."""
        documents = list(dict.fromkeys(document for document, _ in found))
        if len(documents) <= MOST_DOCUMENTS:
            return found
        if self._pointing["only"]:
            listed = [next(f for f in found if f[0] == d) for d in documents[:_MOST_NAMED]]
            written = " ".join(pointer["written"].split())
            count = f"{len(documents)} documents have {written}; name the one you mean:"
            self.crowd.append({"line": count, "citations": []})
            self.crowd += [
                self._told(
                    d, AnswerLine(f"{d}: {entitled(self.tree(d).units[p])}.", (p,)), named=False
                )
                for d, p in listed
            ]
        return []

    def _told(self, document: str, line: AnswerLine, named: bool = False) -> StructureLine:
        tree, text = self.tree(document), self._view.text_of(document) or ""
        citations = [
            self._view.cited(
                document, *telling.heading_span(tree, place, text), tree.units[place].label
            )
            for place in line.places
        ]
        said = f"In {document}: {line.text}" if named and self._several else line.text
        return {"line": " ".join(said.split()), "citations": citations}

    def _unit(self, document: str, place: int) -> PointedUnit:
        return unit_at(document, self.tree(document), place)

    def tree(self, document: str) -> Tree:
        """Return a document's tree; an empty one where there is no such document."""
        return self._view.tree_of(document) or Tree()


def _reference(pointer: Pointer) -> Reference:
    steps = tuple(Step(key, number) for key, number in pointer["steps"])
    return Reference(0, 0, steps, tuple(Step(key, number) for key, number in pointer["last"]))


def _style(number: str) -> str:
    return "".join(c for c in ".-:" if c in number)
