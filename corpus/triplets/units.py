"""The statements of a document as the rules read them, each tied to the words that lead into it."""

from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.corpus.structure.statements import Span, statements, unnumbered
from lexloop.corpus.structure.tree import Tree

LONGEST = 4000
"""Characters of one unit that are read; a longer "sentence" is a table or no prose at all."""


@dataclass(frozen=True)
class Unit:
    """One statement, or a lead-in: ``text[start:end]``, ``body`` on one line without its number.

    Args:
        start: Where it begins, its number included.
        end: Where it ends, or where its reading does.
        body: What is read.
        lead: The unit whose clause this item continues: "An issuer must:" for "(a) keep ...".
        leads: Whether list items follow.
        label: How a citation names it.
        place: Of the deepest unit of the tree that holds its first character; -1 where none does.
    """

    start: int
    end: int
    body: str
    lead: "Unit | None" = None
    leads: bool = False
    label: str = ""
    place: int = -1


def units(tree: Tree, text: str) -> Iterator[Unit]:
    """The units of a document in order, each lead-in once before its first item.

    Args:
        tree: The document's tree.
        text: The whole text.
    """
    opened: dict[Span, Unit] = {}
    for statement in statements(tree, text):
        if statement.points:
            continue  # a list says what its points say
        lead: Unit | None = None
        for span in statement.leads:
            if span not in opened:
                opened[span] = _unit(tree, text, span, lead, leads=True)
                yield opened[span]
            lead = opened[span]
        yield _unit(tree, text, (statement.start, statement.end), lead, leads=False)


def _unit(tree: Tree, text: str, span: Span, lead: Unit | None, *, leads: bool) -> Unit:
    start, end = span[0], min(span[1], span[0] + LONGEST)
    place = tree.at(start)
    label = tree.units[place].label if place >= 0 else ""
    return Unit(start, end, unnumbered(text[start:end]), lead, leads, label, place)
