"""Citing statements, and quoting whole provisions: one line for each paragraph and point."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lexloop.core.types import Citation, Passage, PointedUnit
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document
from lexloop.documents.structure.lines import cells, is_ruler
from lexloop.documents.structure.telling import counted, entitled, groups, heading_span, outline
from lexloop.documents.structure.tree import ITEMS, Tree, Unit
from lexloop.nodes.markers import unmarked
from lexloop.store.view import View

LEFT_OUT = ("Left out: ", "The rest is left out.")
"""How a line begins that names what is not quoted."""
_DEEPEST_LEAD = 6
_WORTHWHILE = 100
"""The fewest words for which another provision is begun."""
_WORDS = re.compile(r"[^\W\d_]{2}|(?m:^)[^\w\n]*+\w.*\s\w|\|")
_MARKDOWN = re.compile(r"^#{1,6}\s+")


class _Source(NamedTuple):
    """A span that lines are quoted from, and its label in the citation."""

    start: int
    end: int
    label: str


@dataclass
class _Quoted:
    """A provision as lines of an answer."""

    lines: list[str]  # each with its marker, except a heading
    # the spans behind the markers, in the order of their numbers
    sources: list[_Source] = field(default_factory=list)
    words: int = 0  # the number of words quoted
    whole: bool = True  # whether nothing is left out


def _quote(
    document: Document, places: Sequence[int], first: int, limit: int, where: str
) -> _Quoted:
    """Quote a unit of a document from its heading to its last point, or siblings in a row.

    Each paragraph of a provision is a source; a unit without paragraphs is one source. The words
    that lead into a point are quoted before it.

    Args:
        document: The document.
        places: The place of the unit in the tree, or of siblings.
        first: The number of the first source.
        limit: The most words to quote; what is left out is named. The first line is always quoted.
        where: The document's name if the lines must mention it, else "".
    """
    tree = document.tree
    if groups(tree, places[0]):
        return _outlined(document, places[0], first, where)
    quoted = _Quoted([line for line in [unmarked(_heading(tree, places, where))] if line])
    marker, number = "", ""
    for words, unit, source in _pieces(document, places):
        if not _WORDS.search(words):  # "2.—" belongs to the words after it
            number = f"{number}{words} "
            continue
        line, number = number + words, ""
        if quoted.sources and quoted.words + len(line.split()) > limit:
            quoted.lines.append(f"{unmarked(_left_out(tree, unit, places))} {marker}")
            quoted.whole = False
            break
        if not quoted.sources or quoted.sources[-1] != source:
            quoted.sources.append(source)
        marker = f"[{first + len(quoted.sources) - 1}]"
        quoted.words += len(line.split())
        quoted.lines.append(f"{line} {marker}")
    if not quoted.sources:
        quoted.lines[0] = f"{quoted.lines[0][:-1]}. [{first}]"
        quoted.sources.append(_heading_source(document, places[0]))
    return quoted


def quote_all(
    units: Sequence[PointedUnit], view: View, limit: int, after: int = 0
) -> tuple[list[str], list[Citation]]:
    """Quote units one after the other; return the lines and their citations.

    At most ``limit`` words are quoted, and units that are left out are named. If there are several
    documents, the lines name them. ``after`` is the number of the last source before.
    """
    several = len(view.titles) > 1
    lines: list[str] = []
    citations: list[Citation] = []
    words, whole = 0, True
    in_rows = _rows_of(units, view)
    for number, row in enumerate(in_rows):
        document = view.document(row[0]["document"])
        wanted = len(document.text[row[0]["start"] : row[-1]["end"]].split())
        if citations and (not whole or words + min(wanted, _WORTHWHILE) > limit):
            rest = [unit for later in in_rows[number:] for unit in later]
            lines.append(f"{unmarked(_units_left_out(rest, several))} [{after + len(citations)}]")
            break
        places = [unit["place"] for unit in row]
        where = document.name if several else ""
        quoted = _quote(document, places, after + len(citations) + 1, limit - words, where)
        lines += quoted.lines
        words, whole = words + quoted.words, quoted.whole
        citations += [
            {**view.cited(document.name, *source), "n": n}
            for n, source in enumerate(quoted.sources, after + len(citations) + 1)
        ]
    return lines, citations


def _outlined(document: Document, place: int, first: int, where: str) -> _Quoted:
    """Quote the headings of the provisions in a part."""
    quoted = _Quoted([])
    for line in outline(document.tree, place):
        text = f"In {where}: {line.text}" if where and not quoted.lines else line.text
        quoted.sources += [_heading_source(document, shown) for shown in line.places]
        quoted.lines.append(f"{unmarked(text)} [{first + len(quoted.sources) - 1}]")
    return quoted


def _heading_source(document: Document, place: int) -> _Source:
    span = heading_span(document.tree, place, document.text)
    return _Source(*span, document.tree.units[place].label)


def _rows_of(units: Sequence[PointedUnit], view: View) -> list[list[PointedUnit]]:
    """Return the units of visible documents; points of one list in a row are together."""
    rows: list[list[PointedUnit]] = []
    for unit in units:
        tree = view.tree_of(unit["document"])
        if tree is None:
            continue
        own, last = tree.units[unit["place"]], rows[-1][-1] if rows else None
        if (
            last
            and last["document"] == unit["document"]
            and last["end"] <= unit["start"]
            and own.kind in ITEMS
            and tree.units[last["place"]].parent == own.parent
        ):
            rows[-1].append(unit)
        else:
            rows.append([unit])
    return rows


def _heading(tree: Tree, places: Sequence[int], where: str) -> str:
    """Return the units' label with the heading above them."""
    unit = tree.units[places[0]]
    label = entitled(unit)
    if not unit.heading or unit.kind in ("definition", "row"):
        above = (tree.units[p] for p in tree.above(places[0]))
        headed = next((u for u in above if u.kind in ("provision", "annex") and u.heading), None)
        label = _range(tree, places)
        heading = " ".join(headed.heading.split()) if headed and headed.label else ""
        label = f"{label} — {heading}" if heading and heading not in label else label
    if not label:
        return f"In {where}:" if where else ""
    return f"In {where}: {label}:" if where else f"{label}:"


