"""The unit of quoting: a short paragraph whole, or a sentence with those that refer to it."""

import re
from collections.abc import Sequence

from lexloop.documents.chunks.carrying import POINTS_BACK, carried_from
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.nodes.generate.score import Quotable
from lexloop.store.view import View

SHORT = 120
"""The most words of a paragraph that is quoted whole."""
_BETWEEN = re.compile(r"[\W\d_]+|(?<![^\W\d_])[a-z]{1,4}(?![^\W\d_])")
"""Blanks and the mark of a paragraph: what may stand between two that are quoted together."""
_MOST_AFTER = 3
"""The most sentences quoted behind one that they refer to."""


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
    return [*_before(found[0], item, sources), *found]


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
    while first and POINTS_BACK.match(own[first].own):
        first -= 1
    while last + 1 < len(own) and last - at < _MOST_AFTER and POINTS_BACK.match(own[last + 1].own):
        last += 1
    return [*own[first : last + 1]]


def _before(said: Statement, item: Quotable, sources: View) -> list[Statement]:
    """Return what a statement carries on from if that stands right before it."""
    tree = sources.tree_of(item.passage["document"])
    text = sources.text_of(item.passage["document"])
    if tree is None or text is None:
        return []
    before = carried_from(said, tree, text)
    beside = before and not _BETWEEN.sub("", text[before[-1].end : said.start])
    return before if beside else []
