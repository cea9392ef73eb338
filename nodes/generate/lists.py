"""Whether a question asks for a list as a whole."""

import re

from lexloop.core.types import PointedUnit
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.generate.selection import Evidence
from lexloop.nodes.relevance import Asked, Sources, coverage

_SEVERAL = re.compile(
    r"\b(?:what|which)\s+(?:are|were)\b|\bwhich\s+\w+s\b|\b(?:list|enumerate|name)\b"
    r"|\b(?:in|under|on|for)\s+(?:which|what)\s+\w+s\b|\bwhat\s+(?:\w+\s+){0,3}\w+s\s+(?:must|may"
    r"|can|shall|does|do|did|has|have|are)\b|\bwhen\s+(?:may|can|must|need|is|are|does|do)\b"
    r"|\bwhat\s+(?:must|should|shall|does|do|may|can)\b|\bwhat\s+information\b",
    re.IGNORECASE,
)
_POINT, _OF_SEVERAL = 0.1, 0.3
"""What of a question, weighted by rarity, one point must hold beyond the words that lead into its
list for the question to ask for that point: where one thing is asked, and where several are."""


def list_asked(item: Evidence, asked: Asked, sources: Sources) -> PointedUnit | None:
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
    if tree is None or not (said.points or said.leads):
        return None
    place = tree.at(said.start if said.points else said.leads[-1][0])
    if place < 0:
        return None
    unit = tree.units[place]
    found: PointedUnit = {
        "document": item.passage["document"],
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }
    if said.points or (unit.kind == "definition" and any(asked.definitions)):
        return found
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    led = " ".join([said.lead, *headings])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {said.own}"))
    wanted = asked.all_terms
    gain = coverage(wanted, with_own, sources) - coverage(wanted, before, sources)
    several = any(_SEVERAL.search(part) for part in asked.parts)
    return found if gain < (_OF_SEVERAL if several else _POINT) else None