def _plain(words: str) -> str:
    """Return words of a text on one line, without the marks of Markdown and of its tables."""
    rows = [row for row in words.split("\n") if not ("|" in row and is_ruler(row))]
    if rows and rows[0].lstrip().startswith("|"):
        rows = [" | ".join(cells(row)) for row in rows]
    return unmarked(_MARKDOWN.sub("", " ".join(" ".join(rows).split())))


def _pieces(document: Document, places: Sequence[int]) -> Iterator[tuple[str, int, _Source]]:
    """Yield the pieces to quote in order, each with the place of its unit and its source.

    The words that lead into the units come first.
    """
    tree, text = document.tree, document.text
    for above in _leading(tree, text, places[0]):
        unit = tree.units[above]
        lead = _source(text, unit.body, tree.own_end(above), unit.label)
        yield _plain(text[lead.start : lead.end]), above, lead
    for place in places:
        unit = tree.units[place]
        divided = unit.kind in ("provision", "annex", "part")
        source = None if divided else _source(text, unit.start, unit.end, unit.label)
        headed = divided or _headline(unit, text)
        captioned = unit.kind == "table" and unit.heading
        for start, end, of in _own_pieces(tree, text, place, headed):
            if captioned and of == place:
                continue
            if source is None or start >= source.end:
                source = _top_source(tree, text, place, of)
            yield _plain(text[start:end]), of, source


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
    """Yield the spans of a unit's own words and of the units in it, in order, without blanks."""
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


def _top_source(tree: Tree, text: str, place: int, of: int) -> _Source:
    """Return the source of a span: the topmost unit below ``place`` that contains it.

    Successive paragraphs without a number, and so without a label of their own, are one source.
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


def _source(text: str, start: int, end: int, label: str) -> _Source:
    return _Source(*_trimmed(text, start, end), label)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the blanks at its ends."""
    own = text[start:end]
    begin = start + len(own) - len(own.lstrip())
    return begin, max(begin, start + len(own.rstrip()))


def _left_out(tree: Tree, unit: int, quoted: Sequence[int]) -> str:
    """Return a line on what is left out from a unit on: the points and paragraphs of each level."""
    levels: list[str] = []
    for place in (unit, *tree.above(unit)):
        siblings = quoted if place in quoted else tree.children(tree.units[place].parent)
        left = (p for p in siblings if p > place or p == place == unit)
        if numbered := [p for p in left if tree.units[p].number]:
            kind = tree.units[numbered[0]].kind
            name = kind if kind in ("paragraph", "provision", "row") else "point"
            count = counted(f"more {name}", len(numbered))
            levels.append(f"{count}, {_range(tree, numbered)}")
        if place in quoted:
            break
    return f"{LEFT_OUT[0]}{'; '.join(levels)}." if levels else LEFT_OUT[1]


def _range(tree: Tree, places: Sequence[int]) -> str:
    """Return the labels of siblings from the first to the last: "Article 30(1)(b) to (g)"."""
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


def cite(passage: Passage, statements: Sequence[Statement], n: int) -> Citation:
    """Return the citation of successive statements of a passage, cut to the passage.

    If the statements have different labels or none, the passage's label is used.
    """
    first, last = statements[0], statements[-1]
    # a list may begin before the passage and end after it
    start, end = max(first.start, passage["start"]), min(last.end, passage["end"])
    cut = passage["text"][start - passage["start"] : end - passage["start"]]
    start, quote = start + len(cut) - len(cut.lstrip()), cut.strip()
    labels, page = {statement.label for statement in statements}, passage["page"]
    if page is not None:  # a passage may span several
        page += sum(at <= start for at in passage.get("page_breaks", []))
    citation: Citation = {
        "n": n,
        "document": passage["document"],
        "section": (first.label if len(labels) == 1 else "") or passage["section"],
        "page": page,
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
