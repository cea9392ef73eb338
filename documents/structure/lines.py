"""Logical lines of a text: wrapped ones joined, rows and headings recognised."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexloop.documents.structure.markers import list_markers, word_marker
from lexloop.documents.structure.tree import LEADS

_TERMINAL = ".:;!?"
_CLOSERS = "\"'”’)]*_"
_WIDEST = 130
"""Text is wrapped by hand up to about this width; longer lines are paragraphs."""
_FULL_SHARE = 0.35
"""The share of lines that must reach the margin for a text to count as wrapped."""
_RAGGED = 0.3
"""A line that leaves less of the width free and ends no sentence is one of a paragraph."""
_BEFORE_ITEM = re.compile(r"[,;]$|\b(?:and|or)$")
_UNFINISHED = re.compile(
    r"\b(?:the|an?|of|to|in|by|for|with|from|that|which|is|are|be|under|any|such|this|its|their)$"
)
_FIELDS = re.compile(r"\S(?:\t+|\s{3,})(?=\S)")
_MARKDOWN = re.compile(r"(?P<marks>#{1,6})\s+(?=[^\s#])")
_RULER = re.compile(r"[\s|:+=_-]+$")
_GAP = re.compile(r"\t+|\s{3,}")
_CAPTION = re.compile(
    r"(?:Table|TABLE)\s+(?P<number>[\dA-Z][\w.\-–]{0,14})(?=[\s:–—]|$)[\s:–—]*(?P<heading>.*)$"
)
_LONGEST_ROW, _LONGEST_HEADING = 2000, 250
_FEWEST_HUNG, _HUNG_SHARE = 3, 0.6
_CODE_INDENT = 4
"""From this indent on, Markdown shows a line as it stands: "# ..." is a comment there."""


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """A logical line, without the blanks around it.

    Args:
        start: Where it begins, in code points of the document's text.
        text: Its text without the marks of Markdown in front; on one line.
        skipped: The number of characters in front that are left out of ``text``.
        level: The level of the heading that the format says it is, from 1; 0 where it is none.
        column: The blanks in front of it, tabs as up to eight.
        below: The blanks in front of the first line that continues it; -1 where none does.
    """

    start: int
    end: int
    text: str
    skipped: int = 0
    level: int = 0
    row: bool = False
    column: int = 0
    below: int = -1

    @property
    def ended(self) -> bool:
        """True where it ends as a sentence or a lead-in does."""
        return self.text.rstrip(_CLOSERS)[-1:] in _TERMINAL or self.text.endswith(("—", "–"))

    @property
    def leads(self) -> bool:
        """True where it ends as the words before a list do."""
        return self.text.rstrip(_CLOSERS).endswith(LEADS)

    @property
    def short(self) -> bool:
        """True where it looks like a heading: short, unfinished, not begun in the middle."""
        text = self.text
        return (
            len(text) <= 160
            and not (text[0].islower() or text[0] in ",;.)")
            and text.rstrip(_CLOSERS)[-1:] not in ".;:,"
        )


def logical_lines(text: str, levels: Mapping[int, int], paged: bool) -> list[LogicalLine]:
    """Return the lines of a document in order; none of them blank.

    Args:
        text: The whole text.
        levels: Those of the headings that the format marks, by the offset of their line.
        paged: Whether the format has pages.
    """
    physical = list(_physical(text))
    edges = [end - text.rfind("\n", 0, start) - 1 for start, end in physical]
    width = _width([e for e, (start, end) in zip(edges, physical, strict=True) if end > start])
    lines: list[LogicalLine] = []
    until = 0  # where the last line ends, the lines that only continue it included
    below = -1  # the indent of the first of these
    rows = _rows(text, physical)
    for number, (start, end) in enumerate(physical):
        if start >= end:
            continue
        line = text[start:end]
        if not rows[number] and is_ruler(line.replace("*", "-")):
            continue
        # in a format that marks headings itself, "# ..." is a comment and no heading
        bare = not paged and len(line) <= _LONGEST_HEADING
        bare = bare and _column(text, start) < _CODE_INDENT
        marks = _MARKDOWN.match(line) if bare else None
        level = len(marks["marks"]) if marks else levels.get(start, 0)
        whole = not level and not rows[number]
        before = physical[number - 1] if number else (0, 0)
        if (
            whole
            and lines
            and before[1] > before[0]
            and not (lines[-1].level or lines[-1].row)
            and _goes_on(lines[-1], _line(text, *before), line, edges[number - 1], width)
        ):
            below = _column(text, start) if until == lines[-1].end else below
            until = end
        else:
            _close(lines, text, until, below)
            lines.append(_line(text, start, end, level=level, row=rows[number], marks=marks))
            until = end
    _close(lines, text, until, below)
    return lines


def _close(lines: list[LogicalLine], text: str, until: int, below: int) -> None:
    """Extend the last line to the end of the lines that continue it."""
    if lines and lines[-1].end < until:
        lines[-1] = replace(_line(text, lines[-1].start, until), below=below)


def _column(text: str, start: int) -> int:
    """Return the blanks between the beginning of a line and a place in it."""
    return len(text[text.rfind("\n", 0, start) + 1 : start].expandtabs())


def hangs(lines: Sequence[LogicalLine]) -> bool:
    """Return whether the lines of list items stand below their text, right of their numbers.

    Where they do, the indent of a line tells what it lies in.
    """
    hung = found = 0
    for line in lines:
        markers = [] if line.below < 0 or line.skipped else list_markers(line.text)
        if markers and markers[0].value:
            found += 1
            hung += line.below == line.column + markers[0].end
    return hung >= _FEWEST_HUNG and hung >= _HUNG_SHARE * found


def _line(
    text: str,
    start: int,
    end: int,
    *,
    level: int = 0,
    row: bool = False,
    marks: re.Match[str] | None = None,
) -> LogicalLine:
    written = text[start:end]
    skipped = marks.end() if marks else 0
    if not row and (quoted := re.match(r"(?:>\s*){1,5}", written)):
        skipped = quoted.end()
    bold = re.compile(r"\*\*|__").match(written, skipped)
    skipped = bold.end() if bold else skipped
    shown = written[skipped:].replace("\n", " ").rstrip("#* " if marks or bold else "")
    skipped = skipped if shown else 0
    return LogicalLine(start, end, shown or written, skipped, level, row, _column(text, start))


def _physical(text: str) -> Iterator[tuple[int, int]]:
    """Yield the trimmed span of each line of the text, the blank ones empty."""
    start = 0
    for line in text.split("\n"):
        first = start + len(line) - len(line.lstrip())
        yield (first, start + len(line.rstrip())) if line.strip() else (start, start)
        start += len(line) + 1


def _width(edges: Sequence[int]) -> int:
    """Return the margin at which a text was wrapped by hand; 0 where it was not.

    Args:
        edges: Where its lines end, in characters from their beginning, indents included.
    """
    lengths = sorted(edges)
    if len(lengths) < 8:
        return 0
    width = lengths[-1 - len(lengths) // 200]
    if lengths[-1] > _WIDEST or width < 40:
        return 0
    full = sum(1 for length in lengths if length >= 0.8 * width)
    return width if full >= _FULL_SHARE * len(lengths) else 0


def _goes_on(first: LogicalLine, last: LogicalLine, line: str, edge: int, width: int) -> bool:
    """Return whether a line only continues those before it, the last ending at ``edge``.

    Edge and width are in characters from the beginning of the line; the width is 0 where the text
    was not wrapped.
    """
    opens = bool(list_markers(line)) or word_marker(line) is not None
    if width and edge + 1 + len(line.split(None, 1)[0]) > width - 2:
        return not (opens and last.ended)
    if width and edge > (1 - _RAGGED) * width:
        if opens:
            return not (last.ended or _BEFORE_ITEM.search(last.text))
        return not last.ended or line[0].islower()
    if not opens and _UNFINISHED.search(last.text):
        return True
    # what stands below a list in small letters ends the sentence that leads into the list
    listed = bool(list_markers(first.text)) and last.text[-1] in ",;"
    return not (last.ended or listed) and line[0].islower() and not list_markers(line)


def _rows(text: str, physical: Sequence[tuple[int, int]]) -> list[bool]:
    """Return which lines are rows of a table: cells between bars, or gaps as a neighbour's."""
    lines = [text[start : min(end, start + _LONGEST_ROW)] for start, end in physical]
    fields = [0 if list_markers(line) else len(_FIELDS.findall(line)) for line in lines]
    return [
        line.startswith("|") or " | " in line or (gaps > 0 and gaps in (before, after))
        for line, before, gaps, after in zip(
            lines, [0, *fields], fields, [*fields[1:], 0], strict=False
        )
    ]


def cells(row: str) -> list[str]:
    """Return the cells of a row, without the blanks around them."""
    parts = row.strip().strip("|").split("|") if "|" in row else _GAP.split(row.strip())
    return [part.strip() for part in parts]


def is_ruler(row: str) -> bool:
    """Return whether a row only draws a line, as Markdown's second row does."""
    return _RULER.match(row) is not None


def caption(line: str) -> tuple[str, str] | None:
    """Return number and heading of a line such as ``Table 2 Fines``; None if it is none."""
    found = _CAPTION.match(line)
    return (
        (found["number"].rstrip("."), found["heading"].strip())
        if found and len(line) <= 250
        else None
    )
