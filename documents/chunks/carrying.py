"""The sentences that a statement refers back to: "whoever contravenes subsection (1)"."""

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
"""The most sentences that are carried along with a statement."""
_LONGEST = 60
"""The most words of a paragraph that is carried along with a statement."""
_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""Does not match a "this" that refers to the text itself: "This Act", "In this section"."""
PROVISO = re.compile(rf"{PROVIDED}\b", re.IGNORECASE)
"""How a sentence begins if it limits the one before it."""
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
"""How a sentence begins if it continues the one before."""
WHOLE = frozenset(("article", "section", "clause", "rule", "regulation", "provision"))
"""The words for a whole provision."""
_SPOKEN_OF = re.compile(
    r"\b(?:this|the\s+(?:fore(?:going|said)|preceding|previous|above))\s+(?P<what>\w++)(?!\s+\d)",
    re.IGNORECASE,
)


def carried_from(statement: Statement, tree: Tree, text: str) -> list[Statement]:
    """Return the sentences that a statement refers back to and cannot be understood without.

    If the statement's first words point back ("This duty ...", "Provided that ..."), return the
    sentences before it. Otherwise return the short paragraph of its own provision that it names.
    The second paragraph of a section names the first if it mentions "this section".

    Args:
        statement: The statement.
        tree: The document's tree.
        text: Its text.

    Returns:
        The earlier sentences, in the order of the text; empty if the statement stands alone.
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
    """Return the words that follow "this" or "the foregoing" in a text, such as "section"."""
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
    # the first words of a provision never point back to the provision before
    divides = tree.units[at].kind in ("provision", "annex", "part")
    return None if divides else sentence_before(tree, text, at)
