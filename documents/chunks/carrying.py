"""The paragraph that a statement carries on from: "whoever contravenes subsection (1)"."""

import re

from lexloop.documents.chunks.statements import (
    Statement,
    sentence_at,
    sentence_before,
    unnumbered,
)
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.exceptions import PROVIDED

_MOST = 3
"""The most sentences that one carries on from."""
_LONGEST = 60
"""The most words of a paragraph that is read or quoted with one that carries on from it."""
_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""Excludes a "this" by which a text speaks of itself: "This Act", "In this section"."""
PROVISO = re.compile(rf"{PROVIDED}\b", re.IGNORECASE)
"""How a sentence begins that limits the one before it."""
_BELONGS = r"(?:maximum )?penalty(?: units?)?:|(?:example|explanation|note)(?: \d+)?[.:]"
"""A line that belongs to the paragraph above it: "Penalty: $500."."""
POINTS_BACK = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise|therefore|thereafter|accordingly"
    r"|similarly|likewise|in addition"
    rf"|{PROVIDED}|{_BELONGS}|for (?:this|that|these|those|such) \w+"
    rf"|(?:in|to|under|by|on) (?:(?:such|that|those)\b|(?:this|these)\b{_ITSELF})"
    rf"|(?:this|these)\b{_ITSELF}|that|those|such|it|they|he|she"
    r"|the (?:latter|former|same))(?:(?<=[.:])|\b)",
    re.IGNORECASE,
)
"""How a sentence begins that goes on with the one before."""
WHOLE = frozenset(("article", "section", "clause", "rule", "regulation", "provision"))
"""The words by which a text speaks of a whole provision."""
_SPOKEN_OF = re.compile(
    r"\b(?:this|the\s+(?:fore(?:going|said)|preceding|previous|above))\s+(?P<what>\w++)(?!\s+\d)",
    re.IGNORECASE,
)


def carried_from(statement: Statement, tree: Tree, text: str) -> list[Statement]:
    """Return what a statement carries on from, so that it is not understood without it.

    If its first words point back ("This duty ...", "Provided that ..."), these are the sentences
    before it. Otherwise it is the short paragraph of its own provision that it names; the second
    paragraph of a section names the first if it speaks of "this section".

    Args:
        statement: The statement.
        tree: The document's tree.
        text: Its text.

    Returns:
        What stands before the statement, in the order of the text; empty if it stands alone.
    """
    carried: list[Statement] = []
    while len(carried) < _MOST and POINTS_BACK.match(statement.own):
        before = _sentence_before(statement, tree, text)
        if before is None:
            break
        carried.insert(0, before)
        statement = before
    return carried or _named_by(statement, tree, text)


def spoken_of(words: str) -> frozenset[str]:
    """Return what a text speaks of as "this" or "the foregoing", such as "section"."""
    return frozenset(match["what"].lower() for match in _SPOKEN_OF.finditer(words))


def _named_by(statement: Statement, tree: Tree, text: str) -> list[Statement]:
    at = tree.at(statement.start)
    parent = tree.units[at].parent if at >= 0 and tree.units[at].kind != "row" else -1
    if parent < 0 or statement.leads:
        return []
    before = [child for child in tree.children(parent) if child < at]
    named = {
        place for reference in find_references(statement.own) for place in tree.find(reference, at)
    }
    if len(before) == 1 and spoken_of(statement.own) & WHOLE:
        named.update(before)
    for place in before:
        unit, end = tree.units[place], tree.own_end(place)
        words = unnumbered(text[unit.body : end])
        if place in named and not tree.children(place) and len(words.split()) <= _LONGEST:
            return [Statement(unit.body, end, (), unit.label, "", words)]
    return []


def _sentence_before(statement: Statement, tree: Tree, text: str) -> Statement | None:
    at = tree.at(statement.start)
    if at < 0 or statement.leads or tree.units[at].kind == "row":
        return None
    before = text[tree.units[at].body : statement.start].rstrip()
    if before:
        return sentence_at(tree, text, at, tree.units[at].body + len(before) - 1)
    # what opens a provision points to nothing in the one before
    divides = tree.units[at].kind in ("provision", "annex", "part")
    return None if divides else sentence_before(tree, text, at)
