"""Parsing of documents into trees: headings, and between them lists, definitions and tables."""

import re
from collections.abc import Sequence
from functools import partial

from lexloop.documents.structure.builder import TreeBuilder
from lexloop.documents.structure.headings import Heading, Outline, find_outline
from lexloop.documents.structure.lines import LogicalLine, logical_lines
from lexloop.documents.structure.markers import (
    Marker,
    bare_number,
    defined_term,
    list_markers,
    run_in_heading,
    title_heading,
)
from lexloop.documents.structure.numbering import best_fit
from lexloop.documents.structure.tree import Tree

_WHEREAS = re.compile(r"(?:whereas|recitals?|background|preamble)\b[:,]?", re.IGNORECASE)
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
_SAYS = re.compile(r"\b(?:shall|must|may|will|can|should|is|are|be|was|were|has|have|means?)\b")
_FEWEST_MARKED = 3
_AHEAD, _MOST_ON_A_LINE, _LONGEST_TITLE = 40, 5, 10


def parse(text: str, headings: Sequence[tuple[int, int]] = (), paged: bool = False) -> Tree:
    """Return the tree of a document, in time linear in its length.

    Args:
        text: The whole text.
        headings: Those that the format itself marks: offset of the line, and level from 1.
        paged: Whether the format has pages, so that a line beginning with ``#`` is no heading.
    """
    lines = logical_lines(text, dict(headings), paged)
    return _Parser(lines, find_outline(lines, text)).tree()


