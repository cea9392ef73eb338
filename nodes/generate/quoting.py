"""Citations of statements, and provisions quoted whole: a line for each paragraph and point."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lexloop.core.types import Citation, Passage, PointedUnit
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.lines import cells, is_ruler
from lexloop.documents.structure.telling import counted, entitled, groups, heading_span, outline
from lexloop.documents.structure.tree import ITEMS, Tree, Unit
from lexloop.nodes.markers import unmarked
from lexloop.store.view import View

LEFT_OUT = ("Left out: ", "The rest is left out.")
"""The beginnings of a line that names what is not quoted."""
_DEEPEST_LEAD = 6
_WORTHWHILE = 100
"""The fewest words for which a further provision is begun."""
_WORDS = re.compile(r"[^\W\d_]{2}|(?m:^)[^\w\n]*+\w.*\s\w|\|")
_MARKDOWN = re.compile(r"^#{1,6}\s+")


class QuoteSource(NamedTuple):
    """A span that lines are quoted from, and the label it is cited by."""

    start: int
    end: int
    label: str


class _QuotedSpan(NamedTuple):
    """A span that makes a line, the place of the unit whose own words it has, and its source."""

    start: int
    end: int
    unit: int
    source: QuoteSource


@dataclass
class Quoted:
    """A provision as lines of an answer."""

    lines: list[str]  # each with its marker; that of a heading has none
    # what the markers stand for, in the order of their numbers
    sources: list[QuoteSource] = field(default_factory=list)
    words: int = 0  # how many words are quoted
    whole: bool = True  # whether nothing is left out


def quote(
    tree: Tree, text: str, places: Sequence[int], first: int, limit: int, *, where: str = ""
) -> Quoted:
    """Quote a unit of a document from heading to last point, or siblings that follow each other.

    Each paragraph of a provision is a source of its own; a unit that has none is one itself. A
    point goes after the words that lead into it.

    Args:
        tree: The document's tree.
        text: Its text.
        places: The unit's place, or those of siblings.
        first: The number of the first source.
        limit: How many words are quoted at most; what is left out is named. The first line is
            always quoted.
        where: The document's name if it must be told, else "".
    """
    if groups(tree, places[0]):
        return _outlined(tree, text, places[0], first, where)
    quoted = Quoted([line for line in [unmarked(_heading(tree, places, where))] if line])
    number, before = "", ""
    for piece in _pieces(tree, text, places):
        said = _plain(text[piece.start : piece.end])
        if not _WORDS.search(said):  # "2.—" goes with what is numbered so
            before = f"{before}{said} "
            continue
        said, before = before + said, ""
        if quoted.sources and quoted.words + len(said.split()) > limit:
            quoted.lines.append(f"{unmarked(_left_out(tree, piece.unit, places))} {number}")
            quoted.whole = False
            break
        if not quoted.sources or quoted.sources[-1] != piece.source:
            quoted.sources.append(piece.source)
        number = f"[{first + len(quoted.sources) - 1}]"
        quoted.words += len(said.split())
        quoted.lines.append(f"{said} {number}")
    if not quoted.sources:
        start, end = heading_span(tree, places[0], text)
        quoted.lines[0] = f"{quoted.lines[0][:-1]}. [{first}]"
        quoted.sources.append(QuoteSource(start, end, tree.units[places[0]].label))
    return quoted


def quote_all(
    units: Sequence[PointedUnit], view: View, limit: int, after: int = 0
) -> tuple[list[str], list[Citation]]:
    """Quote units one after the other; return the lines and their citations.

    At most ``limit`` words are quoted, and units that are left out are named; of several documents
    it is said in which they stand. ``after`` is the number of the last source before them.
    """
    several = len(view.titles) > 1
    lines: list[str] = []
    citations: list[Citation] = []
    words, whole = 0, True
    groups = list(_groups(units, view))
    for number, group in enumerate(groups):
        document = group[0]["document"]
        tree, text = view.tree_of(document), view.text_of(document)
        if tree is None or text is None:
            continue
        wanted = len(text[group[0]["start"] : group[-1]["end"]].split())
        if citations and (not whole or words + min(wanted, _WORTHWHILE) > limit):
            left = [unit for group in groups[number:] for unit in group]
            lines.append(f"{unmarked(_units_left_out(left, several))} [{after + len(citations)}]")
            break
        places = [unit["place"] for unit in group]
        where = document if several else ""
        quoted = quote(tree, text, places, after + len(citations) + 1, limit - words, where=where)
        lines += quoted.lines
        words, whole = words + quoted.words, quoted.whole
        for source in quoted.sources:
            cited = view.cited(document, source.start, source.end, source.label)
            citations.append({**cited, "n": after + len(citations) + 1})
    return lines, citations


def _outlined(tree: Tree, text: str, place: int, first: int, where: str) -> Quoted:
    """Quote the headings of the provisions in a part."""
    quoted = Quoted([])
    for line in outline(tree, place):
        said = f"In {where}: {line.text}" if where and not quoted.lines else line.text
        for shown in line.places:
            start, end = heading_span(tree, shown, text)
            quoted.sources.append(QuoteSource(start, end, tree.units[shown].label))
        quoted.lines.append(f"{unmarked(said)} [{first + len(quoted.sources) - 1}]")
    return quoted


def _groups(units: Sequence[PointedUnit], view: View) -> Iterator[list[PointedUnit]]:
    """Yield the units, points of one list that follow each other together."""
    group: list[PointedUnit] = []
    for unit in units:
        tree = view.tree_of(unit["document"])
        if tree is None:
            continue
        own = tree.units[unit["place"]]
        after = (
            group
            and group[-1]["document"] == unit["document"]
            and (
                group[-1]["end"] <= unit["start"]
                and own.kind in ITEMS
                and tree.units[group[-1]["place"]].parent == own.parent
            )
        )
        if group and not after:
            yield group
            group = []
        group = [*group, unit]
    if group:
        yield group


def _heading(tree: Tree, places: Sequence[int], where: str) -> str:
    """Return the units' label with the heading they stand under."""
    unit = tree.units[places[0]]
    said = entitled(unit)
    if not unit.heading or unit.kind in ("definition", "row"):
        above = (tree.units[p] for p in tree.above(places[0]))
        headed = next((u for u in above if u.kind in ("provision", "annex") and u.heading), None)
        label = _range(tree, places)
        named = " ".join(headed.heading.split()) if headed and headed.label else ""
        said = f"{label} — {named}" if named and named not in label else label
    if not said:
        return f"In {where}:" if where else ""
    return f"In {where}: {said}:" if where else f"{said}:"


