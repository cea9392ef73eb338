"""What limits a provision that is quoted: exceptions, conditions and provisos of its document."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from lexloop.documents.chunks.statements import Statement, sentence_at, unnumbered
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.store.view import View

MOST = 3
"""The most limits that are quoted of one provision."""
_LIMITS = re.compile(
    r"\b(?:(?:shall|do|does|is|are|will|may|must)\s+not\s+(?:\w+\s+)?appl(?:y|ies|icable)\b"
    r"|not\s+applicable\b|unless\b|except|exempt|provided\s+(?:that|however)\b|notwithstanding\b"
    r"|subject\s+to\b|derogat)",
    re.IGNORECASE,
)
_ITSELF = re.compile(
    r"\b(?:this|the\s+(?:fore(?:going|said)|preceding|previous|above))\s+(?P<what>\w+)",
    re.IGNORECASE,
)
_FOREGOING = re.compile(r"\bthe\s+(?:foregoing|above)\b", re.IGNORECASE)
_WHOLE = frozenset(("article", "section", "clause", "rule", "regulation", "provision"))
_PART = frozenset(
    ("paragraph", "subsection", "sentence", "restriction", "prohibition", "obligation")
)


def limits_of(said: Sequence[Statement], document: str, sources: View) -> list[Statement]:
    """Return the statements of a document that limit what is quoted of it, in order.

    One does that has the words of an exception, a condition or a proviso, and names what is
    quoted: by its number, as "this Section" within the same section, or as "the foregoing" in the
    paragraph behind it.

    Args:
        said: What is quoted, of one provision.
        document: Its document.
        sources: Has its text and its tree.
    """
    tree, text = sources.tree_of(document), sources.text_of(document)
    if tree is None or text is None or (place := tree.at(said[0].start)) < 0:
        return []
    found: dict[int, Statement] = {}
    start, end = said[0].start, said[-1].end
    for at in _limiting(text):
        if start <= at < end or len(found) == MOST:
            continue
        if (other := tree.at(at)) >= 0 and tree.units[other].kind not in ("recital", "contents"):
            limit = sentence_at(tree, text, other, at)
            if limit is not None and _names(limit, other, place, tree):
                found[limit.start] = limit
    return [*found.values()]


def notes_of(said: Sequence[Statement], document: str, sources: View) -> list[Statement]:
    """Return the first footnotes that hang on what is quoted; see ``limits_of``."""
    tree, text = sources.tree_of(document), sources.text_of(document)
    if tree is None or text is None:
        return []
    spans = dict.fromkeys(span for one in said for span in one.notes)
    found = []
    for start, end in islice(spans, MOST):
        label = tree.units[place].label if (place := tree.at(start)) >= 0 else ""
        found.append(Statement(start, end, (), label, "", unnumbered(text[start:end])))
    return found


@lru_cache(maxsize=32)
def _limiting(text: str) -> tuple[int, ...]:
    """Return the offsets of all words that limit something."""
    return tuple(match.start() for match in _LIMITS.finditer(text))


def _names(limit: Statement, at: int, place: int, tree: Tree) -> bool:
    """Return whether a statement in a unit ``at`` names the unit ``place``, or what it lies in."""
    lineage = [place, *tree.above(place)]
    together = _provision(tree, at) in lineage
    if together and at != place and set(_spoken_of(limit.own)) & _WHOLE:
        return True
    if together and _follows(at, place, tree) and _points_to_the_last(limit.own):
        return True
    for reference in find_references(limit.own):
        if reference.itself and not together:
            continue
        if set(tree.find(reference, at)) & set(lineage):
            return at not in lineage[1:] or not reference.itself
    return False


def _spoken_of(words: str) -> Iterator[str]:
    return (match["what"].lower() for match in _ITSELF.finditer(words))


def _points_to_the_last(words: str) -> bool:
    return bool(set(_spoken_of(words)) & _PART or _FOREGOING.search(words))


def _follows(at: int, place: int, tree: Tree) -> bool:
    """Return whether a unit is the next one of those beside another, or is it."""
    beside = list(tree.children(tree.units[place].parent))
    behind = beside.index(place) + 1
    return at == place or (behind < len(beside) and at == beside[behind])


def _provision(tree: Tree, place: int) -> int:
    """Return the provision that a unit is or lies in; itself where there is none."""
    kinds = ("provision", "annex")
    around = (place, *tree.above(place))
    return next((one for one in around if tree.units[one].kind in kinds), place)