class _Parser:
    """One pass over the lines of one document."""

    def __init__(self, lines: Sequence[LogicalLine], outline: Outline) -> None:
        self._lines, self._outline = lines, outline
        self._builder = TreeBuilder(outline)
        numbered = (place for place, heading in outline.headings.items() if heading.number)
        self._first = min(numbered, default=len(lines))
        self._whereas = False
        self._marked = sum(h.level > 0 and "." in h.number for h in outline.headings.values())
        self._number = ""  # of the last heading

    def tree(self) -> Tree:
        """Return the finished tree."""
        number = 0
        while number < len(self._lines):
            line = self._lines[number]
            heading = self._outline.headings.get(number)
            if number in self._outline.contents:
                self._builder.add_to("contents", line)
            elif heading is not None and self._entitles(number, line, heading):
                self._builder.pending(line)
            elif heading is not None:
                self._head(number, line, heading)
                number += heading.title
            elif line.row:
                self._builder.row(line)
            else:
                self._body(number, line)
            number += 1
        return self._builder.finished()

    def _head(self, number: int, line: LogicalLine, heading: Heading) -> None:
        end = self._lines[number + heading.title].end
        body = end if heading.body is None else line.start + line.skipped + heading.body
        self._builder.heading(line, heading, body, end)
        self._number = heading.number
        if heading.body is not None:
            self._listed_or_text(number, line, heading.body)

    def _body(self, number: int, line: LogicalLine) -> None:
        if number < self._first:
            if _WHEREAS.match(line.text):
                self._whereas = True
            elif self._whereas and not self._builder.numbered and self._recital(number, line):
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

    def _recital(self, number: int, line: LogicalLine) -> bool:
        """Open a recital, and return whether the line begins one."""
        styles = {"(1)", "(A)", "(a)", "A.", *(["1."] if self._outline.provisions else [])}
        markers = [marker for marker in list_markers(line.text) if marker.style in styles]
        if any(marker.value == 1 for marker in markers):  # one alone counts nothing
            ahead = self._lines[number + 1 : number + _AHEAD]
            second = {m.style for e in ahead for m in list_markers(e.text) if m.value == 2}
            markers = [marker for marker in markers if marker.value != 1 or marker.style in second]
        return bool(markers) and self._builder.recital(line, markers)

    def _listed_or_text(self, number: int, line: LogicalLine, at: int) -> None:
        """Add a list item, with those that begin on its line, a definition, or text."""
        markers = list_markers(line.text, at)
        if not markers and (bare := bare_number(line.text)) and self._builder.counts_on(bare):
            markers = [bare]
        if not markers or not self._acceptable(markers, line):
            self._plain(number, line, at)
            return
        for left in range(_MOST_ON_A_LINE, 0, -1):
            known = self._outline.indented and not at and not line.skipped
            column = line.column if known else -1
            ahead = partial(self._roman_ahead, number)
            fit = best_fit(markers, self._builder.stack, ahead, column)
            begin, heading = fit.marker.end, ""
            inner = list_markers(line.text, begin) if line.text[begin : begin + 1] == "(" else []
            if not any(m.value == 1 for m in inner):
                heading, begin = run_in_heading(line.text, begin) or ("", begin)
                inner = list_markers(line.text, begin) if heading else []
            inner = [marker for marker in inner if marker.value == 1 and left > 1]
            body = None
            if not heading and self._outline.numbered and fit.marker.style[0] == "1":
                heading, body = title_heading(line.text, fit.marker.end) or ("", None)
                if not heading and self._heads_text(number, line, fit.marker.end):
                    heading, body = line.text[fit.marker.end :].strip(" .*"), len(line.text)
            rest = "" if inner else line.text[body or fit.marker.end :]
            term = defined_term(rest, self._builder.among_definitions) if rest else None
            self._builder.item(line, fit, at, rest, heading=heading, body=body, term=term)
            if not inner:
                return
            at, markers = begin, inner

    def _acceptable(self, markers: Sequence[Marker], line: LogicalLine) -> bool:
        """Return whether a number in front of a line is one: "2.5 % of ..." and years are none."""
        marker = markers[0]
        rest = line.text[marker.end : marker.end + 1]
        if "." in marker.number:
            if self._marked >= _FEWEST_MARKED and not self._extends(marker):
                return False
            first = marker.value == 1 and marker.style[0] == "1"
            begun = first or self._builder.knows_beside(marker.number)
            if marker.style[0] == "A" and not begun:
                return False
            return not rest or (begun and (rest.isupper() or rest in "“\"‘'([—"))
        return not (marker.style == "1." and len(marker.number) == 4)

    def _extends(self, marker: Marker) -> bool:
        """Return whether a number lies below that of the heading above, as 2.1.1 does below 2.1.

        Where headings are marked, "4.9" in the text below another is one that the text is about.
        """
        return bool(self._number) and marker.number.startswith(f"{self._number}.")

    def _plain(self, number: int, line: LogicalLine, at: int) -> None:
        term = defined_term(line.text[at:], self._builder.among_definitions)
        if term is not None:
            self._builder.definition(line, at, term)
        elif not at and self._heads_next(number, line):
            self._builder.pending(line)
        elif not at and self._heads_anew(number, line):
            self._builder.list_heading(line)
        else:
            self._builder.text(line, at)

    def _heads_next(self, number: int, line: LogicalLine) -> bool:
        """Return whether a short line is the heading of the numbered provision on the next."""
        if not line.short or line.ended or len(line.text) > 100:
            return False
        if number + 1 in self._outline.headings:
            return True
        if not self._outline.numbered:
            return False
        following = self._lines[number + 1 : number + 2]
        markers = [marker for line in following for marker in list_markers(line.text)]
        return bool(markers) and self._builder.goes_on_with(markers[0])

    def _heads_anew(self, number: int, line: LogicalLine) -> bool:
        """Return whether a short line heads a list of its own, which begins anew on the next."""
        below = self._lines[number + 1 : number + 2]
        if not (self._outline.indented and line.short and below and line.column < below[0].column):
            return False
        markers = [m for m in list_markers(below[0].text) if m.style == "1." and m.value == 1]
        return bool(markers) and self._builder.begins_anew(below[0].column)

    def _heads_text(self, number: int, line: LogicalLine, at: int) -> bool:
        """Return whether the words behind a number are the heading of the line below."""
        title, below = line.text[at:], self._lines[number + 1 : number + 2]
        named = title[:1].isupper() and len(title.split()) <= _LONGEST_TITLE
        if not (named and line.short and below) or _SAYS.search(title):
            return False
        markers = list_markers(below[0].text)
        listed = bool(markers) and markers[0].style[0] != "("
        return below[0].ended and not (below[0].level or below[0].row or listed)

    def _entitles(self, number: int, line: LogicalLine, heading: Heading) -> bool:
        """Return whether a marked heading is that of the provision on the next line."""
        if heading.number or heading.style:
            return False
        following = self._outline.headings.get(number + 1)
        if following is not None:
            return bool(following.number) and following.level == heading.level
        return self._heads_next(number, line)

    def _roman_ahead(self, number: int) -> bool | None:
        """Return whether (ii) comes before (j) in the lines below; None if neither does."""
        for line in self._lines[number + 1 : number + _AHEAD]:
            head = line.text[:8].lower()
            if head.startswith(("(ii)", "ii.", "ii)")):
                return True
            if head.startswith(("(j)", "j.", "j)")):
                return False
        return None