def _plain(words: str) -> str:
    """Return words of a text on one line, without the marks of Markdown and of its tables."""
    rows = [row for row in words.split("\n") if not ("|" in row and is_ruler(row))]
    if rows and rows[0].lstrip().startswith("|"):
        rows = [" | ".join(cells(row)) for row in rows]
    return unmarked(_MARKDOWN.sub("", " ".join(" ".join(rows).split())))


def _pieces(tree: Tree, text: str, places: Sequence[int]) -> Iterator[_QuotedSpan]:
    """Yield the spans to quote, in order, first those of the words that lead into the units."""
    for above in _leading(tree, text, places[0]):
        start, end = _trimmed(text, tree.units[above].body, tree.own_end(above))
        yield _QuotedSpan(start, end, above, QuoteSource(start, end, tree.units[above].label))
    for place in places:
        unit = tree.units[place]
        whole = unit.kind not in ("provision", "annex", "part")
        source = _source(text, unit.start, unit.end, unit.label) if whole else None
        headed = not whole or _headline(unit, text)
        captioned = unit.kind == "table" and unit.heading
        for start, end, of in _own_pieces(tree, text, place, headed):
            if captioned and of == place:
                continue
            if source is None or start >= source.end:
                source = _top_source(tree, text, place, of)
            yield _QuotedSpan(start, end, of, source)


def _leading(tree: Tree, text: str, place: int) -> list[int]:
    """Return the places of the units whose words lead into a point, outermost first."""
    leads: list[int] = []
    for above in tree.above(place):
        if not tree.leads(above, text) or len(leads) == _DEEPEST_LEAD:
            break
        leads.append(above)
        if tree.units[above].kind not in ("paragraph", "point", "definition", "text"):
            break
    return leads[::-1]


def _own_pieces(tree: Tree, text: str, place: int, headed: bool) -> Iterator[tuple[int, int, int]]:
    """Yield the spans of a unit's own words and of what lies in it, in order, without blanks."""
    unit = tree.units[place]
    at = unit.body if headed else unit.start
    if not headed and _headline(unit, text):
        yield *_trimmed(text, unit.start, unit.body), place
        at = unit.body
    for child in tree.children(place):
        if (span := _trimmed(text, at, tree.units[child].start))[0] < span[1]:
            yield *span, place
        yield from _own_pieces(tree, text, child, headed=False)
        at = tree.units[child].end
    if (span := _trimmed(text, at, unit.end))[0] < span[1]:
        yield *span, place


