"""The provisions that a question points to, in the documents, and what is told of them."""

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
"""The most documents that one answer is about; of more it asks which is meant."""
_MOST_LISTED, _MOST_UNITS = 10, 200
_LONGEST_HEADING, _ASKED_WORDS = 24, 60
_HEADED = POINTING | {*UNIT_WORDS, "headed", "heading", "titled", "entitled", "called", "named"}
_NEAREST, _ALIKE = 3, 0.5
_DIVIDE = frozenset(("part", "annex", "provision"))
_MOST_COMPARED, _MOST_CHARS = 8, 500_000
"""The most documents that are looked at, and the longest."""
_LONG = 3
"""The fewest letters of a name, and digits of a number without letters."""


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
    if pointing["titled"] and (headed := asked.headed()) is not None:
        return headed
    units = asked.units()
    told = [*asked.crowd, *asked.missing()]
    only = asked.whole(units) and bool(units or told or asked.surely)
    trees = [asked.tree(unit["document"]) for unit in units]
    parts = (telling.groups(t, u["place"]) for t, u in zip(trees, units, strict=True))
    if only and units and not told and all(parts):
        told = [line for unit in units for line in asked.outline(unit)]
        units = []
    return _pointed(units, told, view, only=only)


def _pointed(
    units: list[PointedUnit], told: list[StructureLine], view: View, *, only: bool
) -> Pointed:
    chunks = (chunk_id for unit in units for chunk_id in view.chunks_over(unit))
    first = [*dict.fromkeys(islice(chunks, MOST_POINTED))]
    return {"units": units, "chunks": first, "told": told, "only": only}


