"""Provisions quoted whole: a line for each paragraph and point, each with the source it is from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lexloop.core.types import Citation, PointedUnit
from lexloop.corpus.structure.telling import counted, entitled, heading_span
from lexloop.corpus.structure.tree import Tree

_DEEPEST_LEAD = 6


@dataclass(frozen=True)
class Source:
    """A span that lines are quoted from, and the label it is cited by."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Quoted:
    """A provision as lines of an answer.

    Args:
        lines: Each with its markers; those of a heading have none.
        sources: What the markers stand for, in the order of their numbers.
        words: How many words are quoted.
    """

    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    words: int = 0


class Library(Protocol):
    """The documents that an asker may see."""

    def tree_of(self, document: str) -> Tree | None:
        """A document's tree; None where there is no such document."""
        ...

    def text_of(self, document: str) -> str | None:
        """A document's text; None where there is no such document."""
        ...

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        """The citation of a span, its number 0."""
        ...


def quote(tree: Tree, text: str, place: int, first: int, limit: int, *, where: str = "") -> Quoted:
    """A unit of a document from its heading to its last point.

    Each of its paragraphs is a source of its own; a unit without any is one itself. A point goes
    after the words that lead into it.

    Args:
        tree: The document's tree.
        text: Its text.
        place: The unit's place.
        first: The number of the first source.
        limit: How many words are quoted at most; what is left out is named. The first line is
            always quoted.
        where: The document's name, where it must be told.
    """
    sources: list[Source] = []
    lines = [_heading(tree, place, where)]
    words = 0
    for source, start, end, unit in _pieces(tree, text, place):
        said = " ".join(text[start:end].split())
        count = len(said.split())
        if sources and words + count > limit:
            lines.append(f"{_left_out(tree, unit, place)} [{first + len(sources) - 1}]")
            break
        if not sources or sources[-1] != source:
            sources.append(source)
        words += count
        lines.append(f"{said} [{first + len(sources) - 1}]")
    if not sources:
        start, end = heading_span(tree, place, text)
        return Quoted(
            [f"{lines[0][:-1]}. [{first}]"], [Source(start, end, tree.units[place].label)]
        )
    return Quoted(lines, sources, words)


def quote_all(
    units: Sequence[PointedUnit], library: Library, limit: int, several: bool
) -> tuple[list[str], list[Citation]]:
    """Units quoted one after the other, with their citations numbered from 1.

    Args:
        units: What is quoted.
        library: Where their documents are.
        limit: How many words are quoted at most; units that are left out are named.
        several: Whether to say which documents they are in.
    """
    lines: list[str] = []
    citations: list[Citation] = []
    words = 0
    for number, unit in enumerate(units):
        tree, text = library.tree_of(unit["document"]), library.text_of(unit["document"])
        if tree is None or text is None:
            continue
        if citations and words + len(text[unit["start"] : unit["end"]].split()) > limit:
            lines.append(f"{_units_left_out(units[number:], several)} [{len(citations)}]")
            break
        where = unit["document"] if several else ""
        quoted = quote(tree, text, unit["place"], len(citations) + 1, limit - words, where=where)
        lines += quoted.lines
        words += quoted.words
        for source in quoted.sources:
            cited = library.cited(unit["document"], source.start, source.end, source.label)
            citations.append({**cited, "n": len(citations) + 1})
    return lines, citations


def _heading(tree: Tree, place: int, where: str) -> str:
    """The unit's label with the heading it stands under."""
    unit = tree.units[place]
    said = entitled(unit)
    if not unit.heading or unit.kind in ("definition", "row"):
        above = (tree.units[p] for p in tree.above(place))
        headed = next((u for u in above if u.kind in ("provision", "annex") and u.heading), None)
        if headed and headed.label:
            said = f"{unit.label} — {' '.join(headed.heading.split())}"
    return f"In {where}: {said}:" if where else f"{said}:"