def _headline(unit: Unit, text: str) -> bool:
    """Return whether a numbered paragraph has its heading on a line of its own."""
    listed = unit.kind in ("paragraph", "point") and bool(unit.heading)
    return listed and text[unit.body : unit.body + 1] == "\n"


def _top_source(tree: Tree, text: str, place: int, of: int) -> QuoteSource:
    """Return the source of a span: the topmost unit below ``place`` that it is of.

    Unnumbered paragraphs have no label of their own: those that follow each other are one source.
    """
    unit = tree.units[place]
    if of == place:
        return _source(text, unit.body, tree.own_end(place), unit.label)
    path = [of, *tree.above(of)]
    top = path[path.index(place) - 1]
    siblings = tree.children(place)
    begin = end = bisect_left(siblings, top)
    if tree.units[top].label == unit.label:
        while begin and tree.units[siblings[begin - 1]].label == unit.label:
            begin -= 1
        while end + 1 < len(siblings) and tree.units[siblings[end + 1]].label == unit.label:
            end += 1
    first, last = tree.units[siblings[begin]], tree.units[siblings[end]]
    return _source(text, first.start, last.end, first.label)


def _source(text: str, start: int, end: int, label: str) -> QuoteSource:
    return QuoteSource(*_trimmed(text, start, end), label)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the blanks at its ends."""
    own = text[start:end]
    begin = start + len(own) - len(own.lstrip())
    return begin, max(begin, start + len(own.rstrip()))


def _left_out(tree: Tree, unit: int, quoted: Sequence[int]) -> str:
    """Name what is left out from a unit on: the number of points and paragraphs, and where."""
    said: list[str] = []
    for place in (unit, *tree.above(unit)):
        siblings = quoted if place in quoted else tree.children(tree.units[place].parent)
        left = [p for p in siblings if p > place or p == place == unit]
        said += filter(None, [_named(tree, left)])
        if place in quoted:
            break
    return f"{LEFT_OUT[0]}{'; '.join(said)}." if said else LEFT_OUT[1]


def _named(tree: Tree, places: Sequence[int]) -> str:
    """Name siblings by their number and place: "6 more points, Article 30(1)(b) to (g)"."""
    numbered = [p for p in places if tree.units[p].number]
    if not numbered:
        return ""
    kind = tree.units[numbered[0]].kind
    called = kind if kind in ("paragraph", "provision", "row") else "point"
    return f"{counted(f'more {called}', len(numbered))}, {_range(tree, numbered)}"


def _range(tree: Tree, places: Sequence[int]) -> str:
    """Name siblings from the first to the last: "Article 30(1)(b) to (g)"."""
    first, last = tree.units[places[0]], tree.units[places[-1]]
    if first is last:
        return first.label
    outer = tree.units[first.parent].label if first.parent >= 0 else ""
    own = last.label.removeprefix(outer)
    joint = "and" if len(places) == 2 else "to"
    return f"{first.label} {joint} {own if outer and own.startswith('(') else last.label}"


def _units_left_out(units: Sequence[PointedUnit], several: bool) -> str:
    labels = [f"{u['label']} in {u['document']}" if several else u["label"] for u in units]
    if len(labels) < 3:
        return f"{LEFT_OUT[0]}{' and '.join(labels)}."
    return f"{LEFT_OUT[0]}{len(labels)} more, {labels[0]} to {labels[-1]}."


def cite(passage: Passage, said: Sequence[Statement], n: int) -> Citation:
    """Return the citation of successive statements of a passage, cut to the passage.

    If they are of several provisions or of none, the label of the passage serves.
    """
    first, last = said[0], said[-1]
    # a list may begin before the passage and end after it
    start, end = max(first.start, passage["start"]), min(last.end, passage["end"])
    cut = passage["text"][start - passage["start"] : end - passage["start"]]
    start, quote = start + len(cut) - len(cut.lstrip()), cut.strip()
    labels = {statement.label for statement in said}
    citation: Citation = {
        "n": n,
        "document": passage["document"],
        "section": (first.label if len(labels) == 1 else "") or passage["section"],
        "page": _page(passage, start),
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }
    if first.lead:
        citation["lead"] = first.lead
    if first.leads:
        citation["lead_spans"] = [list(span) for span in first.leads]
    if "version" in passage:
        citation["version"] = passage["version"]
    if "identifier" in passage:
        citation["identifier"] = passage["identifier"]
    return citation


def _page(passage: Passage, offset: int) -> int | None:
    """Return the page that an offset lies on; a passage may run over several."""
    first = passage["page"]
    breaks = passage.get("page_breaks", [])
    return None if first is None else first + sum(at <= offset for at in breaks)
