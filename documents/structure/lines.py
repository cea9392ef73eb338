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
"""A line that is short of the width by less than this share, and ends no sentence, is part of a
paragraph.
"""
_BEFORE_ITEM = (",", ";", " and", " or")
_UNFINISHED = frozenset(
    "the a an of to in by for with from that which is are be under any such this its their".split()
)
"""Words that never end a finished line."""
_NAME_GOES_ON = re.compile(r"[^\W\d_a-z][^\W\d_]+(?: [^\W\d_A-Z]|[.;]$)")
"""A capitalised word and a lower-case one, as at the start of a line that continues a name."""
_MARKDOWN = re.compile(r"(?P<marks>#{1,6})\s+(?=[^\s#])")
_RULING = " \t|:+=_-"
_GAP = re.compile(r"\t+|\s{3,}")
_SHORTEST_DRAWN, _DRAWN_OVER = 3, 3
"""The shortest line below a heading, and by how many characters it may be longer or shorter."""
_CAPTION = re.compile(
    r"(?:: |Row \d+: )?(?:Table|TABLE)\s+(?P<number>[\dA-Z][\w.\-–]{0,14})(?=[\s:–—]|$)[\s:–—]*"
    r"(?P<heading>.*)$"
)
_LONGEST_ROW, _SENTENCE_CHARS = 2000, 60
_FEWEST_HUNG, _HUNG_SHARE = 3, 0.6
_MARGIN_WORDS, _SHORTEST_WRAPPED = 8, 30
_ENDS_ASKING = (" is", " are", " be")
MARGIN = "Marginal note:"
"""The words before a marginal note in the acts of Canada."""
_CODE_INDENT = 4
"""From this indent on, Markdown shows a line as code: "# ..." is a comment there."""
SAYS = re.compile(r"\b(?:shall|must|may|will|can|should|is|are|be|was|were|has|have|means?)\b")
_FIGURE = re.compile(r"\d[\d.,]*\s*[^\s\d]")


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """A logical line, without the blanks around it.

    Args:
        start: Start, in code points of the document's text.
        text: Text on one line, without Markdown's marks at the beginning.
        skipped: The number of characters in front that are left out of ``text``.
        level: Heading level given by the format, from 1; 0 if none.
        column: Blanks before it; a tab is up to eight.
        below: Blanks before the first line that continues it; -1 if none does.
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
        """True if it ends like a sentence or a lead-in."""
        return self.text.rstrip(_CLOSERS)[-1:] in _TERMINAL or self.text.endswith(("—", "–"))

    @property
    def breaks_off(self) -> bool:
        """True if it ends within a sentence, as at the end of a page."""
        return len(self.text) > _SENTENCE_CHARS and not self.ended and not self.row

    @property
    def leads(self) -> bool:
        """True if it ends like the lead-in of a list."""
        return self.text.rstrip(_CLOSERS).endswith(LEADS)

    @property
    def short(self) -> bool:
        """True if it looks like a heading: short, unfinished, not begun within a sentence."""
        text = self.text
        return (
            len(text) <= 160
            and not (text[0].islower() or text[0] in ",;.)")
            and text.rstrip(_CLOSERS)[-1:] not in ".;:,"
        )

    @property
    def beside(self) -> bool:
        """True if it looks like a marginal note: "Duties of owners."."""
        text = self.text
        if text.startswith(MARGIN):
            return True
        words = text.endswith(".") and text[0].isupper() and len(text.split()) <= _MARGIN_WORDS
        return words and not (SAYS.search(text) or list_markers(text) or word_marker(text))


def logical_lines(text: str, levels: Mapping[int, int], paged: bool) -> list[LogicalLine]:
    """Return the lines of a document in order, without blank ones.

    Args:
        text: The full text.
        levels: Levels of the headings that the format marks, by offset of their line.
        paged: Whether the format has pages.
    """
    physical = list(_physical(text))
    edges = [end - text.rfind("\n", 0, start) - 1 for start, end in physical]
    width = _width([e for e, (start, end) in zip(edges, physical, strict=True) if end > start])
    lines: list[LogicalLine] = []
    last = 0.0  # the last bare number in front of a line
    until = 0  # where the last line ends, including the lines that continue it
    below = -1  # the indent of the first of these
    rows = _rows(text, physical)
    pages = page_numbers([text[start:end] for start, end in physical])
    for number, (start, end) in enumerate(physical):
        if start >= end or number in pages:
            continue
        line = text[start:end]
        if not rows[number] and is_ruler(line.replace("*", "-")):
            continue
        # if the format marks headings itself, "# ..." is a comment
        may_head = not paged and len(line) <= LONGEST_HEADING
        may_head = may_head and _column(text, start) < _CODE_INDENT
        marks = _MARKDOWN.match(line) if may_head else None
        level = len(marks["marks"]) if marks else levels.get(start, 0)
        if may_head and not level and number + 1 < len(physical):
            level = _underlined(line, text[slice(*physical[number + 1])])
        may_wrap = not level and not rows[number]
        before = physical[number - 1] if number else (0, 0)
        if may_wrap and lines and not (lines[-1].level or lines[-1].row) and is_joint(line):
            until = end
        elif (
            may_wrap
            and lines
            and before[1] > before[0]
            and not (lines[-1].level or lines[-1].row)
            and not _numbers_follow(lines[-1].text, line)
            and (
                _continues(lines[-1], _line(text, *before), line, edges[number - 1], width)
                or _continues_with_number(_line(text, *before), line, last)
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
    drawn = len(below) >= _SHORTEST_DRAWN and below[0] in "=-~" and not below.strip(below[0])
    alike = drawn and abs(len(below) - len(line)) <= _DRAWN_OVER
    if not alike or line[-1] in ".;,|" or _GAP.search(line):
        return 0
    return 1 if below[0] == "=" else 2


def _close(lines: list[LogicalLine], text: str, until: int, below: int) -> None:
    """Extend the last line to the end of the lines that continue it."""
    if lines and lines[-1].end < until:
        lines[-1] = replace(_line(text, lines[-1].start, until), below=below)


def _column(text: str, start: int) -> int:
    """Return the blanks between the beginning of a line and a place in it."""
    return len(text[text.rfind("\n", 0, start) + 1 : start].expandtabs())


def hangs(lines: Sequence[LogicalLine]) -> bool:
    """Return whether continued lines of list items are indented to the text, not to the number.

    If so, the indent of a line shows which item it belongs to.
    """
    hung = items = 0
    for line in lines:
        markers = [] if line.below < 0 or line.skipped else list_markers(line.text)
        if markers and markers[0].value:
            items += 1
            hung += line.below == line.column + markers[0].end
    return hung >= _FEWEST_HUNG and hung >= _HUNG_SHARE * items


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
    bold = written.startswith(("**", "__"), skipped)
    skipped += 2 * bold
    shown = written[skipped:].replace("\n", " ").rstrip("#* " if marks or bold else "")
    skipped = skipped if shown else 0
    return LogicalLine(start, end, shown or written, skipped, level, row, _column(text, start))


def _physical(text: str) -> Iterator[tuple[int, int]]:
    """Yield the trimmed span of each line of the text; blank lines give empty spans."""
    start = 0
    for line in text.split("\n"):
        first = start + len(line) - len(line.lstrip())
        yield (first, start + len(line.rstrip())) if line.strip() else (start, start)
        start += len(line) + 1


def _width(edges: Sequence[int]) -> int:
    """Return the margin at which a text was wrapped by hand; 0 if it was not.

    Args:
        edges: Right ends of its lines, in characters, including the indent.
    """
    lengths = sorted(edges)
    if len(lengths) < 8:
        return 0
    width = lengths[-1 - len(lengths) // 200]
    if lengths[-1] > _WIDEST or width < 40:
        return 0
    full = sum(1 for length in lengths if length >= 0.8 * width)
    return width if full >= _FULL_SHARE * len(lengths) else 0


def _continues(first: LogicalLine, last: LogicalLine, line: str, edge: int, width: int) -> bool:
    """Return whether a line continues those before it; the last of them ends at ``edge``.

    ``edge`` and ``width`` are in characters from the beginning of the line; ``width`` is 0 if the
    text was not wrapped.
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
    asks = (
        len(last.text) <= _SHORTEST_WRAPPED and line[0].isupper()
    )  # headings such as "Who we are"
    asks = asks and last.text.endswith(_ENDS_ASKING)
    if not opens and not asks and _is_unfinished(last.text):
        return True
    # lower-case text below a list finishes the sentence of the lead-in
    listed = bool(list_markers(first.text)) and last.text[-1] in ",;"
    return not (last.ended or listed) and line[0].islower() and not list_markers(line)


