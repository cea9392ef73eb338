"""Questions about a document itself: how many articles it has, which chapters, how it is built."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lexloop.corpus.structure.telling import (
    Line,
    counted,
    entitled,
    listed,
    members,
    outline,
    plural,
)
from lexloop.corpus.structure.tree import Tree

_NOUNS = {
    "articles": "article",
    "sections": "section",
    "rules": "rule",
    "clauses": "clause",
    "regulations": "regulation",
    "chapters": "chapter",
    "parts": "part",
    "titles": "title",
    "annexes": "annex",
    "schedules": "schedule",
    "appendices": "appendix",
    "recitals": "recital",
    "tables": "table",
    "paragraphs": "paragraph",
    "points": "point",
}
_SINGULAR = {word: word for word in _NOUNS.values()}
_CERTAIN = frozenset(("article", "chapter", "annex", "schedule", "recital", "appendix"))
"""Nothing but a unit of a document is called so."""
SMALL = frozenset(("paragraph", "point"))
"""Whoever asks which these are wants their words."""
_FILLER = frozenset(
    """a all and any are can could do does document file from give has have here how i in is it its
    law many me name number of please show tell text that the there this to us we what what's
    whats which with you list contain contains containing made up consist consists belong belongs
    comprise comprises divided structured organised organized arranged built structure outline
    table contents toc overview layout headings titles
    act regulation directive contract agreement policy standard rule code""".split()
)
_BUILT = frozenset(
    "divided structured organised organized arranged built structure outline toc layout".split()
)
_ENDS = {"last": -1, "final": -1, "first": 0}

SAYING = frozenset(
    "about cover covers does provide provides require requires say says state states".split()
)
"""Asked of the last article, these want its words."""


@dataclass(frozen=True)
class Structural:
    """What is asked of a document's structure.

    Args:
        word: Of the units asked for, such as ``chapter``; nothing for the structure as a whole.
        counted: Whether their number is asked.
        end: 0 for the first of them, -1 for the last; None for all.
    """

    word: str
    counted: bool
    end: int | None = None


def may_be_structural(question: str) -> bool:
    """Whether a question names units of a document or its structure at all."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    return bool(
        words & _NOUNS.keys() or words & _SINGULAR.keys() or words & (_BUILT | {"contents"})
    )


def read_structural(rest: Sequence[str], telling: frozenset[str]) -> Structural | None:
    """What a question asks of the structure; None where it asks of anything else.

    Args:
        rest: Its words in small letters, without references.
        telling: The words that name the documents.
    """
    words = [word for word in rest if word not in telling or word in _NOUNS]
    nouns = [word for word in words if word in _NOUNS]
    ends = [_ENDS[word] for word in words if word in _ENDS]
    ones = [word for word in words if word in _SINGULAR]
    asking = _FILLER | SAYING if ends else _FILLER
    others = set(words) - asking - _NOUNS.keys() - _SINGULAR.keys() - _ENDS.keys()
    if others:
        return None
    if len(ends) == 1 and len(ones) == 1 and not nouns:
        return Structural(ones[0], counted=False, end=ends[0])
    if len(set(nouns)) == 1 and not ends:
        counted = "many" in words or "number" in words
        return Structural(_NOUNS[nouns[0]], counted)
    built = _BUILT & set(words) or {"table", "contents"} <= set(words)
    return Structural("", counted=False) if built and not ends else None


def told(asked: Structural, tree: Tree, document: str, within: int = -1) -> Iterator[Line]:
    """The answer of one document; nothing where the question can mean something else of it.

    Args:
        asked: What is asked.
        tree: The document's tree.
        document: Its name.
        within: The place of the part that is asked of; -1 for the document.
    """
    if not asked.word:
        yield from _built(tree, document, within)
        return
    found = members(tree, asked.word, within)
    whole = tree.units[within].label if within >= 0 else document
    if not found:
        if asked.word in _CERTAIN:
            yield Line(f"{whole} has no {plural(asked.word)}.{_instead(tree, asked.word, within)}")
        return
    if asked.end is not None:
        which = "first" if asked.end == 0 else "last"
        yield Line(
            f"The {which} {asked.word} of {whole} is {entitled(tree.units[found[asked.end]])}.",
            (found[asked.end],),
        )
        return
    first, last = tree.units[found[0]], tree.units[found[-1]]
    count = counted(asked.word, len(found))
    if asked.counted:
        span = f"{first.label} to {last.label}" if len(found) > 1 else entitled(first)
        yield Line(f"{whole} has {count}: {span}.", tuple(dict.fromkeys((found[0], found[-1]))))
        return
    yield Line(f"{whole} has {count}:")
    yield from listed(tree, found)


def _built(tree: Tree, document: str, within: int) -> Iterator[Line]:
    """How many units of each kind there are, and the parts with the provisions they hold."""
    counts = [
        (word, members(tree, word, within)) for word in _SINGULAR if word not in SMALL | {"table"}
    ]
    counts = sorted(((word, found) for word, found in counts if found), key=lambda c: c[1][0])
    said = [counted(word, len(found)) for word, found in counts]
    whole = tree.units[within].label if within >= 0 else document
    if said:
        listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
        yield Line(f"{whole} has {listed}.", tuple(found[0] for _, found in counts))
    yield from outline(tree, within, parts_alone=True)


def _instead(tree: Tree, word: str, within: int) -> str:
    for other in ("article", "section", "clause", "regulation", "rule"):
        if other != word and (found := members(tree, other, within)):
            return f" It has {counted(other, len(found))}."
    return ""