class _Question:
    """One question and the documents it may be about.

    ``crowd`` lists them if there are too many to choose from.
    """

    def __init__(self, pointing: Pointing, view: View) -> None:
        self._pointing, self._view = pointing, view
        self._several = len(view.titles) > 1
        self.crowd: list[StructureLine] = []
        self._found = [(p, self._places(p)) for p in pointing["pointers"]]

    @property
    def surely(self) -> bool:
        """Whether a provision is named, by a word for one."""
        return any(pointer["word"] != PARAGRAPH for pointer, _ in self._found)

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

    def whole(self, units: Sequence[PointedUnit]) -> bool:
        """Return whether a question asks for the whole text of units, and for nothing else.

        It may say what they are about, in words of their headings.
        """
        headings = (self._heading(unit["document"], unit["place"]) for unit in units)
        about = {term for heading in headings for term in tokenize(heading)}
        topic = self._pointing["topic"]
        headed = topic and all(about.issuperset(tokenize(word)) for word in topic)
        return self._pointing["only"] or bool(headed)

    def headed(self) -> Pointed | None:
        """Return the units that a question calls by their headings, or the nearest headings.

        Of all runs of its words, or of what it quotes, the longest that is a heading counts; a
        single word is one only if it is quoted or the question asks for nothing else.
        """
        words = self._pointing["titled"]
        quoted = [found["a"] or found["b"] for found in QUOTED.finditer(words)]
        found = self._longest(quoted or _runs_of(words)) or self._telling(quoted)
        said = {*tokenize(self._heading(*found[0]) if found else " ".join(quoted))}
        about = self._pointing["named"] or self._view.titles
        names = {w for name in about for w in words_of(name, self._view.titles.get(name, ""))}
        rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", words.lower())
        only = all(w in _HEADED or w in names or said.issuperset(tokenize(w)) for w in rest)
        if found and (only or quoted or len(said) > 1):
            units = [self._unit(*at) for at in found[:MOST_DOCUMENTS]]
            return _pointed(units, [], self._view, only=only)
        if not (quoted and only) or {"section", "heading"}.isdisjoint(rest):
            return None
        return _pointed([], self._nearest(quoted[0]), self._view, only=True)

    def _headings(self) -> Iterator[tuple[str, tuple[str, int]]]:
        for document in self._pointing["named"] or self._view.holding([], ()):
            for place, unit in enumerate(self.tree(document).units):
                if unit.heading and unit.kind in ("part", "provision", "annex"):
                    yield unit.heading, (document, place)

    def _telling(self, quoted: Sequence[str]) -> list[tuple[str, int]]:
        """Return the units, if they are few, whose headings have all words of what is quoted."""
        wanted = {*tokenize(" ".join(quoted))}
        if not wanted:
            return []  # no tree is read for what is not quoted
        found = [at for heading, at in self._headings() if wanted <= term_set(heading)]
        return found if len(found) <= MOST_DOCUMENTS else []

    def _nearest(self, heading: str) -> list[StructureLine]:
        """Return that nothing has a heading, and the headings that are most like it."""
        every = dict(self._headings())
        near = (every[one] for one in get_close_matches(heading, every, _NEAREST, _ALIKE))
        lines = [
            self._told(d, AnswerLine(f"{entitled(self.tree(d).units[p])}.", (p,)), named=True)
            for d, p in near
        ]
        begun = (
            f"No heading reads “{heading}”; the nearest are:"
            if lines
            else f"No heading reads “{heading}”."
        )
        return [{"line": begun, "citations": []}, *lines]

    def _longest(self, runs: Sequence[str]) -> list[tuple[str, int]]:
        found = self._view.headed(runs)
        named = [at for at in found if at[0] in self._pointing["named"]] or found
        sizes = [len(tokenize(self._heading(*at))) for at in named]
        most = max(sizes, default=0)
        longest = [at for at, size in zip(named, sizes, strict=True) if size == most]
        said = self._pointing["titled"].casefold()
        return [at for at in longest if folded(self._heading(*at)).casefold() in said] or longest

    def _heading(self, document: str, place: int) -> str:
        return self.tree(document).units[place].heading

    def missing(self) -> list[StructureLine]:
        """Return what is there in place of numbers that are in no document."""
        told: dict[str, StructureLine] = {}
        for pointer, found in self._found:
            lacking = [] if found else self._documents(pointer)
            missing = [(d, m) for d in lacking if (m := self._lacking(d, pointer)) is not None]
            named = [(d, m) for d, m in missing if d in self._pointing["named"]] or missing
            # a document that has some of the way is the one meant
            nearest = [(d, m) for d, m in named if m.within >= 0] or named
            # one whose provisions are called otherwise is meant only if none is called so
            called = [one for one in nearest if telling.members(self.tree(one[0]), pointer["word"])]
            nearest = called or nearest
            for document, lost in nearest[:MOST_DOCUMENTS]:
                line = telling.missing_line(self.tree(document), lost, document, pointer["written"])
                told[line.text] = self._told(document, line)
        return list(told.values())

    def of_structure(
        self, asked: StructureQuestion
    ) -> tuple[list[StructureLine], list[PointedUnit]]:
        """Return answers about the structure, and first or last units to be quoted."""
        scopes = [scope for _, found in self._found for scope in found]
        if not scopes and not self.surely:
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
            for line in telling.structure_answer(asked, self.tree(document), document, place)
        ], []

    def outline(self, unit: PointedUnit) -> Iterator[StructureLine]:
        """Yield the contents of a part."""
        for line in telling.outline(self.tree(unit["document"]), unit["place"]):
            yield self._told(unit["document"], line, named=line.text.endswith(":"))

    def _places(self, pointer: Pointer) -> list[tuple[str, int]]:
        """Return the places that a pointer leads to.

        If it leads into documents that are named, only these; of these, if there are any, only
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
        steps, found = reference.steps, tree.find(reference)
        if pointer["word"] == PARAGRAPH:
            return [p for p in found if self._is_paragraph(document, p, pointer)]
        found = found or tree.ending(reference)
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
        counted = pointer["word"] == PARAGRAPH
        called = self._is_paragraph if counted else partial(self._is_called, bare=True)
        if not called(document, place, pointer):
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

        One with a number such as 2.1 may be called anything, and with ``bare`` one that has but a
        number.
        """
        tree = self.tree(document)
        if "." in tree.units[place].number and bare:
            return True
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

    def _is_paragraph(self, document: str, place: int, pointer: Pointer) -> bool:
        """Return whether a place lies in a provision that is called a paragraph as well.

        Only a number names it, and no paragraph of another has that number, or it has no heading.
        """
        units, wanted = self.tree(document).units, pointer["steps"][0][1]
        path = [units[p] for p in (place, *self.tree(document).above(place))]
        root = next((unit for unit in path if unit.kind == "provision" and unit.number), None)
        if root is None or not self._is_called(document, place, pointer, bare=True):
            return False
        beside = any(unit.kind in ITEMS and unit.number == wanted for unit in units)
        return not (root.heading and beside)

    def _of_few(self, pointer: Pointer, found: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the places if they lie in few documents; else note in which."""
        documents = list(dict.fromkeys(document for document, _ in found))
        if len(documents) <= MOST_DOCUMENTS:
            return found
        if self._pointing["only"]:
            listed = [next(f for f in found if f[0] == d) for d in documents[:_MOST_LISTED]]
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
    """Return the unit at a place of a document's tree as what is pointed to."""
    unit = tree.units[place]
    return {
        "document": document,
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }


class _Name(NamedTuple):
    """What tells sections apart, as a question writes it.

    ``has`` finds it in a text, and ``like`` another of its form.
    """

    written: str
    has: Callable[[str], bool]
    like: Callable[[str], bool]


def other_sections(question: str, view: View) -> tuple[list[PointedUnit], list[str]]:
    """Return the sections that lack what a question names, and have another of its form instead.

    Of a number that is one of its form; else their headings, too, are of one form. Behind them
    stands what the question names.
    """
    if len(view.documents) > _MOST_COMPARED:
        return [], []
    written: dict[str, None] = {}
    found: list[PointedUnit] = []
    for document in view.documents:
        tree, text = view.tree_of(document), view.text_of(document) or ""
        if tree is None or len(text) > _MOST_CHARS:
            continue
        names = [name for name in _names(question, text) if name.has(text)]
        groups = (tree.children(place) for place in range(-1, len(tree.units)))
        for group in groups if names else ():
            if others := [*_others(document, tree, text, group, names)]:
                found += others
                written |= dict.fromkeys(name.written for name in names)
    return found, [*written]


def _others(
    document: str, tree: Tree, text: str, group: Sequence[int], names: Sequence[_Name]
) -> Iterator[PointedUnit]:
    """Yield those of some siblings that are about others."""
    sections = [p for p in group if tree.units[p].kind in _DIVIDE]
    said = {p: text[tree.units[p].start : tree.units[p].end] for p in sections}
    meant = {p for p in sections if any(name.has(said[p]) for name in names)}
    heads = [tree.units[p].heading for p in meant]
    for place in sections if meant else ():
        unit = tree.units[place]
        alike = any(head and of_one_form(head, unit.heading) for head in heads)
        if place not in meant and any(name.like(said[place]) or alike for name in names):
            yield unit_at(document, tree, place)


def _names(question: str, text: str) -> Iterator[_Name]:
    """Yield the numbers, days and names of a question that may tell sections of a text apart."""
    references = [*find_references(question), *loose_numbers(question)]
    taken = [range(one.start, one.end) for one in references]
    days = dates(question)
    if days:
        yield _Name("", lambda said: days <= dates(said), lambda _: False)
    for found in IDENTIFIER.finditer(question):
        written = found["id"]
        named = not written.isdigit() or len(written) > _LONG
        if named and not days and not any(found.start("id") in span for span in taken):
            yield _Name(written, _has(written), partial(_has_form_of, written))
    for word in dict.fromkeys(re.findall(rf"[^\W\d_]{{{_LONG},}}", question)):
        if word.lower() not in STOP_WORDS and _is_name(word, text):
            yield _Name(word, _has(word), lambda _: False)


def _is_name(word: str, text: str) -> bool:
    """Return whether a text writes a word, and always with a capital."""
    written = {found[0][0] for found in re.finditer(rf"\b{re.escape(word)}\b", text, re.I)}
    return bool(written) and all(map(str.isupper, written))


def _has(written: str) -> Callable[[str], bool]:
    return lambda said: whole(written).search(said) is not None


def _has_form_of(written: str, said: str) -> bool:
    """Return whether a text has a number with the same letters: "P-171" for "P-170"."""
    form = _form(written)
    return form != "0" and any(_form(found["id"]) == form for found in IDENTIFIER.finditer(said))


def _form(written: str) -> str:
    return re.sub(r"\d+", "0", written.lower())