def _is_unfinished(text: str) -> bool:
    """Return whether a line ends within a sentence, by its last word."""
    before, _, word = text.rpartition(" ")
    return word in _UNFINISHED or (word in ("and", "or") and not before.endswith((",", ";")))


def _numbers_follow(last: str, line: str) -> bool:
    """Return whether a line and the one before begin with consecutive numbers."""
    before, after = bare_number(last), bare_number(line)
    return before is not None and after is not None and after.value - before.value == 1


def _breaks_off_in_a_name(last: str, line: str) -> bool:
    """Return whether a line ends within a name: "may appeal to the Appeal / Tribunal within"."""
    within = len(last) >= _SENTENCE_CHARS and BINDS.search(last) is not None
    if not within or not last.rpartition(" ")[2].isalpha() or not _NAME_GOES_ON.match(line):
        return False
    return last.rpartition(" ")[2][0].isupper() and line.split(None, 1)[0].lower() not in STOP_WORDS


def _continues_with_number(last: LogicalLine, line: str, counted: float) -> bool:
    """Return whether a line that begins with a figure only continues a sentence: "/ 30 seconds".

    The line before ends within a sentence, in lower case, and the figure is not the next of the
    numbers before lines; ``counted`` is the last of those.
    """
    within = last.text[-1].islower() or last.text[-1] in ",)"
    if not (within and _FIGURE.match(line)) or list_markers(line):
        return False
    bare = bare_number(line)
    return bare is None or not (bare.value == 1 or 0 < bare.value - counted <= WIDEST_GAP)


def _rows(text: str, physical: Sequence[tuple[int, int]]) -> list[bool]:
    """Return which lines are table rows: cells between bars, or with gaps like their neighbours'.

    A line drawn below the column names does not separate them from the rows.
    """
    lines = [text[start : min(end, start + _LONGEST_ROW)] for start, end in physical]
    fields = [0 if list_markers(line) else len(_GAP.findall(line.strip())) for line in lines]
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
    """Return the cells of a row, without surrounding blanks."""
    parts = row.strip().strip("|").split("|") if "|" in row else _GAP.split(row.strip())
    return [part.strip() for part in parts]


def is_ruler(row: str) -> bool:
    """Return whether a row only draws a line, as Markdown's second row does."""
    return row != "" and not row.strip(_RULING)


def caption(line: str) -> tuple[str, str] | None:
    """Return number and heading of a line such as ``Table 2 Fines``, or None.

    A sentence may begin in the same way; only a table above or below confirms it.
    """
    match = _CAPTION.match(line)
    return (
        (match["number"].rstrip("."), match["heading"].strip())
        if match and len(line) <= 250
        else None
    )
