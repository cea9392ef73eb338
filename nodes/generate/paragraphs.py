"""The unit of quoting: a short paragraph whole, or a sentence with those that refer to it."""

import re
from collections.abc import Sequence

from lexloop.documents.chunks.statements import Statement, sentence_before
from lexloop.documents.structure.tree import Tree
from lexloop.nodes.generate.quotables import Quotable
from lexloop.store.view import View

SHORT = 120
"""The most words of a paragraph that is quoted whole."""
_MOST_AFTER = 3
"""The most sentences quoted behind one that they refer to."""
_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""Excludes a "this" by which a text speaks of itself: "This Act", "In this section"."""
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise|therefore|thereafter|accordingly"
    r"|similarly|likewise|in addition|for (?:this|that|these|those|such) \w+"
    rf"|(?:in|to|under|by|on) (?:(?:such|that|those)\b|(?:this|these)\b{_ITSELF})"
    rf"|(?:this|these)\b{_ITSELF}|that|those|such|it|they|he|she"
    r"|the (?:latter|former|same))\b",
    re.IGNORECASE,
)


def paragraph_of(item: Quotable, sources: View) -> list[Statement]:
    """Return the statements that are quoted together, in the order of the text.

    These are all of a short paragraph, and of a longer one the statement with the sentences behind
    it that point back to it. What points back to the paragraph before comes after its last
    sentence. A list and a row of a table stand alone.
    """
    said, tree = item.said, sources.tree_of(item.passage["document"])
    place = tree.at(said.start) if tree is not None else -1
    if tree is None or place < 0 or said.points or tree.units[place].kind == "row":
        found = [said]
    else:
        own = _own(item, tree, place, sources)
        short = sum(len(one.own.split()) for one in own) <= SHORT
        found = own if short else _pointing_back(own, own.index(said))
    before = _before(found[0], item, sources) if _POINTS_BACK.match(found[0].own) else None
    return [before, *found] if before else found


def _own(item: Quotable, tree: Tree, place: int, sources: View) -> list[Statement]:
    """Return the statements of a unit's own words that a passage has.

    Where each line of the unit ends with a sentence, a line is a paragraph; so is what stands
    between two questions.
    """
    said, document = item.said, item.passage["document"]
    stated, _ = sources.statements(item.passage["id"])
    own = [one for one in stated if not one.points and tree.at(one.start) == place]
    text = sources.text_of(document)
    if said not in own or text is None:
        return [said]
    own = _between_questions(own, own.index(said))
    if any("\n" in text[one.start : one.end].strip() for one in own):
        return own
    begin, end = text.rfind("\n", 0, said.start), text.find("\n", said.end)
    return [one for one in own if begin < one.start and (one.end <= end or end < 0)]


def _between_questions(own: Sequence[Statement], at: int) -> list[Statement]:
    first, last = at, at + 1
    while first and not own[first - 1].own.endswith("?"):
        first -= 1
    while last < len(own) and not own[last].own.endswith("?"):
        last += 1
    return [*own[first:last]]


def _pointing_back(own: Sequence[Statement], at: int) -> list[Statement]:
    """Return a statement with those before it that it points back to, and behind it the reverse."""
    first, last = at, at
    while first and _POINTS_BACK.match(own[first].own):
        first -= 1
    while last + 1 < len(own) and last - at < _MOST_AFTER and _POINTS_BACK.match(own[last + 1].own):
        last += 1
    return [*own[first : last + 1]]


def _before(said: Statement, item: Quotable, sources: View) -> Statement | None:
    if said.leads:
        return None
    document = item.passage["document"]
    stated, _ = sources.statements(item.passage["id"])
    before = [other for other in stated if other.end <= said.start and not other.points]
    if before:
        return before[-1]
    tree, text = sources.tree_of(document), sources.text_of(document)
    if tree is None or text is None or (place := tree.at(said.start)) < 0:
        return None
    if tree.units[place].kind in ("provision", "annex", "part"):
        return None  # what opens a provision points to nothing in the one before
    return sentence_before(tree, text, place)