def _pieces(tree: Tree, text: str, place: int) -> Iterator[tuple[Source, int, int, int]]:
    """What is quoted, in order: source, start, end, and the place of the unit it is of."""
    unit = tree.units[place]
    for above in _leading(tree, text, place):
        start, end = _trimmed(text, tree.units[above].body, tree.own_end(above))
        yield Source(start, end, tree.units[above].label), start, end, above
    whole = unit.kind not in ("provision", "annex", "part")
    source = _source(text, unit.start, unit.end, unit.label) if whole else None
    for start, end, of in _own_pieces(tree, text, place, headed=not whole):
        if source is None or start >= source.end:
            source = _top_source(tree, text, place, of)
        yield source, start, end, of


def _leading(tree: Tree, text: str, place: int) -> list[int]:
    """The places of the units whose words lead into a point, outermost first."""
    leads: list[int] = []
    for above in tree.above(place):
        if tree.units[above].kind not in ("paragraph", "point", "definition", "text"):
            break
        if not tree.leads(above, text) or len(leads) == _DEEPEST_LEAD:
            break
        leads.append(above)
    return leads[::-1]


def _own_pieces(tree: Tree, text: str, place: int, headed: bool) -> Iterator[tuple[int, int, int]]:
    """The spans of a unit's own words and of what lies in it, in order, without blanks."""
    unit = tree.units[place]
    at = unit.body if headed else unit.start
    for child in tree.children(place):
        if (span := _trimmed(text, at, tree.units[child].start))[0] < span[1]:
            yield *span, place
        yield from _own_pieces(tree, text, child, headed=False)
        at = tree.units[child].end
    if (span := _trimmed(text, at, unit.end))[0] < span[1]:
        yield *span, place


def _top_source(tree: Tree, text: str, place: int, of: int) -> Source:
    """The source of a piece: the topmost unit below ``place`` that it is of.

    Unnumbered paragraphs have no label of their own: those that follow each other are one source.
    """
    unit = tree.units[place]
    if of == place:
        return _source(text, unit.body, tree.own_end(place), unit.label)
    path = [of, *tree.above(of)]
    top = path[path.index(place) - 1]
    siblings = list(tree.children(place))
    begin = end = siblings.index(top)
    if tree.units[top].label == unit.label:
        while begin and tree.units[siblings[begin - 1]].label == unit.label:
            begin -= 1
        while end + 1 < len(siblings) and tree.units[siblings[end + 1]].label == unit.label:
            end += 1
    first, last = tree.units[siblings[begin]], tree.units[siblings[end]]
    return _source(text, first.start, last.end, first.label)


def _source(text: str, start: int, end: int, label: str) -> Source:
    return Source(*_trimmed(text, start, end), label)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the blanks at its ends."""
    own = text[start:end]
    begin = start + len(own) - len(own.lstrip())
    return begin, max(begin, start + len(own.rstrip()))


def _left_out(tree: Tree, unit: int, top: int) -> str:
    """What of a provision is left out from a unit on: how many points, and where they stand."""
    said: list[str] = []
    path = [unit, *tree.above(unit)]
    for place in path[: path.index(top)]:
        siblings = tree.children(tree.units[place].parent)
        left = [p for p in siblings if (p >= place if place == unit else p > place)]
        if left and (named := _named(tree, left)):
            said.append(named)
    return f"Left out: {'; '.join(said)}." if said else "The rest is left out."


def _named(tree: Tree, places: Sequence[int]) -> str:
    """Siblings by how many they are, the first and the last: "6 points, Article 30(1)(b) to (g)"."""
    numbered = [p for p in places if tree.units[p].number]
    if not numbered:
        return ""
    first, last = tree.units[numbered[0]], tree.units[numbered[-1]]
    kind = first.kind if first.kind in ("paragraph", "provision", "row") else "point"
    count = f"{counted(f'more {kind}', len(numbered))}, {first.label}"
    if first is last:
        return count
    outer = tree.units[first.parent].label if first.parent >= 0 else ""
    own = last.label.removeprefix(outer)
    return f"{count} to {own if outer and own.startswith('(') else last.label}"


def _units_left_out(units: Sequence[PointedUnit], several: bool) -> str:
    labels = [f"{u['label']} in {u['document']}" if several else u["label"] for u in units]
    if len(labels) == 1:
        return f"Left out: {labels[0]}."
    return f"Left out: {len(labels)} more, {labels[0]} to {labels[-1]}."
