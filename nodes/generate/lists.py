"""Whether a question asks for a list as a whole."""

from typing import Protocol

from lexloop.core.types import PointedUnit
from lexloop.corpus.structure.asking import Library
from lexloop.corpus.structure.tree import ITEMS
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.generate.selection import Evidence
from lexloop.nodes.question import asks_for_several
from lexloop.nodes.relevance import Asked, Sources, coverage

_POINT, _OF_SEVERAL = 0.1, 0.3
"""What of a question, weighted by rarity, one point must hold beyond the words that lead into its
list for the question to ask for that point: where one thing is asked, and where several are."""


class Documents(Sources, Library, Protocol):
    """What answers are selected and quoted from."""


def list_asked(item: Evidence, asked: Asked, sources: Documents) -> PointedUnit | None:
    """The unit whose list a question asks for as a whole; None where it asks for none.

    It does where the words that lead into the list, with the headings above them, hold of the
    question nearly all that a point of it holds.

    Args:
        item: What suits the question best.
        asked: The question.
        sources: Where rarity and the documents' trees are known.
    """
    said = item.said
    tree = sources.tree_of(item.passage["document"])
    if tree is None or (place := tree.at(said.start)) < 0:
        return None
    several = any(asks_for_several(part) for part in asked.parts)
    listed = any(tree.units[child].kind in ITEMS for child in tree.children(place))
    whole = said.points > 0 or (listed and several)
    if not whole and said.leads:
        place = tree.at(said.leads[-1][0])
    elif not whole:
        return None
    unit = tree.units[place]
    found: PointedUnit = {
        "document": item.passage["document"],
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }
    if whole or (unit.kind == "definition" and any(asked.definitions)):
        return found
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    led = " ".join([said.lead, *headings])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {said.own}"))
    wanted = asked.all_terms
    gain = coverage(wanted, with_own, sources) - coverage(wanted, before, sources)
    return found if gain < (_OF_SEVERAL if several else _POINT) else None
