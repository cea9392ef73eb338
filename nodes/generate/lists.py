"""What a statement needs beside it: the rest of its list, or the sentence it points back to."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from lexloop.core.types import Chunk, PointedUnit
from lexloop.corpus.structure.asking import Library
from lexloop.corpus.structure.statements import Statement, sentence_before
from lexloop.corpus.structure.tree import Tree
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.generate.selection import Evidence
from lexloop.nodes.question import asks_for_several
from lexloop.nodes.relevance import Asked, Sources, coverage

_POINT, _OF_SEVERAL = 0.1, 0.3
"""What of a question, weighted by rarity, one point must hold beyond the words that lead into its
list for the question to ask for that point: where one thing is asked, and where several are."""


_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""What follows "this" where a text speaks of itself: "This Regulation", "In this section"."""
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise|therefore|thereafter|accordingly"
    r"|similarly|likewise|in addition|for (?:this|that|these|those|such) \w+"
    rf"|(?:in|to|under|by|on) (?:(?:such|that|those)\b|(?:this|these)\b{_ITSELF})"
    rf"|(?:this|these)\b{_ITSELF}|that|those|such|it|they|he|she"
    r"|the (?:latter|former|same))\b",
    re.IGNORECASE,
)


class Documents(Sources, Library, Protocol):
    """What answers are selected and quoted from."""

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """The ids of the chunks that hold a unit's words, in order."""
        ...

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked for."""
        ...


def list_asked(item: Evidence, asked: Asked, sources: Documents) -> list[PointedUnit]:
    """The units whose list a question asks for as a whole; none where it asks for none.

    It does where the words that lead into the list, with the headings above them, hold of the
    question nearly all that a point of it holds.

    Args:
        item: What suits the question best.
        asked: The question.
        sources: Where rarity and the documents' trees are known.
    """
    said, document = item.said, item.passage["document"]
    tree = sources.tree_of(document)
    if tree is None or (place := tree.at(said.start)) < 0 or tree.units[place].kind == "row":
        return []
    several = any(asks_for_several(part) for part in asked.parts)
    whole = said.points > 0 or (bool(tree.items(place)) and several)
    if not whole and said.leads:
        place = tree.at(said.leads[-1][0])
    elif not whole:
        return []
    if whole or (tree.units[place].kind == "definition" and any(asked.definitions)):
        return _units(document, tree, place)
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    led = " ".join([said.lead, *headings])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {said.own}"))
    wanted = asked.all_terms
    gain = coverage(wanted, with_own, sources) - coverage(wanted, before, sources)
    return _units(document, tree, place) if gain < (_OF_SEVERAL if several else _POINT) else []


def _units(document: str, tree: Tree, place: int) -> list[PointedUnit]:
    """A paragraph with its list; of a provision that leads into one, the list's items alone."""
    divides = tree.units[place].kind in ("provision", "annex", "part")
    found: list[PointedUnit] = []
    for one in tree.items(place) if divides else [place]:
        unit = tree.units[one]
        found.append(
            {
                "document": document,
                "place": one,
                "label": unit.label,
                "start": unit.start,
                "end": unit.end,
            }
        )
    return found


def standing_alone(item: Evidence, sources: Documents) -> list[Statement]:
    """The statement, with the one before it where it begins with a word that points back to it."""
    said, document = item.said, item.passage["document"]
    if said.leads or not _POINTS_BACK.match(said.own):
        return [said]
    found, _ = sources.statements(item.passage["id"])
    before = [other for other in found if other.end <= said.start and not other.points][-1:]
    tree, text = sources.tree_of(document), sources.text_of(document)
    if not before and tree is not None and text is not None and (place := tree.at(said.start)) >= 0:
        before = list(filter(None, [sentence_before(tree, text, place)]))
    return [*before, said]
