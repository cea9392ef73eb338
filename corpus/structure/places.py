"""From references to the units of a tree, and to what is nearest where there is no such unit."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lexloop.corpus.structure.markers import roman_value
from lexloop.corpus.structure.references import Reference, Step, steps_of
from lexloop.corpus.structure.tree import Tree
from lexloop.corpus.text.tokens import tokenize

_ANNEXES = ("annex", "schedule", "appendix")
_MOST = 200
_OR = re.compile(r",?\s+or\s+|\s*[,/]\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Missing:
    """A provision that is not there.

    Args:
        wanted: The steps asked for.
        within: The place of the innermost unit on the way that is there; -1 where there is none.
        first: The place of the first of its siblings that are there; -1 where there are none.
        last: The place of the last of them.
    """

    wanted: tuple[Step, ...]
    within: int
    first: int
    last: int


class Places:
    """Finds units by their numbers.

    Args:
        tree: The document's tree.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def find(self, reference: Reference, at: int = -1) -> list[int]:
        """The places that a reference names; nothing where one of them is not there.

        Args:
            reference: What is looked for.
            at: The place of the unit whose text refers; -1 for a question.
        """
        first = self._from(reference.steps, at)
        last = self._from(reference.last, at) if reference.last else first
        if first is None or last is None or last < first:
            return []
        if last == first:
            return [first]
        parent, units = self._tree.units[first].parent, self._tree.units
        between: Iterable[int]
        if units[last].parent == parent:
            siblings = self._tree.children(parent)
            between = siblings[bisect_left(siblings, first) : bisect_right(siblings, last)]
        else:  # a range of articles may run over chapters
            kind = units[first].kind
            between = (p for p in range(first, last + 1) if units[p].kind == kind)
        return [*islice((p for p in between if units[p].number), _MOST)]

    def ending(self, reference: Reference) -> list[int]:
        """The places of the units whose own steps end with those of a reference.

        Where chapters are numbered anew in each title, "chapter II" may be several.
        """
        wanted = _key(reference.steps)
        return [
            place
            for key, place in self._index.items()
            if len(key) > len(wanted) and key[-len(wanted) :] == wanted and wanted[0][0]
        ][:_MOST]

    def missing(self, reference: Reference) -> Missing | None:
        """What is there in place of a provision that is not; None where it is, or names none.

        A reference of a kind that the document does not have names nothing in it.
        """
        for steps in filter(None, (reference.steps, reference.last)):
            if self._place(steps) is None:
                return self._nearest(steps)
        return None

    def _nearest(self, steps: tuple[Step, ...]) -> Missing | None:
        for length in range(len(steps) - 1, 0, -1):
            within = self._place(steps[:length])
            if within is not None:
                return self._among(steps, within)
        whole, dot, _ = steps[0].number.rpartition(".")
        within = self._place((Step(steps[0].key, whole),)) if dot else None
        if within is not None:  # of "2.9", clause 2 is there
            return self._among(steps, within)
        roots = self._roots.get(steps[0].key, [])
        alike = [p for p in roots if ("." in self._tree.units[p].number) == bool(dot)]
        found = alike or roots
        return Missing(steps, -1, found[0], found[-1]) if found else None

    def _among(self, steps: tuple[Step, ...], within: int) -> Missing:
        """What is missing among the numbered children of a unit."""
        units = self._tree.units
        inside = self._tree.children(within)
        if not any(units[p].number for p in inside):  # an unnumbered paragraph leads into the list
            inside = [p for c in inside for p in self._tree.children(c)]
        found = [p for p in inside if units[p].number] or [-1]
        return Missing(steps, within, found[0], found[-1])

    def _from(self, steps: tuple[Step, ...], at: int) -> int | None:
        """The place that steps lead to: "paragraph 1" starts from the nearest unit that has one."""
        if steps[0].key or at < 0:
            return self._place(steps)
        bases = (steps_of(self._tree.units[p].label) for p in (at, *self._tree.above(at)))
        found = (self._place((*base, *steps)) for base in bases if base)
        return next((place for place in found if place is not None), None)

    def _place(self, steps: Sequence[Step]) -> int | None:
        return self._index.get(_key(steps))

    @cached_property
    def keys(self) -> dict[str, int]:
        """What ``key_of`` and ``keys_of_term`` make of each unit -> the first such unit's place."""
        found = {json.dumps(key): place for key, place in self._index.items()}
        for place, unit in enumerate(self._tree.units):
            if unit.kind == "definition":
                for key in keys_of_term(unit.heading):
                    found.setdefault(key, place)
        return found

    @cached_property
    def _index(self) -> dict[tuple[tuple[str, str], ...], int]:
        found: dict[tuple[tuple[str, str], ...], int] = {}
        for place, unit in enumerate(self._tree.units):
            if unit.number and (steps := steps_of(unit.label)):
                found.setdefault(_key(steps), place)
        return found

    @cached_property
    def _roots(self) -> dict[str, list[int]]:
        """By keyword the places of the outermost units that it names, in order."""
        found: dict[str, list[int]] = {}
        for key, place in self._index.items():
            part = self._tree.units[place].kind == "part"
            if len(key) == 1 or part or (len(key) == 2 and key[0][0] in _ANNEXES):
                found.setdefault(key[-1][0], []).append(place)
        return {key: sorted(places) for key, places in found.items()}


def key_of(steps: Sequence[Step]) -> str:
    """One text for all ways to write the same steps: chapter 3 is chapter III."""
    return json.dumps(_key(steps))


def keys_of_term(term: str) -> list[str]:
    """One text for all forms of a term, and one for each of those that "or" joins."""
    forms = [term, *(_OR.split(term) if _OR.search(term) else [])]
    stems = (tokenize(form) for form in forms)
    return list(dict.fromkeys(json.dumps({"defines": found}) for found in stems if found))


def _key(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    """Steps with their numbers on one scale: chapter 3 is chapter III."""
    return tuple((step.key, _number(step)) for step in steps)


def _number(step: Step) -> str:
    if not step.key or step.key in ("provision", "table"):
        return step.number
    roman = roman_value(step.number)
    return str(roman) if roman else step.number
