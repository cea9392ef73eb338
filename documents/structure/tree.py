"""The tree of a document: parts, provisions, paragraphs, points, definitions and tables."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice, pairwise
from operator import attrgetter, itemgetter
from typing import Literal, Self

from lexloop.core.folding import narrowed
from lexloop.documents.structure.references import Reference, Step, roman_value, steps_of
from lexloop.documents.text.tokens import tokenize

Kind = Literal[
    "part",  # title, part, chapter, division: contains provisions
    "annex",  # annex, schedule, appendix
    "provision",  # article, section, rule, clause, or the text under an unnumbered heading
    "paragraph",  # the first level within a provision
    "point",  # anything deeper in a list
    "definition",  # of a term without a number
    "text",  # an unnumbered paragraph
    "recital",  # an opening reason
    "table",
    "row",
    "columns",  # the row that names a table's columns
    "note",  # an advisory, a source note, a footnote
    "contents",  # a table of contents
    "closing",  # signatures and the text after them
]
_INOPERATIVE = frozenset({"recital", "note", "contents", "closing"})
_PREAMBLE = frozenset(("preamble", "recital", "recitals", "whereas", "background"))
Hung = tuple[int, int, int]
"""The offset of a footnote's mark, and the start and end of the footnote."""
ITEMS = frozenset({"paragraph", "point", "definition"})
"""The kinds of a list's items."""
LEADS = (":", "—", "–", ":-")
"""The endings of words that a list's items complete."""
_ANNEXES = ("annex", "schedule", "appendix")
_MOST = 200
_PEEK = 40
_OR = re.compile(r"(?:,|(?<!\s))\s+or\s+|(?:(?<!\s)\s+)?[,/]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A node of the tree.

    Args:
        number: Number as written, without brackets: ``5``, ``a``, ``III``, ``4.2``; the key of a
            row, the term of a definition.
        label: Its name in a citation: ``Article 5(1)(a)``. Units without a number have their
            parent's label.
        start: Start in the document's text, in code points.
        body: Start of its own text after its heading; includes a number before the text.
        end: End, including all units below; exclusive.
        parent: The place of its parent in the tree; -1 at the top.
    """

    kind: Kind
    number: str
    heading: str
    label: str
    start: int
    body: int
    end: int
    parent: int


_values = attrgetter(*(field.name for field in fields(Unit)))


@dataclass(frozen=True)
class Missing:
    """A provision that is missing, and its neighbours.

    Args:
        within: Place of the innermost existing unit on the way; -1 if there is none.
        first: Place of the first existing sibling; -1 if there are none.
        last: Place of the last one.
        beyond: Whether the siblings are numbered from the first without a gap or a repetition, and
            the missing number comes after them. Otherwise it may exist but was not recognised.
    """

    wanted: tuple[Step, ...]
    within: int
    first: int
    last: int
    beyond: bool = False


@dataclass(frozen=True)
class Tree:
    """All units of one document, sorted by start, parents before children.

    Args:
        units: The units; spans nest, and siblings do not overlap.
        problems: The faults of the numbering, in words, in order.
        notes: The footnotes, sorted by the offset of their mark.
    """

    units: tuple[Unit, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[Hung, ...] = ()

    def __len__(self) -> int:
        return len(self.units)

    def children(self, place: int) -> Sequence[int]:
        """Return the places of a unit's children, in order; of the top units for -1."""
        return self._children.get(place, ())

    def below(self, place: int) -> range:
        """Return the places of everything below a unit."""
        end, last = self.units[place].end, place + 1
        while last < len(self.units) and self.units[last].start < end:
            last += 1
        return range(place + 1, last)

    def above(self, place: int) -> Iterator[int]:
        """Yield the places of a unit's ancestors, the nearest first."""
        while (place := self.units[place].parent) >= 0:
            yield place

    def at(self, offset: int) -> int:
        """Return the place of the deepest unit at an offset, or -1."""
        place = bisect_right(self._starts, offset) - 1
        while place >= 0 and self.units[place].end <= offset:
            place = self.units[place].parent
        return place

    def around(self, start: int, end: int) -> int:
        """Return the place of the deepest unit that contains a span, or -1."""
        place = self.at(start)
        while place >= 0 and self.units[place].end < end:
            place = self.units[place].parent
        return place

    def notes_of(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return the spans of the footnotes with a mark in a span, in order."""
        first = bisect_right(self.notes, start, key=itemgetter(0))
        last = bisect_right(self.notes, end, key=itemgetter(0))
        return tuple((begin, stop) for _, begin, stop in self.notes[first:last])

    def own_end(self, place: int) -> int:
        """Return the end of a unit's own text, where its first child begins."""
        children = self.children(place)
        return self.units[children[0]].start if children else self.units[place].end

    def items(self, place: int) -> list[int]:
        """Return the places of a unit's list items: its children of the first item's kind.

        Definitions after a list are not its items.
        """
        items = [child for child in self.children(place) if self.units[child].kind in ITEMS]
        return [child for child in items if self.units[child].kind == self.units[items[0]].kind]

    def operative(self, place: int) -> bool:
        """Return whether a unit is operative, unlike a recital, a preamble, a note or contents."""
        units = [self.units[p] for p in (place, *self.above(place))]
        return not any(
            u.kind in _INOPERATIVE or (not u.number and u.heading.lower() in _PREAMBLE)
            for u in units
        )

    def leads(self, place: int, text: str) -> bool:
        """Return whether a unit's own text leads into the items below it.

        It does if it ends like a lead-in, or if it does not end like a sentence and the first item
        begins in lower case ("which the party can show (a) was known").
        """
        item = self.units[self._first_items[place]] if place in self._first_items else None
        lead = text[self.units[place].body : self.own_end(place)].rstrip()
        if item is None or narrowed(lead[-2:]).endswith(LEADS):
            return item is not None
        words = (
            text[item.body : item.body + _PEEK]
            .lstrip("( ")
            .removeprefix(item.number)
            .lstrip(").: \n")
        )
        return lead[-1:].isalnum() and words[:1].islower()

    def find(self, reference: Reference, at: int = -1) -> list[int]:
        """Return the places that a reference names; empty if one of them is missing.

        ``at`` is the place of the unit whose text refers; -1 for a question. "this Section 4.3" in
        an annex names the annex's own section, not another one with its number.
        """
        first = self._resolve_from(reference.steps, at)
        last = self._resolve_from(reference.last, at) if reference.last else first
        if first is None or last is None or last < first:
            return []
        if reference.itself and at >= 0 and first not in (at, *self.above(at)):
            return []
        if last == first:
            return [first]
        units, parent = self.units, self.units[first].parent
        between: Iterable[int]
        if units[last].parent == parent:
            siblings = self.children(parent)
            between = siblings[bisect_left(siblings, first) : bisect_right(siblings, last)]
        else:  # a range of articles may run over chapters
            kind = units[first].kind
            between = (p for p in range(first, last + 1) if units[p].kind == kind)
        return [*islice((p for p in between if units[p].number), _MOST)]

    def ending(self, reference: Reference) -> list[int]:
        """Return the places of the units whose steps end with those of a reference.

        If chapters are numbered anew in each title, "chapter II" may be several; so may "section 3"
        if each article has sections.
        """
        (first, *rest) = _key(reference.steps)
        divided = ("section", first[1]) if first[0] == "provision" else first
        wanted = (first if self._inner.get((*rest, first)[-1]) else divided, *rest)
        inner = self._inner.get(wanted[-1], ())
        ends = (place for key, place in inner if key[-len(wanted) :] == wanted)
        return [*islice(ends, _MOST)] if wanted[0][0] else []

    def missing(self, reference: Reference) -> Missing | None:
        """Return what replaces a missing provision in an answer; None if none is missing.

        A reference of a kind that the document does not use refers to another document.
        """
        for steps in filter(None, (reference.steps, reference.last)):
            if self._place(steps) is None:
                return self._nearest(steps)
        return None

    def _nearest(self, steps: tuple[Step, ...]) -> Missing | None:
        integer, dot, _ = steps[0].number.rpartition(".")
        paths = [steps[:length] for length in range(len(steps) - 1, 0, -1)]
        if dot:  # "2.9" is missing, but clause 2 exists
            paths.append((Step(steps[0].key, integer),))
        within = next((p for path in paths if (p := self._place(path)) is not None), None)
        if within is None:
            roots = self._roots.get(steps[0].key, [])
            # "Section 9" is not one of articles I to V
            if steps[0].key == "provision" and steps[0].number.isdigit():
                roots = [p for p in roots if not self.units[p].number.isalpha()]
            near = [p for p in roots if ("." in self.units[p].number) == bool(dot)] or roots
            if not near:
                return None
            return Missing(
                steps,
                -1,
                near[0],
                near[-1],
                self._is_beyond_roots(near, steps[0].number),
            )
        inside = self.children(within)
        if not any(self.units[p].number for p in inside):
            # an unnumbered paragraph leads into the list
            inside = [p for c in inside for p in self.children(c)]
        near = [p for p in inside if self.units[p].number]
        if not near:
            return Missing(steps, within, -1, -1)
        depth = min(len(steps_of(self.units[within].label)), len(steps) - 1)
        beyond = is_beyond(steps[depth].number, [self.units[p].number for p in near])
        return Missing(steps, within, near[0], near[-1], beyond)

    def _is_beyond_roots(self, places: Sequence[int], wanted: str) -> bool:
        """Return whether outermost units have a complete numbering, and a number is beyond it."""
        (stem, *more) = {self.units[place].label.rpartition(" ")[0] for place in places}
        named = [u.label.rpartition(" ") for u in self.units if u.label.endswith(u.number or " ")]
        alike = [n for word, _, n in named if word == stem and ("." in n) == ("." in wanted)]
        return not more and is_beyond(wanted, alike)

    def _resolve_from(self, steps: tuple[Step, ...], at: int) -> int | None:
        """Return the place that steps lead to, from the nearest ancestor that has one."""
        if steps[0].key or at < 0:
            return self._place(steps)
        bases = (steps_of(self.units[p].label) for p in (at, *self.above(at)))
        places = (self._place((*base, *steps)) for base in bases if base)
        return next((place for place in places if place is not None), None)

    def _place(self, steps: Sequence[Step]) -> int | None:
        """Return the place that steps name.

        If there is no § 4.2.1, "4.2.1" names § 4.2(1). If sections are numbered across articles,
        "Section 4.2 of Article IV" names § 4.2. If points are numbered across the sections of an
        annex, "Section B, point 14" names point 14.
        """
        place = self._numbered.get(_key(steps))
        if place is None and len(steps) > 2 and (part := self._numbered.get(_key(steps[:2]))):
            inner = self._numbered.get(_key((steps[0], *steps[2:])))
            place = inner if self.units[part].kind == "part" and inner in self.below(part) else None
        if place is None and [step.key for step in steps[:2]] == ["provision", "section"]:
            return self._place((Step("provision", steps[1].number), *steps[2:]))
        integer, dot, last = steps[0].number.rpartition(".")
        if place is not None or not dot:
            return place
        return self._place((Step(steps[0].key, integer), Step("", last), *steps[1:]))

    @cached_property
    def keys(self) -> dict[str, int]:
        """The first unit's place for each key that the functions below make."""
        places = {json.dumps(key): place for key, place in self._numbered.items()}
        for place, unit in enumerate(self.units):
            term = unit.kind == "definition"
            for key in keys_of_term(unit.heading) if term else [key_of_heading(unit.heading)]:
                if key:
                    places.setdefault(key, place)
        return places

    @cached_property
    def _numbered(self) -> dict[tuple[tuple[str, str], ...], int]:
        """The first unit's place for each key of steps, of units that have a number."""
        places: dict[tuple[tuple[str, str], ...], int] = {}
        for place, unit in enumerate(self.units):
            if unit.number and (steps := steps_of(unit.label)):
                places.setdefault(_key(steps), place)
        return places

    @cached_property
    def _inner(self) -> dict[tuple[str, str], list[tuple[tuple[tuple[str, str], ...], int]]]:
        """Keys without their first step, and places, of nested units by their last step."""
        by_last: dict[tuple[str, str], list[tuple[tuple[tuple[str, str], ...], int]]] = {}
        for key, place in self._numbered.items():
            if len(key) > 1:
                by_last.setdefault(key[-1], []).append((key[1:], place))
        return by_last

    @cached_property
    def _roots(self) -> dict[str, list[int]]:
        """The places of the outermost units of each keyword, in order."""
        roots: dict[str, list[int]] = {}
        for key, place in self._numbered.items():
            part = self.units[place].kind == "part"
            if len(key) == 1 or part or (len(key) == 2 and key[0][0] in _ANNEXES):
                roots.setdefault(key[-1][0], []).append(place)
        return {key: sorted(places) for key, places in roots.items()}

    @cached_property
    def _first_items(self) -> dict[int, int]:
        """The place of the first list item of each unit that has one."""
        firsts: dict[int, int] = {}
        for place, unit in enumerate(self.units):
            if unit.kind in ITEMS:
                firsts.setdefault(unit.parent, place)
        return firsts

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.start for unit in self.units]

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for place, unit in enumerate(self.units):
            children.setdefault(unit.parent, []).append(place)
        return children

    @cached_property
    def labels(self) -> dict[str, int]:
        """The first unit's place for each label."""
        places: dict[str, int] = {}
        for place, unit in enumerate(self.units):
            if unit.label:
                places.setdefault(unit.label, place)
        return places

    def to_json(self) -> str:
        """Return the tree as text, to be stored."""
        return json.dumps(
            {
                "units": [*map(_values, self.units)],
                "problems": self.problems,
                "notes": self.notes,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, stored: str) -> Self:
        """Return the tree of a text by ``to_json``."""
        record = json.loads(stored)
        notes = tuple((at, start, end) for at, start, end in record["notes"])
        return cls(tuple(Unit(*row) for row in record["units"]), tuple(record["problems"]), notes)


def is_whole(numbers: Sequence[str]) -> bool:
    """Return whether numbers run from the first on: 1, 2, 3; a, b; I, II.

    False if a number is missing or repeated; an inserted number such as 2a counts with 2.
    """
    return _numeral_reader(numbers) is not None


def is_beyond(wanted: str, numbers: Sequence[str]) -> bool:
    """Return whether a number comes after numbers that run from the first on."""
    value_of = _numeral_reader(numbers)
    return value_of is not None and value_of(_last(wanted)) > value_of(_last(numbers[-1]))


def _numeral_reader(numbers: Sequence[str]) -> Callable[[str], int] | None:
    """Return the function that reads numbers as values from 1 on; None if none does."""
    last_parts = [_last(number) for number in numbers]
    if len({number.lower() for number in numbers}) < max(1, len(numbers)):
        return None
    for value_of in (_digits, _letter, roman_value):
        values = [value_of(number) for number in last_parts]
        steps = (after - before for before, after in pairwise([0, *values]))
        if values[0] == 1 and all(0 <= step <= 1 for step in steps):
            return value_of
    return None


def _last(number: str) -> str:
    return re.split(r"[.\-:\s]", number.lower())[-1]


def _digits(number: str) -> int:
    match = re.match(r"[0-9]{1,15}", number)
    return int(match.group()) if match else 0


def _letter(number: str) -> int:
    """Return the position of a letter in the alphabet, "aa" after "z"; 0 if it is not a letter."""
    if not number.isascii() or not number.isalpha() or len(set(number)) > 1:
        return 0
    return 26 * (len(number) - 1) + ord(number[0]) - ord("a") + 1


def key_of(steps: Sequence[Step]) -> str:
    """Return one key for all ways to write the same steps: chapter 3 is chapter III."""
    return json.dumps(_key(steps))


def key_of_heading(heading: str) -> str:
    """Return one key for all ways to write a heading; "" if it has no word."""
    words = tokenize(heading) or re.findall(r"\w+", heading.lower())
    return json.dumps({"heads": words}) if words else ""


def keys_of_term(term: str) -> list[str]:
    """Return one key for all forms of a term, and one for each alternative joined by "or"."""
    forms = [term, *(_OR.split(term) if _OR.search(term) else [])]
    stems = (tokenize(form) for form in forms)
    return list(dict.fromkeys(json.dumps({"defines": stem}) for stem in stems if stem))


def _key(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    return tuple((step.key, _number(step)) for step in steps)


def _number(step: Step) -> str:
    roman = roman_value(step.number) if step.key not in ("", "provision", "table") else 0
    return str(roman) if roman else step.number
