"""Finding the provisions that a question points to, and answering questions about structure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import NamedTuple

from lexloop.core.folding import folded
from lexloop.core.types import (
    MOST_POINTED,
    Pointed,
    PointedUnit,
    Pointer,
    Pointing,
    StructureLine,
    StructureQuestion,
)
from lexloop.documents.document import Document
from lexloop.documents.structure import telling
from lexloop.documents.structure.references import (
    Reference,
    Step,
    find_references,
    loose_numbers,
)
from lexloop.documents.structure.telling import (
    UNIT_WORDS,
    AnswerLine,
    entitled,
    word_of,
)
from lexloop.documents.structure.tree import ITEMS, Missing, Tree
from lexloop.documents.text.quantities import dates
from lexloop.documents.text.tokens import (
    STOP_WORDS,
    UNBROKEN,
    term_set,
    tokenize,
)
from lexloop.nodes.question.naming import IDENTIFIER, of_one_form, whole
from lexloop.nodes.question.pointing import PARAGRAPH, POINTING, QUOTED, words_of
from lexloop.store.view import View

MOST_DOCUMENTS = 4
"""The most documents of one answer; if there are more, it asks which one is meant."""
_MOST_LISTED, _MOST_UNITS = 10, 200
_LONGEST_HEADING, _ASKED_WORDS = 24, 60
_HEADED = POINTING | {*UNIT_WORDS, "headed", "heading", "titled", "entitled", "called", "named"}
_NEAREST, _ALIKE = 3, 0.5
_DIVIDE = frozenset(("part", "annex", "provision"))
_MOST_COMPARED, _MOST_CHARS = 8, 500_000
"""The most documents that are compared, and the most characters of one."""
_LONG = 3
"""The fewest letters of a name, and the fewest digits of a number without letters."""


def point(pointing: Pointing | None, view: View) -> Pointed:
    """Return the provisions that a question points to, and lines about the structure."""
    if pointing is None:
        return {"units": [], "chunks": [], "told": [], "only": False}
    question = _Question(pointing, view)
    structure = pointing["structure"]
    if structure is not None and not pointing["foreign"]:
        told, units = question.of_structure(structure)
        if told or units:
            return _pointed(units, told, view, only=True)
    if pointing["titled"] and (headed := question.headed()) is not None:
        return headed
    units = question.units()
    told = [*question.crowd, *question.missing()]
    only = question.whole(units) and bool(units or told or question.names_provision)
    parts = (telling.groups(question.tree(unit["document"]), unit["place"]) for unit in units)
    if only and units and not told and all(parts):
        told = [line for unit in units for line in question.outline(unit)]
        units = []
    return _pointed(units, told, view, only=only)


def _pointed(
    units: list[PointedUnit], told: list[StructureLine], view: View, *, only: bool
) -> Pointed:
    chunks = (chunk_id for unit in units for chunk_id in view.chunks_over(unit))
    first = [*dict.fromkeys(islice(chunks, MOST_POINTED))]
    return {"units": units, "chunks": first, "told": told, "only": only}


class _Question:
    """A question and the documents that it may be about.

    ``crowd`` has the lines that list the documents if there are too many to choose from.
    """

    def __init__(self, pointing: Pointing, view: View) -> None:
        self._pointing, self._view = pointing, view
        self._several = len(view.titles) > 1
        self.crowd: list[StructureLine] = []
        self._targets = [(p, self._places(p)) for p in pointing["pointers"]]

    @property
    def names_provision(self) -> bool:
        """Whether the question has a word for a provision with its number."""
        return any(pointer["word"] != PARAGRAPH for pointer, _ in self._targets)

    def units(self) -> list[PointedUnit]:
        """Return the units pointed to, in the order of the question, without units in others."""
        every = [at for pointer, places in self._targets for at in self._of_few(pointer, places)]
        units = dict.fromkeys(every)
        outermost = [
            (document, place)
            for document, place in units
            if not any((document, above) in units for above in self.tree(document).above(place))
        ]
        return [self._unit(*at) for at in outermost[:_MOST_UNITS]]

    def whole(self, units: Sequence[PointedUnit]) -> bool:
        """Return whether a question only asks for the text of units.

        It may name their subject by words of their headings.
        """
        headings = (self._heading(unit["document"], unit["place"]) for unit in units)
        about = {term for heading in headings for term in tokenize(heading)}
        topic = self._pointing["topic"]
        headed = topic and all(about.issuperset(tokenize(word)) for word in topic)
        return self._pointing["only"] or bool(headed)

    def headed(self) -> Pointed | None:
        """Return the units whose headings are in a question, or the nearest headings.

        The longest heading counts, in its quotes or in any of its words. A single word counts only
        if it is quoted or nothing else is asked.
        """
        words = self._pointing["titled"]
        quotes = [match["a"] or match["b"] for match in QUOTED.finditer(words)]
        places = self._longest(quotes or _runs_of(words)) or self._with_words_of(quotes)
        terms = {*tokenize(self._heading(*places[0]) if places else " ".join(quotes))}
        about = self._pointing["named"] or self._view.titles
        names = {w for name in about for w in words_of(name, self._view.titles.get(name, ""))}
        rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", words.lower())
        only = all(w in _HEADED or w in names or terms.issuperset(tokenize(w)) for w in rest)
        if places and (only or quotes or len(terms) > 1):
            units = [self._unit(*at) for at in places[:MOST_DOCUMENTS]]
            return _pointed(units, [], self._view, only=only)
        if not (quotes and only) or {"section", "heading"}.isdisjoint(rest):
            return None
        return _pointed([], self._nearest(quotes[0]), self._view, only=True)

    def _with_words_of(self, quotes: Sequence[str]) -> list[tuple[str, int]]:
        """Return the units whose headings have all words of the quotes, if they are few."""
        wanted = {*tokenize(" ".join(quotes))}
        headings = self._headings() if wanted else ()  # without quotes, no tree is read
        places = [at for heading, at in headings if wanted <= term_set(heading)]
        return places if len(places) <= MOST_DOCUMENTS else []

    def _headings(self) -> Iterator[tuple[str, tuple[str, int]]]:
        for document in self._pointing["named"] or self._view.holding([], ()):
            for place, unit in enumerate(self.tree(document).units):
                if unit.heading and unit.kind in ("part", "provision", "annex"):
                    yield unit.heading, (document, place)

    def _nearest(self, heading: str) -> list[StructureLine]:
        """Return lines that say that a heading does not exist, with the most similar ones."""
        every = dict(self._headings())
        near = (every[other] for other in get_close_matches(heading, every, _NEAREST, _ALIKE))
        lines = [
            self._line(d, AnswerLine(f"{entitled(self.tree(d).units[p])}.", (p,)), named=True)
            for d, p in near
        ]
        first = (
            f"No heading reads “{heading}”; the nearest are:"
            if lines
            else f"No heading reads “{heading}”."
        )
        return [{"line": first, "citations": []}, *lines]

    def _longest(self, runs: Sequence[str]) -> list[tuple[str, int]]:
        places = self._in_named(self._view.headed(runs))
        sizes = [len(tokenize(self._heading(*at))) for at in places]
        longest = [at for at, size in zip(places, sizes, strict=True) if size == max(sizes)]
        text = self._pointing["titled"].casefold()
        return [at for at in longest if folded(self._heading(*at)).casefold() in text] or longest

    def _in_named(self, places: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the places in the documents that the question names, or all if there are none."""
        return [at for at in places if at[0] in self._pointing["named"]] or places

    def _heading(self, document: str, place: int) -> str:
        return self.tree(document).units[place].heading

    def missing(self) -> list[StructureLine]:
        """Return lines about numbers that no document has."""
        told: dict[str, StructureLine] = {}
        for pointer, places in self._targets:
            documents = [] if places else self._documents(pointer)
            missing = [(d, m) for d in documents if (m := self._missing_in(d, pointer)) is not None]
            named = [(d, m) for d, m in missing if d in self._pointing["named"]] or missing
            # a document that has a part of the path is meant
            nearest = [(d, m) for d, m in named if m.within >= 0] or named
            # a document with another word for provisions is meant only if no other has the word
            word = pointer["word"]
            nearest = [(d, m) for d, m in nearest if telling.members(self.tree(d), word)] or nearest
            for document, lost in nearest[:MOST_DOCUMENTS]:
                line = telling.missing_line(self.tree(document), lost, document, pointer["written"])
                told[line.text] = self._line(document, line)
        return list(told.values())

    def of_structure(
        self, structure: StructureQuestion
    ) -> tuple[list[StructureLine], list[PointedUnit]]:
        """Return the lines that answer a question about the structure, and units to quote."""
        scopes = [scope for _, places in self._targets for scope in places]
        if not scopes and not self.names_provision:
            listed = self._pointing["named"] or self._view.holding([], ())
            scopes = [(document, -1) for document in listed]
        word, end = structure["word"], structure["end"]
        members = {s: telling.members(self.tree(s[0]), word, s[1]) for s in scopes}
        having = [scope for scope in scopes if members[scope] or not word] or scopes
        if len(having) > MOST_DOCUMENTS:
            return [], []
        if word in telling.SMALL and not structure["counted"]:
            return [], [self._unit(*scope) for scope in scopes if scope[1] >= 0]
        if end is not None and structure["saying"]:
            return [], [self._unit(s[0], members[s][end]) for s in having if members[s]]
        return [
            self._line(document, line, named=place >= 0 and line.text.endswith((":", ".")))
            for document, place in having
            for line in telling.structure_answer(structure, self.tree(document), document, place)
        ], []

    def outline(self, unit: PointedUnit) -> Iterator[StructureLine]:
        """Yield the contents of a part."""
        for line in telling.outline(self.tree(unit["document"]), unit["place"]):
            yield self._line(unit["document"], line, named=line.text.endswith(":"))

    def _places(self, pointer: Pointer) -> list[tuple[str, int]]:
        """Return the places that a pointer may name.

        Places in named documents come before others, and then units with the question's own word.
        """
        places = [(d, p) for d in self._documents(pointer) for p in self._places_in(d, pointer)]
        named = self._in_named(places)
        return [(d, p) for d, p in named if self._is_called(d, p, pointer)] or named

    def _documents(self, pointer: Pointer) -> Iterable[str]:
        holding = self._view.holding([_reference(pointer)], self._pointing["named"])
        within = pointer["documents"]
        return [document for document in holding if within is None or document in within]

    def _places_in(self, document: str, pointer: Pointer) -> list[int]:
        tree, reference = self.tree(document), _reference(pointer)
        steps, places = reference.steps, tree.find(reference)
        if pointer["word"] == PARAGRAPH:
            return [p for p in places if self._is_paragraph(document, p, pointer)]
        places = places or tree.ending(reference)
        if not places and (at := next((i for i, s in enumerate(steps) if s.key == "section"), 0)):
            # "Article 12 of Chapter III": articles are numbered across chapters
            alone = (Step("provision", steps[at].number), *steps[at + 1 :])
            places = tree.find(Reference(0, 0, alone))
        if not places and pointer["unnumbered"]:
            places = tree.find(Reference(0, 0, steps[:-1]))
        return [place for place in places if self._is_called(document, place, pointer, bare=True)]

    def _missing_in(self, document: str, pointer: Pointer) -> Missing | None:
        """Return the provision that a document lacks, if the question may mean that document."""
        tree = self.tree(document)
        missing = tree.missing(_reference(pointer))
        if missing is None or pointer["coded"]:
            return None
        place = missing.last if missing.last >= 0 else missing.within
        counted = pointer["word"] == PARAGRAPH
        called = self._is_paragraph if counted else partial(self._is_called, bare=True)
        if not called(document, place, pointer):
            return None
        if self._pointing["only"] or missing.within >= 0:
            return missing
        # in a longer question, "section 230" may be of a law that is not here
        others = {name for _, places in self._targets for name, _ in places}
        meant = not self._several or document in {*self._pointing["named"], *others}
        within = pointer["documents"]
        meant = meant or (within is not None and len(within) < len(self._view.titles))
        alike = _style(tree.units[place].number) == _style(missing.wanted[0].number)
        return missing if meant and alike else None

    def _is_called(self, document: str, place: int, pointer: Pointer, bare: bool = False) -> bool:
        """Return whether a document uses the question's word for a provision.

        A number such as 2.1 goes with any word, and with ``bare`` so does a provision that has only
        a number.
        """
        tree = self.tree(document)
        if "." in tree.units[place].number and bare:
            return True
        lineage = (place, *tree.above(place))
        root = next((p for p in lineage if tree.units[p].kind == "provision"), -1)
        if root < 0 or not pointer["word"]:
            return True
        own = word_of(tree.units[root].label)
        if own == pointer["word"] or not bare:
            return own == pointer["word"]
        start = tree.units[root].start
        head = (self._view.text_of(document) or "")[start : start + 3]
        return not head.lower().startswith((own[:3], "§"))

    def _is_paragraph(self, document: str, place: int, pointer: Pointer) -> bool:
        """Return whether a place is in a provision that may be called a paragraph.

        Such a provision has only a number. It has no heading, or no paragraph elsewhere has the
        number.
        """
        tree, wanted = self.tree(document), pointer["steps"][0][1]
        lineage = [tree.units[p] for p in (place, *tree.above(place))]
        root = next((unit for unit in lineage if unit.kind == "provision" and unit.number), None)
        if root is None or not self._is_called(document, place, pointer, bare=True):
            return False
        return not (
            root.heading and any(u.kind in ITEMS and u.number == wanted for u in tree.units)
        )

    def _of_few(self, pointer: Pointer, places: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the places if they are in few documents; else list these in ``crowd``."""
        first = dict(reversed(places))
        if len(first) <= MOST_DOCUMENTS:
            return places
        if self._pointing["only"]:
            documents = list(dict.fromkeys(document for document, _ in places))
            written = " ".join(pointer["written"].split())
            count = f"{len(documents)} documents have {written}; name the one you mean:"
            self.crowd.append({"line": count, "citations": []})
            for name in documents[:_MOST_LISTED]:
                unit = entitled(self.tree(name).units[first[name]])
                self.crowd.append(self._line(name, AnswerLine(f"{name}: {unit}.", (first[name],))))
        return []

    def _line(self, document: str, line: AnswerLine, named: bool = False) -> StructureLine:
        tree, text = self.tree(document), self._view.text_of(document) or ""
        citations = [
            self._view.cited(
                document, *telling.heading_span(tree, place, text), tree.units[place].label
            )
            for place in line.places
        ]
        words = f"In {document}: {line.text}" if named and self._several else line.text
        return {"line": " ".join(words.split()), "citations": citations}

    def _unit(self, document: str, place: int) -> PointedUnit:
        return unit_at(document, self.tree(document), place)

    def tree(self, document: str) -> Tree:
        """Return a document's tree, or an empty one if there is no such document."""
        return self._view.tree_of(document) or Tree()


def _runs_of(text: str) -> list[str]:
    """Return all runs of a question's first words that may be a heading, the longest first."""
    words = [*islice(UNBROKEN.finditer(text), _ASKED_WORDS)]
    return [
        text[words[first].start() : words[first + length - 1].end()]
        for length in range(min(len(words), _LONGEST_HEADING), 0, -1)
        for first in range(len(words) - length + 1)
    ]


def _reference(pointer: Pointer) -> Reference:
    steps = tuple(Step(key, number) for key, number in pointer["steps"])
    return Reference(0, 0, steps, tuple(Step(key, number) for key, number in pointer["last"]))


def _style(number: str) -> str:
    return "".join(c for c in ".-:" if c in number)


def unit_at(document: str, tree: Tree, place: int) -> PointedUnit:
    """Return the unit at a place of a document's tree."""
    unit = tree.units[place]
    return {
        "document": document,
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }


class _Name(NamedTuple):
    """A name in a question that may distinguish sections.

    ``has`` finds it in a text, and ``like`` another name of its form.
    """

    written: str
    has: Callable[[str], object]
    like: Callable[[str], bool]


def other_sections(question: str, view: View) -> tuple[list[PointedUnit], list[str]]:
    """Return the sections about others than the question's names, and these names.

    A section is about another if it lacks the name and has a number of the same form, or if its
    heading has the form of a heading with the name.
    """
    if len(view.documents) > _MOST_COMPARED:
        return [], []
    written: dict[str, None] = {}
    units: list[PointedUnit] = []
    for name in view.documents:
        document = view.document(name)
        if len(document.text) > _MOST_CHARS:
            continue
        names = [own for own in _names(question, document.text) if own.has(document.text)]
        for place in range(-1, len(document.tree.units)) if names else ():
            if others := [*_others(document, document.tree.children(place), names)]:
                units += others
                written |= dict.fromkeys(own.written for own in names)
    return units, [*written]


def _others(
    document: Document, siblings: Sequence[int], names: Sequence[_Name]
) -> Iterator[PointedUnit]:
    """Yield the siblings that are about others."""
    units = document.tree.units
    sections = [p for p in siblings if units[p].kind in _DIVIDE]
    texts = {p: document.text[units[p].start : units[p].end] for p in sections}
    meant = {p for p in sections if any(name.has(texts[p]) for name in names)}
    heads = [units[p].heading for p in meant]
    for place in sections if meant else ():
        alike = any(head and of_one_form(head, units[place].heading) for head in heads)
        if place not in meant and (alike or any(name.like(texts[place]) for name in names)):
            yield unit_at(document.name, document.tree, place)


def _names(question: str, text: str) -> Iterator[_Name]:
    """Yield the numbers, days and names of a question that may distinguish sections of a text."""
    references = [*find_references(question), *loose_numbers(question)]
    taken = [range(reference.start, reference.end) for reference in references]
    days = dates(question)
    if days:
        yield _Name("", lambda section: days <= dates(section), lambda _: False)
    for match in IDENTIFIER.finditer(question):
        written = match["id"]
        named = not written.isdigit() or len(written) > _LONG
        if named and not days and not any(match.start("id") in span for span in taken):
            yield _Name(written, whole(written).search, partial(_has_form_of, written))
    for word in dict.fromkeys(re.findall(rf"[^\W\d_]{{{_LONG},}}", question)):
        if word.lower() not in STOP_WORDS and _is_name(word, text):
            yield _Name(word, whole(word).search, lambda _: False)


def _is_name(word: str, text: str) -> bool:
    """Return whether a text has a word, and always with a capital."""
    initials = {match[0][0] for match in re.finditer(rf"\b{re.escape(word)}\b", text, re.I)}
    return bool(initials) and all(map(str.isupper, initials))


def _has_form_of(written: str, text: str) -> bool:
    """Return whether a text has a number with the same letters: "P-171" for "P-170"."""
    form = _form(written)
    return form != "0" and any(_form(match["id"]) == form for match in IDENTIFIER.finditer(text))


def _form(written: str) -> str:
    return re.sub(r"\d+", "0", written.lower())
