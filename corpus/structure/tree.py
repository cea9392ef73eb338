"""The tree of a document: its parts, provisions, paragraphs, points, definitions and tables."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from lexloop.corpus.structure.places import Places

Kind = Literal[
    "part",  # title, part, chapter, division: groups provisions
    "annex",  # annex, schedule, appendix
    "provision",  # article, section, rule, clause, or what lies under an unnumbered heading
    "paragraph",  # the first level within a provision
    "point",  # anything deeper in a list
    "definition",  # of a term that has no number of its own
    "text",  # an unnumbered paragraph
    "recital",  # an opening reason
    "table",
    "row",
    "columns",  # the row that names a table's columns
    "note",  # an advisory, a source note, a footnote
    "contents",  # a table of contents
    "closing",  # signatures and what follows them
]
_INOPERATIVE = frozenset({"recital", "note", "contents", "closing"})
ITEMS = frozenset({"paragraph", "point", "definition"})
"""What a list is made of."""
LEADS = (":", "—", "–", ":-")
"""How the words end that a list's items complete."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One node of the tree.

    Args:
        kind: What it is.
        number: As the document writes it, without brackets: ``5``, ``a``, ``III``, ``4.2``; the key
            of a row, the term of a definition.
        heading: Its own heading, without the number.
        label: How a citation names it: ``Article 5(1)(a)``. Units without a number of their own
            have the label of what they lie in.
        start: Where it begins in the document's text, in code points.
        body: Where its own words begin behind its heading; a number in front of them is theirs.
        end: Where it ends, all below it included; half-open.
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


@dataclass(frozen=True)
class Tree:
    """All units of one document in the order in which they begin, parents before children.

    Args:
        units: Their spans nest: a child lies within its parent, and siblings do not overlap.
        problems: What is wrong with the numbering, in words, in order.
    """

    units: tuple[Unit, ...] = ()
    problems: tuple[str, ...] = ()
    _children: dict[int, list[int]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for place, unit in enumerate(self.units):
            self._children.setdefault(unit.parent, []).append(place)

    def __len__(self) -> int:
        return len(self.units)

    def children(self, place: int) -> Sequence[int]:
        """The places of a unit's children, in order; of the top units for -1."""
        return self._children.get(place, ())

    def below(self, place: int) -> range:
        """The places of everything below a unit."""
        end, last = self.units[place].end, place + 1
        while last < len(self.units) and self.units[last].start < end:
            last += 1
        return range(place + 1, last)

    def above(self, place: int) -> Iterator[int]:
        """The places of a unit's ancestors, the nearest first."""
        while (place := self.units[place].parent) >= 0:
            yield place

    def at(self, offset: int) -> int:
        """The place of the deepest unit that holds an offset; -1 where none does."""
        place = bisect_right(self._starts, offset) - 1
        while place >= 0 and self.units[place].end <= offset:
            place = self.units[place].parent
        return place

    def around(self, start: int, end: int) -> int:
        """The place of the deepest unit that holds a whole span; -1 where none does."""
        place = self.at(start)
        while place >= 0 and self.units[place].end < end:
            place = self.units[place].parent
        return place

    def own_end(self, place: int) -> int:
        """Where a unit's own text ends: where its first child begins."""
        children = self.children(place)
        return self.units[children[0]].start if children else self.units[place].end

    def items(self, place: int) -> list[int]:
        """The places of the items of a unit's list: its children that are of the first one's kind.

        What is defined behind a list is none of its items.
        """
        found = [child for child in self.children(place) if self.units[child].kind in ITEMS]
        return [child for child in found if self.units[child].kind == self.units[found[0]].kind]

    def operative(self, place: int) -> bool:
        """Whether a unit says what holds; a recital, a note or a list of contents does not."""
        return not any(self.units[p].kind in _INOPERATIVE for p in (place, *self.above(place)))

    def leads(self, place: int, text: str) -> bool:
        """Whether a unit's own words lead into the items below it."""
        own = text[self.units[place].body : self.own_end(place)].rstrip()
        return own.endswith(LEADS) and any(
            self.units[child].kind in ITEMS for child in self.children(place)
        )

    @cached_property
    def found_by(self) -> "Places":
        """Finds its units by their numbers; made once, however many questions are asked."""
        from lexloop.corpus.structure.places import Places

        tree: Any = self  # pyright sees this module by two names
        return Places(tree)

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.start for unit in self.units]

    @cached_property
    def labels(self) -> dict[str, int]:
        """Label -> the place of the unit that has it; of several the first."""
        found: dict[str, int] = {}
        for place, unit in enumerate(self.units):
            if unit.label:
                found.setdefault(unit.label, place)
        return found

    def to_json(self) -> str:
        """The tree as text, to be stored."""
        return json.dumps(
            {"units": [astuple(unit) for unit in self.units], "problems": self.problems},
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, stored: str) -> Self:
        """The tree that ``to_json`` wrote."""
        held = json.loads(stored)
        return cls(tuple(Unit(*row) for row in held["units"]), tuple(held["problems"]))
