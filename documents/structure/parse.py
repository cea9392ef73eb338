"""Parsing of documents into trees of headings, lists, definitions and tables."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from lexloop.core.folding import narrowed
from lexloop.documents.structure.headings import Heading
from lexloop.documents.structure.lines import (
    MARGIN,
    SAYS,
    LogicalLine,
    caption,
    cells,
    is_ruler,
    logical_lines,
)
from lexloop.documents.structure.markers import (
    Fit,
    Marker,
    OpenUnit,
    bare_number,
    best_fit,
    defined_term,
    is_about_definitions,
    list_markers,
    run_in_heading,
    title_heading,
)
from lexloop.documents.structure.outline import NOTES, Outline, find_outline
from lexloop.documents.structure.recitals import first_within, opens_recitals, run_of_recitals
from lexloop.documents.structure.tree import ITEMS, LEADS, Hung, Kind, Tree, Unit

_CLOSING = re.compile(
    r"Done at [A-Z]|IN WITNESS WHEREOF|In witness whereof|For the (?:European )?Parliament$"
    r"|END OF (?:THE |THIS )?(?:TERMS|AGREEMENT|CONTRACT|LICEN[CS]E|ACT|DOCUMENT|POLICY)\b"
    r"|(?:EXECUTED|SIGNED) (?:as|by|for)\b"
)
_NOTE = re.compile(
    r"(?P<word>Advisory|Note|NOTE|Notes|Example|EXAMPLE|Explanatory note|Authority|Source|Comment)"
    r"(?:\s+(?P<number>\d[\w.\-]{0,14}))?\b\s*(?:to\b[^:.]{0,60})?[:.]?(?=\s|$)"
)
_AMENDMENT = re.compile(
    r"\[\s?\d{2,3} (?:FR|Fed\. Reg\.) [\d,]+"
    r"|[(\[](?:Added|Amended|Enacted|Repealed|Renumbered|Am\.|L\.L\.|P\.L\.|Pub\. L\.|Stats\.)"
    r"[^()]*\d"
)
_EXCEPTION = re.compile(r"EXCEPTIONS?\s?(?P<number>\d{1,2})?\s?[:.]")
_WITHIN = re.compile(r"(?:[:;.,—–)]|\.-)(?:\s(?:and|or)\b)?\s*(?=\(\w{1,7}\)|\d{1,3}\.\s)")
"""The places within a line where a number may begin."""
_FEWEST_MARKED = 3
_BELOW = 5
_FEWEST_WORDS = 4
_ARTICLES = frozenset(("article", "§"))
_AHEAD, _MOST_ON_A_LINE, _LONGEST_TITLE, _LIST = 40, 5, 10, 100
_FLAT: frozenset[Kind] = frozenset(("text", "table", "row", "columns", "note"))
_MOST_PROBLEMS = 200
_LONGEST_KEY = 80
_TOPIC = re.compile(
    r"(?!(?:This|These|That|Those|Such|It|The)\b)[A-Z](?:(?!\b(?:is|are|shall|must|may|has|have)\b)[^.:;])"
    r"{2,60}\.\s+[A-Z]"
)
"""The beginning of a new topic after a list: "Exception to disclosure. Information ..."."""
_PARAGRAPHED = ("schedule", "appendix")


def parse(
    text: str,
    headings: Sequence[tuple[int, int]] = (),
    paged: bool = False,
    notes: Sequence[Hung] = (),
) -> Tree:
    """Return the tree of a document, in time linear in its length.

    Args:
        text: The full text.
        headings: Headings that the format marks: offset of the line, and level from 1.
        paged: Whether the format has pages; then a line beginning with ``#`` is not a heading.
        notes: Footnotes that the format marks, sorted by the offset of their mark.
    """
    text = narrowed(text)
    lines = logical_lines(text, dict(headings), paged)
    tree = _Parser(lines, find_outline(lines, text), notes).tree()
    return _with_footnotes(tree, notes) if notes else tree


def _with_footnotes(tree: Tree, notes: Sequence[Hung]) -> Tree:
    """Return a tree with its footnotes, each labelled like the unit with its mark."""
    units = list(tree.units)
    for at, start, _ in notes:
        place, around = tree.at(start), tree.at(at - 1)
        if place >= 0 and around >= 0 and units[place].kind == "note":
            units[place] = replace(units[place], label=units[around].label)
    return replace(tree, units=tuple(units), notes=tuple(sorted(notes)))


class _Parser:
    """A single pass over the lines of one document."""

    def __init__(
        self, lines: Sequence[LogicalLine], outline: Outline, notes: Sequence[Hung]
    ) -> None:
        self._lines, self._outline = lines, outline
        self._notes = sorted((start, end) for _, start, end in notes)
        self._noted = 0  # where the last footnote ends
        self._builder = _Builder(outline)
        numbered = (place for place, heading in outline.headings.items() if heading.number)
        self._first = min(numbered, default=len(lines))
        self._whereas = False
        self._recitals = run_of_recitals(lines, self._first, outline.contents)
        self._marked = sum(h.level > 0 and "." in h.number for h in outline.headings.values())
        self._number = ""  # of the last heading
        self._counted = {
            (marker.style, _stem(marker), marker.value)
            for line in lines
            for at in (0, *(match.end() for match in _WITHIN.finditer(line.text)))
            for marker in _adjacent_readings(line.text, at)
        }

    def tree(self) -> Tree:
        """Return the finished tree."""
        number = 0
        while number < len(self._lines):
            line = self._lines[number]
            heading = self._outline.headings.get(number)
            if number in self._outline.contents:
                self._builder.add_to("contents", line)
            elif self._names_table(number, line):
                self._builder.name_table(line)
            elif heading is not None and self._entitles(number, line, heading):
                self._builder.pending(line)
            elif heading is not None:
                self._head(number, line, heading)
                number += heading.title
            elif line.row:
                self._builder.row(line, self._lines[number + 1 : number + 2])
            else:
                self._body(number, line)
            self._builder.before = line
            number += 1
        return self._builder.finished()

    def _head(self, number: int, line: LogicalLine, heading: Heading) -> None:
        end = self._lines[number + heading.title].end
        body = end if heading.body is None else line.start + line.skipped + heading.body
        self._whereas = self._whereas and not self._builder.recited
        if number < self._first and opens_recitals(heading.text):
            self._whereas = True
        self._builder.heading(line, heading, body, end)
        self._number = heading.number
        if heading.body is not None:
            self._listed_or_text(number, line, heading.body)

    def _body(self, number: int, line: LogicalLine) -> None:
        if number < self._first and self._recites(number, line):
            return
        if self._is_note(line):
            return
        begun = number > self._first or self._builder.numbered
        if self._builder.within == "closing" or (begun and _CLOSING.match(line.text)):
            self._builder.add_to("closing", line)
        elif (note := _NOTE.match(line.text)) or _AMENDMENT.match(line.text):
            word, count = (note["word"], note["number"] or "") if note else ("", "")
            self._builder.note(line, word, count)
        elif exception := _EXCEPTION.match(line.text):
            self._builder.exception(line, exception["number"] or "")
            begin = len(line.text) - len(line.text[exception.end() :].lstrip())
            if begin < len(line.text):
                self._listed_or_text(number, line, begin)
        else:
            self._listed_or_text(number, line, 0)

    def _is_note(self, line: LogicalLine) -> bool:
        """Open or continue a footnote with a line, and return whether the line is part of one."""
        at = bisect_left(self._notes, (line.start, 0))
        begun = self._notes[at : at + 1] if self._notes else []
        if begun and begun[0][0] < line.end:
            start, self._noted = begun[0]
            self._builder.footnote(line, start)
        elif line.end <= self._noted:
            self._builder.footnote(line)
        return line.end <= self._noted

    def _recites(self, number: int, line: LogicalLine) -> bool:
        """Open a recital, and return whether the line begins or contains one."""
        at = 0
        if opens_recitals(line.text):
            self._whereas, at = not self._builder.recited, first_within(line.text)
            if not at:
                return False
        self._whereas |= number == self._recitals
        if not self._whereas or self._builder.numbered:
            return False
        return self._recital(number, line, at)

    def _recital(self, number: int, line: LogicalLine, at: int) -> bool:
        """Open a recital at a place of a line, and return whether one begins there."""
        styles = {"(1)", "(A)", "(a)", "A.", *(["1."] if self._outline.provisions else [])}
        markers = [marker for marker in list_markers(line.text, at) if marker.style in styles]
        if any(marker.value == 1 for marker in markers):  # a single number is not a count
            ahead = self._lines[number + 1 : number + _AHEAD]
            second = {m.style for e in ahead for m in list_markers(e.text) if m.value == 2}
            markers = [marker for marker in markers if marker.value != 1 or marker.style in second]
        if at and (markers := [marker for marker in markers if marker.value == 1]):
            self._builder.text(line, 0)
        return bool(markers) and self._builder.recital(line, markers, at)

    def _listed_or_text(self, number: int, line: LogicalLine, at: int) -> None:
        """Add a list item, with those that begin on its line, a definition, or text."""
        markers = list_markers(line.text, at)
        if not markers and (bare := bare_number(line.text)) and self._builder.counts_on(bare):
            markers = [bare]
        if not markers or not self._acceptable(markers, line):
            self._plain(number, line, at)
            return
        for depth in range(_MOST_ON_A_LINE, 0, -1):
            known = self._outline.indented and not at and not line.skipped
            column = line.column if known else -1
            ahead = partial(self._roman_ahead, number)
            fit = best_fit(markers, self._builder.stack, ahead, column)
            begin, heading = fit.marker.end, ""
            inner = list_markers(line.text, begin) if line.text[begin : begin + 1] == "(" else []
            if not any(m.value == 1 for m in inner):
                heading, begin = run_in_heading(line.text, begin) or ("", begin)
                inner = list_markers(line.text, begin) if heading else []
            inner = [marker for marker in inner if marker.value == 1 and depth > 1]
            body = None
            if not heading and self._outline.numbered and fit.marker.style[0] == "1":
                heading, body = title_heading(line.text, fit.marker.end) or ("", None)
                if not heading and self._heads_text(number, line, fit.marker):
                    heading, body = line.text[fit.marker.end :].strip(" .*"), len(line.text)
            rest = "" if inner else line.text[body or fit.marker.end :]
            term = defined_term(rest, self._builder.among_definitions) if rest else None
            self._builder.item(line, fit, at, rest, heading=heading, body=body, term=term)
            if not inner:
                return
            at, markers = begin, inner

    def _acceptable(self, markers: Sequence[Marker], line: LogicalLine) -> bool:
        """Return whether a number before a line may count it; "2.5 % of ..." and years do not."""
        marker = markers[0]
        if not (self._builder.counts_on(marker) or any(map(self._in_sequence, markers))):
            return False
        rest = line.text[marker.end : marker.end + 1]
        if "." in marker.number:
            if self._marked >= _FEWEST_MARKED and not self._extends(marker):
                return False
            first = marker.value == 1 and marker.style[0] == "1"
            begun = first or self._builder.knows_beside(marker.number)
            return not rest or (begun and (rest.isupper() or rest in "“\"‘'([—"))
        return not (marker.style == "1." and len(marker.number) == 4)

    def _in_sequence(self, marker: Marker) -> bool:
        """Return whether a number is the first of a list, or has a neighbour below it."""
        value, stem = marker.value, _stem(marker)
        if value <= 1 or (stem and self._builder.knows_beside(marker.number)):
            return True
        beside = (v for step in (1, 2) for v in (value - step, value + step))
        inserted = (float(int(value)), int(value) + 1.0) if value > int(value) else ()
        return any((marker.style, stem, v) in self._counted for v in (*beside, *inserted))

    def _extends(self, marker: Marker) -> bool:
        """Return whether a number extends that of the heading above, as 2.1.1 extends 2.1.

        If the format marks headings, "4.9" in the text below another number is a reference.
        """
        return bool(self._number) and marker.number.startswith(f"{self._number}.")

    def _plain(self, number: int, line: LogicalLine, at: int) -> None:
        term = defined_term(line.text[at:], self._builder.among_definitions)
        if term is not None:
            self._builder.definition(line, at, term)
        elif not at and self._heads_next(number, line):
            self._builder.pending(line)
        else:
            self._builder.text(line, at, self._next_markers(number))

    def _next_markers(self, number: int) -> Sequence[Marker]:
        """Return the readings of the next number below a line, if no heading comes first."""
        for place in range(number + 1, min(number + _BELOW, len(self._lines))):
            if place in self._outline.headings:
                break
            if markers := list_markers(self._lines[place].text):
                return markers
        return ()

    def _names_table(self, number: int, line: LogicalLine) -> bool:
        """Return whether a line is the caption of the table above it, not of one below.

        Between two tables it belongs to the closer one.
        """
        below = self._lines[number + 1 : number + 2]
        named = caption(line.text) if not line.row and self._builder.unnamed_table else None
        if named is None or line.ended or named[1][:1].islower():
            return False
        joined = line.start - self._lines[number - 1].end == 1
        return not any(lower.row and not (joined and lower.start - line.end > 1) for lower in below)

    def _heads_next(self, number: int, line: LogicalLine) -> bool:
        """Return whether a short line is the heading of the numbered provision on the next."""
        following = self._outline.headings.get(number + 1)
        bare = following is None or (following.sole and not following.text)
        beside = self._outline.headed and line.beside and bare
        if not beside and (not line.short or line.ended or len(line.text) > 100):
            return False
        if number + 1 in self._outline.headings:
            # a format that marks headings would have marked this line
            return bool(line.level) or not self._outline.marked
        if not self._outline.numbered:
            return False
        below = self._lines[number + 1 : number + 2]
        markers = [marker for line in below for marker in list_markers(line.text)]
        return bool(markers) and self._builder.goes_on_with(markers[0])

    def _heads_text(self, number: int, line: LogicalLine, line_marker: Marker) -> bool:
        """Return whether the words after a number are the heading of the text or list below."""
        title, below = line.text[line_marker.end :], self._lines[number + 1 : number + 3]
        named = title[:1].isupper() and len(title.split()) <= _LONGEST_TITLE
        if not (named and line.short and below) or SAYS.search(title):
            return False
        first, *second = ([*list_markers(lower.text)] for lower in below)
        if any(marker.style[0] != "(" for marker in first):
            return any(marker.value == 1 and marker.style != line_marker.style for marker in first)
        led = not first and any(marker.value == 1 for markers in second for marker in markers)
        return below[0].ended or led

    def _entitles(self, number: int, line: LogicalLine, heading: Heading) -> bool:
        """Return whether a marked heading belongs to the provision on the next line."""
        if heading.number or heading.style:
            return False
        following = self._outline.headings.get(number + 1)
        if following is not None:
            alike = following.level == heading.level or (following.sole and not following.text)
            return bool(following.number) and alike
        return self._heads_next(number, line) and not self._heads_list(number)

    def _heads_list(self, number: int) -> bool:
        """Return whether the number on the next line is followed by another before a heading."""
        first, *lines = self._lines[number + 1 : number + _LIST]
        wanted = {(m.style, m.value + 1) for m in list_markers(first.text)}
        below = takewhile(lambda line: not line.level, lines)
        return any((m.style, m.value) in wanted for line in below for m in list_markers(line.text))

    def _roman_ahead(self, number: int) -> bool | None:
        """Return whether (ii) comes before (j) in the lines below; None if neither does.

        If (i) leads into another (i), it is a letter.
        """
        leads = self._lines[number].leads
        for line in self._lines[number + 1 : number + _AHEAD]:
            head = line.text[:8].lower()
            if leads and head.startswith(("(i)", "i.", "i)")):
                return False
            if head.startswith(("(ii)", "ii.", "ii)")):
                return True
            if head.startswith(("(j)", "j.", "j)")):
                return False
        return None


class _Builder:
    """A builder of a document's tree, given its lines in order.

    ``stack`` holds the open units, outermost first. ``numbered`` is true once a provision with only
    a number has been opened, ``recited`` once a recital has. ``before`` is the previous line.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._opened: list[OpenUnit] = []
        self._problems: list[str] = []
        self._last: dict[tuple[str, str], tuple[float, str]] = {}
        self._pending: LogicalLine | None = None
        self._last_text = self._text_before = ""
        self._annex_count = 0.0
        self._reached = 0
        self.before: LogicalLine | None = None
        self.recited = False
        self.numbered = False
        self.stack: list[OpenUnit] = []

    def finished(self) -> Tree:
        """Return the tree; nothing can be added afterwards."""
        self._close(0)
        _label_annex_parts(self._opened)
        _heading_to_text(self._opened)
        units: list[Unit] = []
        for e in self._opened:
            span = (e.start, max(e.body, e.start), e.end)
            kind: Kind = "note" if e.style == NOTES else e.kind
            units.append(Unit(kind, e.number, e.heading, e.label, *span, e.parent))
        return Tree(tuple(units), tuple(self._problems))

    # questions of the parser

    @property
    def within(self) -> Kind | None:
        """The kind of the innermost open unit."""
        return self.stack[-1].kind if self.stack else None

    @property
    def among_definitions(self) -> bool:
        """True if the heading of the nearest provision or part is about definitions."""
        headings = (e.heading for e in reversed(self.stack) if e.divides or e.kind == "provision")
        return is_about_definitions(next(filter(None, headings), ""))

    def knows_beside(self, number: str) -> bool:
        """Return whether the parent or a sibling of ``4.2.1`` is open."""
        above = number.rpartition(".")[0]
        return any(e.number == above or e.number.startswith(above + ".") for e in self.stack)

    def goes_on_with(self, marker: Marker) -> bool:
        """Return whether a number is the next of the provisions that have only numbers."""
        for entry in self.stack:
            if entry.kind == "provision" and entry.style == marker.style:
                return 0 < marker.value - entry.value <= 1
        return marker.style == "1." and marker.value <= 1

    def counts_on(self, marker: Marker) -> bool:
        """Return whether a number without a stop is the next paragraph of a schedule.

        Swiss acts number the paragraphs of their articles so, too.
        """
        if any(entry.kind == "annex" for entry in self.stack):
            return 0 < marker.value - self._annex_count <= 1
        article = next(
            (e for e in self.stack if e.kind == "provision" and e.style in _ARTICLES), None
        )
        if article is None or marker.style != "1.":
            return False
        last = article.listed.value if article.listed else 0
        return marker.value == last + 1

    # the units that a line opens

    def heading(self, line: LogicalLine, heading: Heading, body: int, end: int) -> None:
        """Open a part, a provision or an annex, and close the units that end before it.

        Its text begins at ``body``, after the heading, whose lines end at ``end``.
        """
        rank = self._outline.ranks.get(heading.style, -1)
        kind: Kind = "provision"
        if rank >= 0 and heading.style != self._outline.provisions:
            kind = "annex" if heading.style in ("annex", NOTES) else "part"
        start, named = line.start, heading.text
        headed = heading.sole and not named and self._outline.headed
        if self._pending is not None and headed:
            start, named = self._pending.start, self._pending.text.removeprefix(MARGIN).rstrip(".")
            self._pending = None
        elif self._pending is not None:
            self._crossheading(self._pending)
        self._close(_kept_by(heading, rank, kind, self.stack))
        label = _heading_label(self._outline, heading, kind, self.stack)
        entry = OpenUnit(kind, label, heading.style, heading.value, heading.number)
        entry.heading, entry.start, entry.body = named, start, body
        if named and named in line.text:
            entry.ended = line.ended
            entry.said = _offset(line, line.text.index(named))
        entry.bare = heading.sole and not named and body >= end
        self.numbered |= heading.sole and kind == "provision"
        entry.rank, entry.level, entry.divides = rank, heading.level, True
        if kind == "annex":
            self._annex_count = 0.0
        elif heading.number:
            self._check_order(entry)
        self._push(entry, end)

    def item(
        self,
        line: LogicalLine,
        fit: Fit,
        at: int,
        rest: str,
        *,
        heading: str,
        body: int | None,
        term: str | None,
    ) -> None:
        """Open a numbered provision, paragraph or point that begins at a place of its line.

        Args:
            line: Its line.
            fit: The reading of its number.
            at: Where it begins in the line.
            rest: The line's text after the number; "" if another item begins there.
            heading: Its heading, if an item or text follows on the same line.
            body: Where the text after its heading begins in the line.
            term: The term that it defines, if any.
        """
        marker, pending = fit.marker, self._pending
        self._pending = None
        begins = self._outline.numbered and marker.style == "1." and marker.value <= 1
        introduced = not any(
            e.divides or e.kind in ("part", "annex", "provision") for e in self.stack
        )
        led = bool(self.stack) and self.stack[-1].leads
        keep = 0 if begins and introduced and not led else fit.keep
        self._extend_closing(line, at)
        self._close(keep)
        counted = fit.odd and not self.counts_on(marker)
        kind = self._kind_of(marker, term)
        start = _offset(line, at)
        if kind == "provision" and not heading:
            heading = rest.strip(" .*") if line.short and len(rest) <= 120 else ""
        begin = line.end if kind == "provision" and heading else start
        if body is not None:
            begin = line.start + line.skipped + body if rest.strip() else line.end
        if pending is not None and kind == "provision" and not heading:
            heading, start = pending.text, pending.start
        elif pending is not None:
            self.text(pending, 0)
            self._close(min(keep, len(self.stack)))
        label = _item_label(self._outline, marker, kind, self.stack)
        entry = OpenUnit(
            kind, label, marker.style, marker.value, marker.number, term or heading, start
        )
        entry.leads, entry.bare = rest.rstrip().endswith(LEADS), not rest.strip()
        entry.body = begin
        if self._outline.indented and not at and not line.skipped:
            entry.stands(line.column, marker, self.stack[-1].listed if self.stack else None)
        if self.stack:
            self.stack[-1].listed = entry
        if counted:
            self._note_problem(f"{label or marker.number} does not follow what precedes it")
        self._push(entry, line.end)

    def _kind_of(self, marker: Marker, term: str | None) -> Kind:
        within = self.within
        root = all(entry.kind == "part" for entry in self.stack)
        if root and marker.style[0] == "1" and self._outline.numbered:
            self.numbered = True
            return "provision"
        if marker.style == "1." and all(entry.kind in ("part", "annex") for entry in self.stack):
            self._annex_count = marker.value
        if term:
            return "definition"
        return "paragraph" if within == "provision" else "point"

    def recital(self, line: LogicalLine, markers: Sequence[Marker], at: int) -> bool:
        """Open a recital if its number is the next, and return whether it was.

        ``at`` is where it begins in its line; the text before has been added.
        """
        last = next((entry for entry in self.stack if entry.kind == "recital"), None)
        for marker in markers:
            step = marker.value - (last.value if last else 0)
            if 0 < step <= 1 and (last is None or last.style == marker.style):
                self.recited = True
                self._extend_closing(line, at)
                self._close(self._depth_of("recital", "text"))
                entry = OpenUnit("recital", f"Recital {marker.number}", marker.style, marker.value)
                entry.number, entry.start, entry.leads = (
                    marker.number,
                    _offset(line, at),
                    line.leads,
                )
                self._push(entry, line.end)
                return True
        return False

    def definition(self, line: LogicalLine, at: int, term: str) -> None:
        """Open the definition of a term without a number."""
        self._extend_closing(line, at)
        self._close_style("definition", self._depth_at(line))
        self._close_flat()
        label = f'{self._label} "{term}"'.strip()
        entry = OpenUnit("definition", label, "definition", 0, term, term, _offset(line, at))
        entry.leads = line.leads
        self._push(entry, line.end)

    def text(self, line: LogicalLine, at: int, following: Sequence[Marker] = ()) -> None:
        """Add unnumbered text to a unit that has none yet, or as a unit of its own.

        It does not close a list that the number below, read as ``following``, continues.
        """
        self._flush()
        top = self.stack[-1] if self.stack else None
        if top is not None and top.bare and self._depth_at(line) == len(self.stack):
            top.bare, top.leads = False, line.leads
            self._reached = line.end
            return
        enacts = line.text.isupper() and line.text.endswith(":")
        recital = self._depth_of("recital") if enacts else len(self.stack)
        depth = min(recital, self._depth_for_text(line))  # "HAVE ADOPTED THIS DIRECTIVE:"
        if depth < len(self.stack) and _TOPIC.match(line.text):
            depth = min(depth, self._depth_of("paragraph", "point"))
        self._close(max(depth, self._depth_to_go_on(following)))
        self._push(
            OpenUnit("text", self._label, start=_offset(line, at), leads=line.leads), line.end
        )
        self._text_before, self._last_text = self._last_text, line.text

    def pending(self, line: LogicalLine) -> None:
        """Hold back a line that may be the heading of the next unit."""
        self._flush()
        self._pending = line

    def row(self, line: LogicalLine, following: Sequence[LogicalLine]) -> None:
        """Add a row; the first one names the columns. ``following`` is the next line, if any."""
        if is_ruler(line.text):
            self._reached = line.end
            return
        depth = self._depth_of("table")
        if depth < len(self.stack) and self._differs(line, following):
            self._close(depth)
        kind: Kind = "columns" if depth == len(self.stack) else "row"
        key = ""
        if kind == "columns":
            self._open_table(line)
        else:
            self._close(depth + 1)
            key = next(filter(None, cells(line.text)), "")[:_LONGEST_KEY]
        label = f"{self._label}, row {key}" if self._label and key else self._label
        self._push(OpenUnit(kind, label, number=key, start=line.start), line.end)

    def _differs(self, line: LogicalLine, following: Sequence[LogicalLine]) -> bool:
        """Return whether a row begins another table: after a gap, with other columns.

        A row without a figure between rows with figures has the names of other columns.
        """
        before = self.before
        if before is None or not before.row or self.within != "row":
            return False
        if line.start - before.end <= 1:
            return False
        figures = [any(map(str.isdigit, row.text)) for row in (before, line, *following) if row.row]
        return figures == [True, False, True] or len(cells(before.text)) != len(cells(line.text))

    def _open_table(self, line: LogicalLine) -> None:
        """Open a table; the line above it that counts it becomes its caption."""
        self._flush()
        top = self.stack[-1] if self.stack else None
        written = self._last_text if top is not None and top.kind == "text" else ""
        if top is not None and top.divides and top.place == len(self._opened) - 1:
            written = top.heading
        named = caption(written)
        if named is None and written:
            named = self._two_lines(written)
            top = self.stack[-1] if named else top
        if top is not None and named is not None:
            top.number, top.heading = named
            sheet = f"{top.label}, " if written.startswith("Row ") else ""
            top.kind, top.label, top.divides = "table", f"{sheet}Table {top.number}", False
            return
        self._close_flat()
        self._push(OpenUnit("table", self._label, start=line.start), line.end)

    def _two_lines(self, title: str) -> tuple[str, str] | None:
        """Return number and heading of a table if two lines together name it, or None."""
        *_, above, below = [None, None, *self._opened[-2:]]
        if above is None or below is None or above.kind != "text" or above.parent != below.parent:
            return None
        named = caption(self._text_before)
        if named is None or named[1] or above.end <= above.start:
            return None
        self._close(len(self.stack) - 1)
        del self._opened[-1]
        self.stack.append(above)
        return named[0], title.rstrip(".")

    @property
    def unnamed_table(self) -> OpenUnit | None:
        """The table that ended in the line before, if it has no number yet."""
        unnamed = (e for e in self.stack if e.kind == "table" and not e.number)
        return next(unnamed, None) if self._pending is None else None

    def name_table(self, line: LogicalLine) -> None:
        """Name the table that is open by the caption below it."""
        table, named = self.unnamed_table, caption(line.text)
        assert table is not None
        assert named is not None
        table.number, table.heading = named
        old, table.label = table.label, f"Table {table.number}"
        for row in self._opened[table.place + 1 :]:
            row.label = table.label + row.label.removeprefix(old)
        self._close(self.stack.index(table) + 1)
        self._reached = line.end
        self._close(len(self.stack) - 1)

    def note(self, line: LogicalLine, word: str, number: str) -> None:
        """Add a note that explains and sets no rule, such as an advisory or a source."""
        named = (e.number == number and e.kind == "provision" for e in self.stack if number)
        about = next((i for i, is_about in enumerate(named, 1) if is_about), 0)
        self._close(about or min(self._depth_of(*_FLAT), self._depth_at(line)))
        label = f"{word.capitalize()} {number}" if number else self._label
        entry = OpenUnit("note", label, number=number, start=line.start, leads=line.leads)
        self._push(entry, line.end)

    def footnote(self, line: LogicalLine, body: int = -1) -> None:
        """Open a footnote whose text begins at ``body``, or continue the open one."""
        if body >= 0 or self.within != "note":
            self.note(line, "", "")
            self.stack[-1].body = body
        else:
            self._reached = line.end

    def exception(self, line: LogicalLine, number: str) -> None:
        """Open the exceptions of a provision."""
        self._close_style("exception", self._depth_of(*_FLAT))
        label = f"{self._label}, Exception {number}".rstrip() if self._label else ""
        entry = OpenUnit("paragraph", label, "exception", 0, number or "Exception", "", line.start)
        entry.leads = True
        self._push(entry, line.end)

    def add_to(self, kind: Kind, line: LogicalLine) -> None:
        """Add a line to the open unit of a kind, or open one at the top level."""
        if self.within == kind:
            self._reached = line.end
        else:
            self._close(0)
            self._push(OpenUnit(kind, start=line.start), line.end)

    # how units are put into the tree

    @property
    def _label(self) -> str:
        return self.stack[-1].label if self.stack else ""

    def _push(self, entry: OpenUnit, end: int) -> None:
        entry.parent = self.stack[-1].place if self.stack else -1
        entry.place = len(self._opened)
        self._opened.append(entry)
        self.stack.append(entry)
        self._reached = end

    def _extend_closing(self, line: LogicalLine, at: int) -> None:
        """Extend closing units to the start of the next unit, if that is within their line."""
        self._reached = _offset(line, at) if at else self._reached

    def _close(self, keep: int) -> None:
        self._flush()
        while len(self.stack) > keep:
            closed = self.stack.pop()
            closed.end = self._reached
            if closed.kind == "text" and closed.listed is not None and self.stack:
                self.stack[-1].listed = closed.listed  # a list after a lead-in may continue

    def _close_style(self, style: str, depth: int) -> None:
        """Close the outermost unit of a style, or the units deeper than ``depth``."""
        styles = [entry.style for entry in self.stack[:depth]]
        self._close(styles.index(style) if style in styles else depth)

    def _close_flat(self) -> None:
        """Close text, tables and notes that are not lead-ins."""
        while self.stack and self.stack[-1].kind in _FLAT and not self.stack[-1].leads:
            self._close(len(self.stack) - 1)

    def _flush(self) -> None:
        """Add the line held back as text, if it was not a heading."""
        line, self._pending = self._pending, None
        if line is not None:
            self.text(line, 0)

    def _crossheading(self, line: LogicalLine) -> None:
        """Open a heading without a number or a level that groups provisions."""
        self._pending = None
        self._close(self._depth_of("provision", "text"))
        if self.stack and self.stack[-1].style == "crossheading":
            self._close(len(self.stack) - 1)
        entry = OpenUnit(
            "part", self._label, "crossheading", 0, "", line.text, line.start, line.end
        )
        entry.divides = True
        self._push(entry, line.end)

    def _depth_of(self, *kinds: Kind) -> int:
        """Return how many units stay open when the outermost of these kinds is closed."""
        return next((i for i, e in enumerate(self.stack) if e.kind in kinds), len(self.stack))

    def _depth_at(self, line: LogicalLine) -> int:
        """Return how many units stay open for text at an indent: no item to its right."""
        items = (i for i, e in enumerate(self.stack) if e.kind in ITEMS and "." not in e.number)
        return next((i for i in items if self.stack[i].outside(line.column)), len(self.stack))

    def _depth_for_text(self, line: LogicalLine) -> int:
        """Return how many units stay open at unnumbered text.

        After a list, only its lead-in stays open, unless the text is aligned with an item's.
        """
        depth = self._depth_at(line)
        if (
            self.before is not None and self.before.breaks_off
        ):  # text that continues stays in its item
            while depth and self.stack[depth - 1].kind in _FLAT:
                depth -= 1
            return depth
        while depth:
            entry = self.stack[depth - 1]
            led = depth > 1 and self.stack[depth - 2].leads
            below = (
                0 <= entry.column < line.column
            )  # text aligned with an item's text is part of the item
            ends_list = entry.kind in ("point", "paragraph", "definition") and led and not below
            if entry.style == "definition" and not self.among_definitions:
                ends_list = True
            opens = entry.style == "exception" and entry.place == len(self._opened) - 1
            if opens or (entry.kind not in _FLAT and entry.kind != "contents" and not ends_list):
                break
            depth -= 1
        return depth

    def _depth_to_go_on(self, following: Sequence[Marker]) -> int:
        """Return how many units stay open if a number continues a list within an item."""
        for depth in range(len(self.stack) - 1, 0, -1):
            entry, within = self.stack[depth], self.stack[depth - 1].kind
            steps = (m.value - entry.value for m in following if m.style == entry.style)
            if within in ITEMS and entry.number and any(0 < step <= 1 for step in steps):
                return depth
        return 0

    def _check_order(self, entry: OpenUnit) -> None:
        """Record a provision or part that does not follow the one before it."""
        if entry.number.endswith("01") and self.stack and self.stack[-1].kind == "part":
            return  # standards number the provisions of each chapter from its own hundred
        counted = entry.kind == "part" or self._outline.anew
        within = self._label if counted else _annex(self.stack)
        prefix = entry.number[: -len(entry.number.replace("-", ".").rpartition(".")[2])]
        key = (entry.style, within + prefix)
        last, label = self._last.get(key, (0.0, ""))
        self._last[key] = (entry.value, entry.label)
        step = entry.value - last
        if label and not 0 < step <= 1:
            wrong = "numbers are missing" if step > 1 else "out of order" if step else "repeated"
            self._note_problem(f"{entry.label} follows {label}: {wrong}")

    def _note_problem(self, problem: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(f"{problem}.")


def _heading_to_text(opened: Sequence[OpenUnit]) -> None:
    """Turn the words after a number into the text of a provision that has no other text.

    They stay its heading if they state nothing. A document may consist of such provisions;
    otherwise the words must end like a sentence.
    """
    holding = {e.parent for e in opened}
    provisions = [e for e in opened if e.kind == "provision" and e.number]
    bare = [e for e in provisions if e.said >= 0 and e.place not in holding and e.body >= e.end]
    saying = [e for e in bare if SAYS.search(e.heading) or (e.ended and _is_a_sentence(e.heading))]
    most = 2 * len(saying) > len(provisions)
    for e in bare if most else saying:
        if most or e.ended:
            e.heading, e.body = "", e.said


def _is_a_sentence(heading: str) -> bool:
    """Return whether the words of a heading are a sentence, in any language."""
    words = heading.split()
    return len(words) >= _FEWEST_WORDS and words[-1][:1].islower()


def _label_annex_parts(opened: Sequence[OpenUnit]) -> None:
    """Add an annex's part to the labels of its points, if each part restarts the numbering.

    There is a point 1 in each of its sections then.
    """
    parts: dict[
        int, OpenUnit
    ] = {}  # the innermost numbered part of an annex, by the index of a unit
    named: dict[str, set[int]] = {}  # the parts that contain a label
    for e in opened:
        above = parts.get(e.parent)
        if e.kind == "annex" or (e.kind == "part" and e.number and above is not None):
            parts[e.place] = e
        elif above is not None:
            parts[e.place] = above
            if e.number:
                named.setdefault(e.label, set()).add(above.place)
    annexes = {label.partition(",")[0] for label, units in named.items() if len(units) > 1}
    for e in opened:
        annex, comma, point = e.label.partition(", ")
        if e.place in parts and parts[e.place] is not e and comma and annex in annexes:
            e.label = f"{parts[e.place].label}, {point}"


def _adjacent_readings(line: str, at: int) -> Iterator[Marker]:
    """Yield the readings of adjacent numbers in a line: "5 (1) (a)"."""
    for _ in range(_MOST_ON_A_LINE):
        markers = list_markers(line, at)
        if not at and not markers and (bare := bare_number(line)):
            markers = [bare]
        yield from markers
        if not markers or line[markers[0].end : markers[0].end + 1] != "(":
            return
        at = markers[0].end


def _stem(marker: Marker) -> str:
    """Return the part of a number that its siblings share: 4.2 of 4.2.1."""
    return marker.number.rpartition(".")[0]


def _offset(line: LogicalLine, at: int) -> int:
    """Return the offset in the document of a place in a line."""
    return line.start + line.skipped + at if at else line.start


def _kept_by(heading: Heading, rank: int, kind: Kind, stack: Sequence[OpenUnit]) -> int:
    """Return how many open units a heading leaves open."""
    for depth, entry in enumerate(stack):
        if not entry.divides and entry.kind != "provision":
            return depth
        if entry.style == "crossheading" and kind != "provision":
            return depth
        if rank >= 0 and entry.rank >= 0:
            closes = entry.rank >= rank
        elif heading.sole and entry.style[:1] in ("1", "A", "I") and not _is_deeper(heading, entry):
            closes = not heading.number.startswith(entry.number + ".")
        elif heading.level and (entry.level or entry.style in ("1.", "A.", "I.")):
            closes = not entry.level or entry.level >= heading.level
        else:
            closes = entry.kind == "provision" and (rank >= 0 or not entry.divides)
        if closes:
            return depth
    return len(stack)


def _is_deeper(heading: Heading, entry: OpenUnit) -> bool:
    """Return whether a heading with another numbering is below one that the format marks."""
    marked = entry.level > 0 and (not heading.level or entry.level < heading.level)
    return marked and heading.style != entry.style


def _heading_label(
    outline: Outline, heading: Heading, kind: Kind, stack: Sequence[OpenUnit]
) -> str:
    """Return a heading's label: ``Article 5``, ``Title I, Chapter II``."""
    annex = _annex(stack)
    if kind == "annex" or not heading.number:
        return heading.number or heading.text
    if kind == "part":
        above = [e.label for e in stack if e.kind in ("part", "annex") and e.number]
        return ", ".join([*above[-1:], f"{heading.style.capitalize()} {heading.number}"])
    if heading.style in outline.ranks:
        parts = [e.label for e in stack if e.kind == "part" and e.number and outline.anew]
        within = annex or next(reversed(parts), "")
        return ", ".join(filter(None, [within, _worded(heading.style, heading.number)]))
    if annex:
        return _annex_point(annex, heading.number)
    outer = next((e.label for e in reversed(stack) if e.number and e.kind == "provision"), "")
    if outer and "." not in heading.number:
        return f"{outer}({heading.number})"
    return _worded(outline.own_word, heading.number)


def _item_label(outline: Outline, marker: Marker, kind: Kind, stack: Sequence[OpenUnit]) -> str:
    """Return the label of a numbered item: ``§ 5-303(b)(2)``, ``Annex III, point 4``.

    Without a number it is the parent's label.
    """
    annex, number = _annex(stack), marker.number
    inner = takewhile(lambda e: e.kind != "annex", reversed(stack))  # a title may contain it
    outermost = not any(e.kind in ("point", "paragraph", "provision") for e in inner)
    if number and annex and ("." in number or outermost):
        return _annex_point(annex, number)
    if "." in number:
        words = (e.style for e in stack if e.kind == "provision" and e.style in outline.ranks)
        return _worded(outline.dotted_word or next(words, outline.own_word), number)
    if number and kind == "provision":
        return _worded(outline.own_word if outline.numbered else "paragraph", number)
    above, style = (stack[-1].label, stack[-1].style) if stack else ("", "")
    nearest = next((entry for entry in reversed(stack) if entry.kind == "provision"), None)
    # under the unnumbered headings of a policy, "1." is ambiguous
    unnamed = marker.style[0] != "(" and not annex and (nearest is None or not nearest.number)
    if not number or not above or unnamed:
        return above
    if style == "exception":
        return f"{above} {number}"
    return f"{above} ({number})" if style == "definition" else f"{above}({number})"


def _worded(word: str, number: str) -> str:
    return f"§ {number}" if word == "§" else f"{word.capitalize()} {number}"


def _annex(stack: Sequence[OpenUnit]) -> str:
    return next((entry.label for entry in stack if entry.kind == "annex"), "")


def _annex_point(annex: str, number: str) -> str:
    word = "paragraph" if annex.lower().startswith(_PARAGRAPHED) else "point"
    return f"{annex}, {word} {number}"
