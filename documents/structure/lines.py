"""The logical lines of a text: lines that were wrapped are joined, and rows of tables known."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexloop.documents.structure.markers import (
    bare_number,
    list_markers,
    page_numbers,
    word_marker,
)
from lexloop.documents.structure.references import lies_over
from lexloop.documents.structure.tree import LEADS
from lexloop.documents.text.tokens import STOP_WORDS, is_joint

LONGEST_HEADING = 250
WIDEST_GAP = 3
BINDS = re.compile(
    r"\b(?:shall|must|may|cannot|means?|applies|takes? effect|comes? into|(?:is|are) repealed)\b"
)
_TERMINAL = ".:;!?"
_CLOSERS = "\"'”’)]*_"
_WIDEST = 130
"""Text is wrapped by hand up to about this width; longer lines are paragraphs."""
_FULL_SHARE = 0.35
"""The share of lines that must reach the margin for a text to count as wrapped."""
_RAGGED = 0.3
"""A line that leaves less of the width free and ends no sentence is one of a paragraph."""
_BEFORE_ITEM = (",", ";", " and", " or")
_UNFINISHED = re.compile(
    r"\b(?:the|an?|of|to|in|by|for|with|from|that|which|is|are|be|under|any|such|this|its|their"
    r"|(?<![,;]\s)(?:and|or))$"
)
_NAME_GOES_ON = re.compile(r"[^\W\d_a-z][^\W\d_]+(?: [^\W\d_A-Z]|[.;]$)")
"""A word with a capital and one without, as a line begins that goes on with a name."""
_FIELDS = re.compile(r"\S(?:\t+|\s{3,})(?=\S)")
_MARKDOWN = re.compile(r"(?P<marks>#{1,6})\s+(?=[^\s#])")
_RULER = re.compile(r"[\s|:+=_-]+$")
_GAP = re.compile(r"\t+|\s{3,}")
_DRAWN, _DRAWN_OVER = re.compile(r"(?P<sign>[=\-~])(?P=sign){2,}"), 3
"""A line drawn below a heading, and by how many characters it may be longer or shorter."""
_CAPTION = re.compile(
    r"(?:: |Row \d+: )?(?:Table|TABLE)\s+(?P<number>[\dA-Z][\w.\-–]{0,14})(?=[\s:–—]|$)[\s:–—]*"
    r"(?P<heading>.*)$"
)
_LONGEST_ROW, _SENTENCE_CHARS = 2000, 60
_FEWEST_HUNG, _HUNG_SHARE = 3, 0.6
_MARGIN_WORDS, _SHORTEST_WRAPPED = 8, 30
_ENDS_ASKING = (" is", " are", " be")
MARGIN = "Marginal note:"
"""What stands before such words in the acts of Canada."""
_CODE_INDENT = 4
"""From this indent on, Markdown shows a line as it stands: "# ..." is a comment there."""
SAYS = re.compile(r"\b(?:shall|must|may|will|can|should|is|are|be|was|were|has|have|means?)\b")
_FIGURE = re.compile(r"\d[\d.,]*\s*[^\s\d]")


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
    def breaks_off(self) -> bool:
        """True where it ends within a sentence, as at the end of a page."""
        return len(self.text) > _SENTENCE_CHARS and not self.ended and not self.row

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

    @property
    def beside(self) -> bool:
        """True if it looks like what stands in the margin of a provision: "Duties of owners."."""
        text = self.text
        if text.startswith(MARGIN):
            return True
        words = text.endswith(".") and text[0].isupper() and len(text.split()) <= _MARGIN_WORDS
        return words and not (SAYS.search(text) or list_markers(text) or word_marker(text))


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
    last = 0.0  # the last bare number in front of a line
    until = 0  # where the last line ends, the lines that only continue it included
    below = -1  # the indent of the first of these
    rows = _rows(text, physical)
    pages = page_numbers([text[start:end] for start, end in physical])
    for number, (start, end) in enumerate(physical):
        if start >= end or number in pages:
            continue
        line = text[start:end]
        if not rows[number] and is_ruler(line.replace("*", "-")):
            continue
        # in a format that marks headings itself, "# ..." is a comment and no heading
        may_head = not paged and len(line) <= LONGEST_HEADING
        may_head = may_head and _column(text, start) < _CODE_INDENT
        marks = _MARKDOWN.match(line) if may_head else None
        level = len(marks["marks"]) if marks else levels.get(start, 0)
        if may_head and not level and number + 1 < len(physical):
            level = _underlined(line, text[slice(*physical[number + 1])])
        whole = not level and not rows[number]
        before = physical[number - 1] if number else (0, 0)
        if whole and lines and not (lines[-1].level or lines[-1].row) and is_joint(line):
            until = end
        elif (
            whole
            and lines
            and before[1] > before[0]
            and not (lines[-1].level or lines[-1].row)
            and not _counts(lines[-1].text, line)
            and (
                _goes_on(lines[-1], _line(text, *before), line, edges[number - 1], width)
                or _goes_on_with_number(_line(text, *before), line, last)
            )
        ):
            below = _column(text, start) if until == lines[-1].end else below
            until = end
        else:
            _close(lines, text, until, below)
            lines.append(_line(text, start, end, level=level, row=rows[number], marks=marks))
            until = end
            last = bare.value if (bare := bare_number(line)) else last
    _close(lines, text, until, below)
    return lines


def _underlined(line: str, below: str) -> int:
    """Return the level of a heading with a line drawn below it; 0 if there is none."""
    drawn = _DRAWN.fullmatch(below)
    alike = drawn is not None and abs(len(below) - len(line)) <= _DRAWN_OVER
    if drawn is None or not alike or line[-1] in ".;,|" or _FIELDS.search(line):
        return 0
    return 1 if drawn["sign"] == "=" else 2


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
    if lies_over(last.text, line) or _breaks_off_in_a_name(last.text, line):
        return True
    opens = bool(list_markers(line)) or word_marker(line) is not None
    if width and edge + 1 + len(line.split(None, 1)[0]) > width - 2:
        return not (opens and last.ended)
    if width and edge > (1 - _RAGGED) * width:
        if opens:
            return not (last.ended or last.text.endswith(_BEFORE_ITEM))
        return not last.ended or line[0].islower()
    asks = len(last.text) <= _SHORTEST_WRAPPED and line[0].isupper()  # "Who we are"
    asks = asks and last.text.endswith(_ENDS_ASKING)
    if not opens and not asks and _UNFINISHED.search(last.text):
        return True
    # what stands below a list in small letters ends the sentence that leads into the list
    listed = bool(list_markers(first.text)) and last.text[-1] in ",;"
    return not (last.ended or listed) and line[0].islower() and not list_markers(line)


def _counts(last: str, line: str) -> bool:
    """Return whether a line and the one before begin with numbers that follow each other."""
    before, after = bare_number(last), bare_number(line)
    return before is not None and after is not None and after.value - before.value == 1


def _breaks_off_in_a_name(last: str, line: str) -> bool:
    """Return whether a line ends within a name: "may appeal to the Appeal / Tribunal within"."""
    within = len(last) >= _SENTENCE_CHARS and BINDS.search(last) is not None
    if not within or not last.rpartition(" ")[2].isalpha() or not _NAME_GOES_ON.match(line):
        return False
    return last.rpartition(" ")[2][0].isupper() and line.split(None, 1)[0].lower() not in STOP_WORDS


def _goes_on_with_number(last: LogicalLine, line: str, counted: float) -> bool:
    """Return whether a line that begins with a figure only continues a sentence: "/ 30 seconds".

    The line before ends within one, in a small letter; and the figure is not the next of those that
    stand in front of lines, the last of which is ``counted``.
    """
    within = last.text[-1].islower() or last.text[-1] in ",)"
    if not (within and _FIGURE.match(line)) or list_markers(line):
        return False
    bare = bare_number(line)
    return bare is None or not (bare.value == 1 or 0 < bare.value - counted <= WIDEST_GAP)


def _rows(text: str, physical: Sequence[tuple[int, int]]) -> list[bool]:
    """Return which lines are rows of a table: cells between bars, or gaps as a neighbour's.

    A line drawn below the names of columns parts them from no neighbour.
    """
    lines = [text[start : min(end, start + _LONGEST_ROW)] for start, end in physical]
    fields = [0 if list_markers(line) else len(_FIELDS.findall(line)) for line in lines]
    for number in range(len(lines) - 2, 0, -1):
        if lines[number].strip() and is_ruler(lines[number]):
            fields[number] = fields[number + 1]
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
    """Return number and heading of a line such as ``Table 2 Fines``; None if it is none.

    A sentence may begin as it does: only a table above or below tells.
    """
    found = _CAPTION.match(line)
    return (
        (found["number"].rstrip("."), found["heading"].strip())
        if found and len(line) <= 250
        else None
    )
