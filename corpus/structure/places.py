"""From references to the units of a tree, and to what is nearest where there is no such unit."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lexloop.corpus.structure.markers import roman_value
from lexloop.corpus.structure.references import Reference, Step, steps_of
from lexloop.corpus.structure.tree import Tree

_ANNEXES = ("annex", "schedule", "appendix")
_MOST = 200


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
                numbered = [c for c in self._tree.children(within) if self._tree.units[c].number]
                found = numbered or [-1]
                return Missing(steps, within, found[0], found[-1])
        roots = self._roots.get(steps[0].key, [])
        return Missing(steps, -1, roots[0], roots[-1]) if roots else None

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
            if len(key) == 1 or (len(key) == 2 and key[0][0] in _ANNEXES):
                found.setdefault(key[-1][0], []).append(place)
        return {key: sorted(places) for key, places in found.items()}


def _key(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    """Steps with their numbers on one scale: chapter 3 is chapter III."""
    return tuple((step.key, _number(step)) for step in steps)


def _number(step: Step) -> str:
    if not step.key or step.key in ("provision", "table"):
        return step.number
    roman = roman_value(step.number)
    return str(roman) if roman else step.number
