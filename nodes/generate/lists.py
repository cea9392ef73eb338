"""Lists quoted whole: the words that lead in, then every point, or how many are left out."""

import re
from dataclasses import dataclass

from lexloop.core.types import Citation
from lexloop.corpus.structure.tree import ITEMS, Tree
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


@dataclass(frozen=True)
class Quoted:
    """A unit in the words of its document.

    Args:
        lines: One for its lead-in and one for each point.
        left_out: What of it is left out and where that stands; nothing where it is whole.
    """

    lines: list[str]
    left_out: str


def list_asked(item: Evidence, asked: Asked, tree: Tree, text: str, sources: Sources) -> int:
    """The place of the unit whose list a question asks for as a whole; -1 where it does not.

    It does where the words that lead into the list, with the headings above them, hold of the
    question nearly all that a point of it holds.

    Args:
        item: What suits the question best.
        asked: The question.
        tree: The tree of the document.
        text: Its text.
        sources: Where rarity is known.
    """
    first = item.said
    if first.points:
        return tree.at(first.start)
    if not first.leads:
        return -1
    place = tree.at(first.leads[-1][0])
    if place < 0:
        return -1
    if tree.units[place].kind == "definition" and any(asked.definitions):
        return place
    above = (place, *tree.above(place))
    led = " ".join([first.lead, *(tree.units[p].heading for p in above)])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {first.own}"))
    wanted = asked.all_terms
    gain = coverage(wanted, with_own, sources) - coverage(wanted, before, sources)
    several = any(_SEVERAL.search(part) for part in asked.parts)
    return place if gain < (_OF_SEVERAL if several else _POINT) else -1


def quote_list(tree: Tree, text: str, place: int, most_words: int) -> Quoted:
    """A unit with all that stands below it, line by line.

    Args:
        tree: The tree of the document.
        text: Its text.
        place: The unit's.
        most_words: Points beyond so many words are left out and counted.
    """
    lines = [" ".join(text[tree.units[place].body : tree.own_end(place)].split())]
    words = len(lines[0].split())
    items = [child for child in tree.children(place) if tree.units[child].kind in ITEMS]
    for number, child in enumerate(items):
        said = _lines(tree, text, child)
        words += sum(len(line.split()) for line in said)
        if words > most_words and number:
            left = items[number:]
            return Quoted(lines, _left_out([tree.units[place].label for place in left]))
        lines += said
    return Quoted(lines, "")


def _lines(tree: Tree, text: str, place: int) -> list[str]:
    own = [tree.units[place].start, *(tree.units[c].start for c in tree.below(place))]
    ends = [*own[1:], tree.units[place].end]
    found = (" ".join(text[a:b].split()) for a, b in zip(own, ends, strict=True))
    return [line for line in found if line]


def _left_out(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"One more point is left out: {labels[0]}."
    return f"{len(labels)} more points are left out: {labels[0]} to {labels[-1]}."
