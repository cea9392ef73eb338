"""The outline of a document: its logical lines, and those that open a part or a provision."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lexloop.documents.structure.markers import (
    LETTERS,
    Marker,
    bare_number,
    list_markers,
    page_numbers,
    title_heading,
    value_of,
    word_marker,
)
from lexloop.documents.structure.references import lies_over
from lexloop.documents.structure.tree import LEADS
from lexloop.documents.text.tokens import STOP_WORDS, is_joint

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
    r"(?:: )?(?:Table|TABLE)\s+(?P<number>[\dA-Z][\w.\-–]{0,14})(?=[\s:–—]|$)[\s:–—]*"
    r"(?P<heading>.*)$"
)
_CODE = re.compile(r"(?P<number>\d{1,4}[.\-]\d{2,3}[.\-]\d{2,4})\.?\s+(?P<title>[A-Z].{2,100})$")
_LONGEST_ROW, _SENTENCE_CHARS = 2000, 60
_FEWEST_HUNG, _HUNG_SHARE = 3, 0.6
_MARGIN_WORDS, _SHORTEST_WRAPPED = 8, 30
_ENDS_ASKING = (" is", " are", " be")
_LONGEST_CAPITALS, _FEWEST_CAPITALS = 80, 2
MARGIN = "Marginal note:"
"""What stands before such words in the acts of Canada."""
_CODE_INDENT = 4
"""From this indent on, Markdown shows a line as it stands: "# ..." is a comment there."""
_PROVISION_WORDS = frozenset(("article", "section", "rule", "clause", "regulation", "slide", "§"))
_ANNEX_WORDS = frozenset(("annex", "schedule", "appendix", "exhibit", "attachment"))
NOTES = "notes"
"""What heads the notes behind the last provision that say what each provision is for."""
_ORDER = (
    *("annex", NOTES, "book", "title", "subtitle", "part", "subpart", "chapter", "subchapter"),
    *(
        "division",
        "subdivision",
        "amendment",
        "section",
        "article",
        "rule",
        "clause",
        "regulation",
        "slide",
    ),
    "§",
)
_CONTENTS = re.compile(
    r"(?:table of )?contents(?: of (?:this )?\w+)?:?$|arrangement of \w+$", re.IGNORECASE
)
_LEADER = re.compile(
    r"(?<![\s.…])(?:[\s.…]*+(?<=\s)\d{1,4}"
    r"|(?=[\s.…]*?(?:\.\.|…|\t|\s\s))[\s.…]++(?:\d{1,4}|[ivxl]{1,6}))$"
)
"""The number of a page behind a blank, or behind dots; a run of either is passed over once."""
_PAGED = re.compile(r"[\w)][.…\s]*+(?:(?<=[…\t])|(?<=\.\.|…\s|\s\s)|(?<=\.\.\s))(\d{1,3})$")
_SENTENCE = re.compile(r"(?P<heading>[^.]{2,140}?)\.(?:\s+|\s?[—–]\s*)(?=[“\"‘(\[A-Z]|[a1]\.\s)")
_SAID = re.compile(r"(?:\S+\s+){2,60}\S*[.;:—–]$")
_BINDS = re.compile(
    r"\b(?:shall|must|may|cannot|means?|applies|takes? effect|comes? into|(?:is|are) repealed)\b"
)
_WORDS = "|".join(
    form
    for word in ("section", "clause", "regulation", "article", "rule")
    for form in (word, word.capitalize(), word.upper())
)
_DOTTED = re.compile(rf"\b(?P<word>{_WORDS})[sS]?\s+\d{{1,3}}\.\d")
_NAMED = re.compile(
    rf"(?P<word>{_WORDS})[sS]?(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*(?!\d{{1,4}}\.\s))(?P<number>\d{{1,4}})"
)
"""A provision named by a text; no list's first number below a heading "General rules"."""
_SIGNED = re.compile(r"§[^\S\n]?(?<![A-Z.]\s§)(?<!\bCode\s§)(?:\d{1,3}|[A-Z])(?=[.,;:)(\s])")
_READ = 1_000_000
_SEPARATORS = " .:—–-\t\u2003"
_LONGEST_HEADING, _LONGEST_TITLE = 250, 120
_HEAD_WORDS = 3
_HEAD_LINES = 4
"""How many lines the head of a page takes within contents."""
_FEWEST_NUMBERED, _LONGEST_NUMBER = 2, 6
_WIDEST_GAP, _HUNDRED, _LATE = 3, 100, 1.5
_LONG_RUN, _NEARLY_ALL = 6, 0.9
_SPINES = {"1.": 0.6, "I.": 0.8, "A.": 0.8}
"""The styles of numbers that alone name provisions, and how much must speak for each line."""
_COUNTING = ("1.", "1)", "(1)")
"""The styles of numbers that may count the paragraphs of a document."""
SAYS = re.compile(r"\b(?:shall|must|may|will|can|should|is|are|be|was|were|has|have|means?)\b")
_FIGURE = re.compile(r"\d[\d.,]*\s*[^\s\d]")
_NONE = (float("-inf"), 0.0, -1)
_ENTRY_GAP = 2
"""By how many lines entries of a list of contents may stand apart."""
_FEWEST_ENTRIES, _FEWEST_MARKED, _LEADER_CHARS = 5, 3, 40


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
        may_head = not paged and len(line) <= _LONGEST_HEADING
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
    within = len(last) >= _SENTENCE_CHARS and _BINDS.search(last) is not None
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
    return bare is None or not (bare.value == 1 or 0 < bare.value - counted <= _WIDEST_GAP)


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


@dataclass(frozen=True, slots=True)
class Heading:
    """A line, or two, that open a part or a provision.

    Args:
        style: The keyword, the style of its number, or nothing.
        number: As it is written; empty where there is none.
        level: The level that the format gives it; 0 where it gives none.
        body: Where the text of the provision begins in the line, if it goes on behind the heading.
        title: The number of following lines that belong to the heading.
        value: The place of its number in its sequence.
    """

    style: str
    number: str
    text: str
    level: int = 0
    body: int | None = None
    title: int = 0
    value: float = 0.0

    @property
    def sole(self) -> bool:
        """True where the number is all that tells its rank."""
        return self.style[:1] == "1" or (self.style[:1] in "AI" and not self.level)


@dataclass(frozen=True)
class Outline:
    """The headings of a document.

    Args:
        headings: By the number of their line.
        ranks: The keywords that head something, the outermost first.
        provisions: The keyword of the provisions; empty where numbers alone name them.
        contents: The lines of the tables of contents.
        numbered: Whether numbers alone name provisions, as in contracts and UK acts.
        own_word: The text's own word for its provisions, by its references.
        dotted_word: That for what has a number such as 2.1; empty if it names none.
        indented: Whether the indent of a line tells what it lies in.
        anew: Whether provisions are numbered anew in each part.
        marked: Whether the format marks the headings.
        headed: Whether the headings of provisions that numbers name stand on the line above.
    """

    headings: dict[int, Heading]
    ranks: dict[str, int]
    provisions: str
    contents: Collection[int]
    numbered: bool
    own_word: str
    dotted_word: str
    indented: bool
    anew: bool
    marked: bool
    headed: bool


def find_outline(lines: Sequence[LogicalLine], text: str) -> Outline:
    """Return the lines that open parts, provisions and annexes."""
    contents = frozenset(_contents(lines)) | _listed_again(lines)
    indented = hangs(lines)
    lettered = _lettered(lines, contents, indented)
    headings: dict[int, Heading] = {}
    doubtful: dict[int, Heading] = {}
    apart: set[int] = set()
    counted: dict[int, Marker] = {}
    taken = -1
    for number, line in enumerate(lines):
        if number <= taken or number in contents or line.row:
            continue
        before = lines[number - 1] if number - 1 > taken else None
        following = lines[number + 1 : number + 3]
        heading = _heading(line, before, following, counted) or lettered.get(number)
        if heading is None and (marker := word_marker(line.text)) and marker.end == len(line.text):
            doubtful[number] = _worded(line, marker, following)
            if before is not None and text.count("\n", before.end, line.start) > 1:
                apart.add(number)
        if heading is not None:
            if not headings and heading.style == "annex" and "." in heading.number:
                continue  # what the file itself is filed as: no annex is the first of its document
            headings[number] = heading
            taken = number + heading.title
    headings = _filled(_valued(headings), doubtful, apart)
    headings = {**_coded(lines, contents, headings), **headings}
    order = _ordered(headings)
    provisions = next((word for word in reversed(order) if word in _PROVISION_WORDS), "")
    named = [
        (found["word"].lower(), found["number"])
        for found in _NAMED.finditer(text[:_READ])
        if not text[found.start() - 1].isalnum()
    ]
    signed = sum(1 for _ in _SIGNED.finditer(text[:_READ]))
    spine: dict[int, Heading] = {}
    if not provisions:
        body = next((n for n in sorted(headings) if headings[n].style == "annex"), len(lines))
        worded = {
            line
            for first, heading in headings.items()
            if heading.style in _ORDER
            for line in range(first, first + heading.title + 1)
        }
        numbers = {float(number) for _, number in named}
        spine = _spine(lines[:body], contents, worded, numbers, indented)
        spine = spine or _paragraphs(lines[:body], contents, worded, indented)
        headings = {**spine, **_counted_anew(lines, spine), **headings}
        headings = headings or _capitals(lines, contents)
        order = _ordered(headings)
    ranks = {word: rank for rank, word in enumerate(order)}
    numbered = bool(spine)
    own = {heading.number for heading in headings.values()}
    called = Counter({"§": signed} if signed else {})
    called.update(word for word, number in named if number in own)
    own_word = called.most_common(1)[0][0] if called else "section"
    anew = _numbered_anew(headings, ranks, provisions)
    headings = _valued(headings)
    marked = sum(line.level > 0 for line in lines) >= _FEWEST_MARKED
    above = sum(_headed(lines, n, spine) for n in spine)
    headed = 2 * above > len(spine)
    return Outline(
        *(headings, ranks, provisions, contents, numbered, own_word, _dotted_word(text), indented),
        *(anew, marked, headed),
    )


def _dotted_word(text: str) -> str:
    """Return the word by which a text mostly names numbers such as 2.1; "" if it hardly does."""
    counts = Counter(found["word"].lower() for found in _DOTTED.finditer(text[:_READ]))
    word, times = counts.most_common(1)[0] if counts else ("", 0)
    return word if times >= _FEWEST_MARKED else ""


def _coded(
    lines: Sequence[LogicalLine], contents: Collection[int], headings: Mapping[int, Heading]
) -> dict[int, Heading]:
    """Return the sections of a code that a number of three parts names: "12.04.010 Licences.".

    Each has a title of its own on its line, and the numbers rise, though not by one.
    """
    if any(heading.style in _PROVISION_WORDS for heading in headings.values()):
        return {}
    found: dict[int, Heading] = {}
    last: list[int] = []
    for number, line in enumerate(lines):
        code = _CODE.match(line.text)
        if code is None or number in contents or line.row or SAYS.search(code["title"]):
            continue
        parts = [int(part) for part in re.findall(r"\d+", code["number"])]
        if parts <= last or (last and parts[0] != last[0]):
            return {}
        last = parts
        found[number] = Heading("section", code["number"], code["title"].rstrip("."), line.level)
    return found if len(found) >= _FEWEST_MARKED else {}


def _capitals(lines: Sequence[LogicalLine], contents: Collection[int]) -> dict[int, Heading]:
    """Return the headings of a document that has no others: short lines in capitals over text."""
    found = {
        number: Heading("", "", line.text, 2)
        for number, line in enumerate(lines[:-1])
        if line.text.isupper() and line.short and len(line.text) < _LONGEST_CAPITALS
        if number not in contents and not line.row and not lines[number + 1].text.isupper()
    }
    return found if len(found) >= _FEWEST_CAPITALS else {}


def _counted_anew(lines: Sequence[LogicalLine], spine: Mapping[int, Heading]) -> dict[int, Heading]:
    """Return what heads the points behind the last provision that count from 1 or 2 anew.

    It is a short line in capitals or one that the format marks: no provision is counted twice. They
    are notes if most of them name a provision.
    """
    last = max(spine, default=len(lines))
    counted = [
        (number, marker)
        for number in range(last + 1, len(lines))
        for marker in list_markers(lines[number].text)
        if marker.style == spine[last].style
    ]
    if len(counted) < _FEWEST_MARKED or counted[0][1].value > 2:
        return {}
    numbers = {heading.number for heading in spine.values()}
    naming = sum(
        any(found["number"] in numbers for found in _NAMED.finditer(lines[number].text))
        for number, _ in counted
    )
    style = NOTES if 2 * naming > len(counted) else "annex"
    for number in range(counted[0][0] - 1, last, -1):
        line = lines[number]
        if line.short and (line.text.isupper() or line.level) and not word_marker(line.text):
            return {number: Heading(style, "", line.text, line.level)}
    return {}


def _valued(headings: Mapping[int, Heading]) -> dict[int, Heading]:
    """Return headings in order with the values of their numbers: "C" is 3 behind "B", else 100."""
    last: dict[str, float] = {}
    valued: dict[int, Heading] = {}
    for line, heading in sorted(headings.items()):
        own = heading.number.rpartition(" ")[2]
        letter = ord(own.lower()) - 96 if len(own) == 1 and own.isalpha() else 0
        value = letter if letter and letter == last.get(heading.style, 0) + 1 else value_of(own)
        last[heading.style] = value
        valued[line] = replace(heading, value=value)
    return valued


def _filled(
    headings: dict[int, Heading], doubtful: Mapping[int, Heading], apart: Container[int]
) -> dict[int, Heading]:
    """Return headings with those doubtful ones that are just what is missing between them.

    "Annex VII" alone on its line, behind one that ends as no sentence does, may be a reference. One
    behind a blank line, ``apart``, may be the first of its kind.
    """
    every = sorted({**_valued(doubtful), **headings}.items())
    after: dict[int, float] = {}
    following: dict[str, float] = {}
    for line, heading in reversed(every):
        if line in headings:
            following[heading.style] = heading.value
        else:
            after[line] = following.get(heading.style, heading.value + 1)
    filled: dict[int, Heading] = {}
    last: dict[str, float] = {}
    for line, heading in every:
        before = last.get(heading.style, 0.0 if line in apart else -1.0)
        if line in headings or before + 1 == heading.value < after[line]:
            filled[line] = heading
            last[heading.style] = heading.value
    return filled


def _numbered_anew(headings: dict[int, Heading], ranks: dict[str, int], provisions: str) -> bool:
    """Return whether most parts begin with the same number of a provision, so that it tells none.

    Several acts in one file have chapters that begin anew, and more that go on.
    """
    worded = [headings[line] for line in sorted(headings) if headings[line].style in ranks]
    firsts = Counter(
        lower.number
        for upper, lower in pairwise(worded)
        if lower.style == provisions and ranks[upper.style] < ranks[lower.style]
    )
    most = max(firsts.values(), default=0)
    return most > 1 and 2 * most > firsts.total()


def _heading(
    line: LogicalLine,
    before: LogicalLine | None,
    following: Sequence[LogicalLine],
    counted: dict[int, Marker],
) -> Heading | None:
    """Return the heading that a line is by its keyword or by its format; None if it is none.

    ``counted`` holds the last number of each level, by which "C." is a letter behind "B.".
    """
    marker = word_marker(line.text)
    if marker is not None and _opens(line, marker, before):
        return _worded(line, marker, following)
    if not line.level:
        return None
    found = [m for m in list_markers(line.text) if not m.style.startswith("A.1")]
    found = found or [bare for bare in [bare_number(line.text)] if bare is not None]
    if not found or not found[0].value:
        return Heading("", "", line.text, line.level)
    last = counted.get(line.level)
    goes_on = (m for m in found if last and (m.style, m.value - 1) == (last.style, last.value))
    marker = next(goes_on, found[0])
    for level in [level for level in counted if level > line.level]:
        del counted[level]
    counted[line.level] = marker
    return Heading(marker.style, marker.number, line.text[marker.end :].strip(), line.level)


def _opens(line: LogicalLine, marker: Marker, before: LogicalLine | None) -> bool:
    """Return whether a line that begins with a keyword and a number is a heading, no reference."""
    rest = line.text[marker.end :]
    bare = rest.lstrip(_SEPARATORS)
    if not bare:
        plain = before is not None and not before.ended and not before.level
        return line.level > 0 or not (plain and before is not None and len(before.text) > 60)
    if rest[:1] in ",;)/" or bare[0].islower():
        return False
    if marker.style == "§" or line.level:
        return True
    separated = rest.lstrip(" ")[:1] in ".:—–-\t" or rest.startswith(("  ", "\t"))
    # "Section 2.01 Term. The term ...", if no sentence goes on from the line above
    begins = before is None or before.ended or before.short
    separated = separated or (begins and title_heading(rest.lstrip(), 0) is not None)
    return separated or (len(line.text) <= 120 and not line.text.endswith((".", ";")))


def _worded(line: LogicalLine, marker: Marker, following: Sequence[LogicalLine]) -> Heading:
    """Return the heading of a keyword and its number, its text from the same line or the next."""
    word = "annex" if marker.style in _ANNEX_WORDS else marker.style
    begin = len(line.text) - len(line.text[marker.end :].lstrip(_SEPARATORS))
    rest = line.text[begin:]
    if rest:
        if any(one.value == 1 for one in list_markers(rest)):  # "Art. 2. 1. Nobody may ..."
            return Heading(word, _named(marker), "", line.level, begin)
        found = _SENTENCE.match(rest)
        long = found and len(line.text) > 60 and len(rest) - found.end() > 20
        if found and (long or _SAID.match(rest, found.end())):
            return Heading(word, _named(marker), found["heading"], line.level, begin + found.end())
        binds = not line.level and rest.endswith((".", ";")) and _BINDS.search(rest)
        if len(line.text) > _LONGEST_HEADING or binds:
            return Heading(word, _named(marker), "", line.level, begin)
        return Heading(word, _named(marker), rest.rstrip(". "), line.level)
    # a schedule may name the provision that it belongs to before its heading
    named = word_marker(following[0].text) if word == "annex" and following else None
    source = named is not None and named.style in _PROVISION_WORDS
    source = source and named is not None and named.end == len(following[0].text.rstrip(")]. "))
    title = next(iter(following[int(source) :]), None)
    titled = title is not None and _titles(title)
    text = title.text.rstrip(". ") if title is not None and titled else ""
    text = text[1:-1] if text[:1] == "(" and text.find(")") == len(text) - 1 else text
    return Heading(word, _named(marker), text, line.level, None, int(source) + int(titled))


def _named(marker: Marker) -> str:
    """Return the number, with its keyword where that is a special one: ``Schedule 2``."""
    if marker.style in _ANNEX_WORDS:
        return f"{marker.style.capitalize()} {marker.number}".strip()
    return marker.number


def _titles(line: LogicalLine) -> bool:
    """Return whether a line after a bare "Article 5" is its heading."""
    if word_marker(line.text) or list_markers(line.text):
        return False
    return len(line.text) <= _LONGEST_HEADING and line.text.rstrip("\"'”’)]")[-1:] not in ".;:,"


def _spine(
    lines: Sequence[LogicalLine],
    contents: Collection[int],
    taken: Collection[int],
    named: Collection[float],
    indented: bool,
) -> dict[int, Heading]:
    """Return the provisions that a number alone names: "5 Offences", "2. Grant of licence".

    Of all runs of numbers through the document, each one more than the last, it is the one for
    which most speaks: that its lines look like headings, that 2.1 stands below 2, that the text
    itself names its numbers. A list that only counts is told from it by what speaks for it.

    Args:
        lines: Of the whole document.
        contents: The lines of the table of contents.
        taken: The lines that keywords open.
        named: The numbers of provisions that the text names.
        indented: Whether indents tell, so that provisions stand below each other.
    """
    runs: dict[tuple[str, int], _Runs] = defaultdict(_Runs)
    for number, line in enumerate(lines):
        if number in contents or number in taken or line.row:
            continue
        for marker in list_markers(line.text) or filter(None, [bare_number(line.text)]):
            doubtful = marker.style == "I." and marker.number in LETTERS
            if marker.style in _SPINES and len(marker.number) <= _LONGEST_NUMBER and not doubtful:
                own = runs[marker.style, line.column if indented else 0]
                own.add(number, marker, _speaks(lines, number, marker, named))
    for (style, _), own in sorted(runs.items(), key=lambda item: item[1].score, reverse=True):
        run = own.best()
        if _completes(run, lines):
            continue
        first, last = min(run, default=0), max(run, default=-1)
        among = sum(first <= number <= last for number in own.markers)
        spoken = own.score >= _SPINES[style] * among
        if len(run) >= _FEWEST_NUMBERED and (spoken or _runs_through(run, own.markers, lines)):
            headed = 2 * sum(_headed(lines, number, run) for number in run) > len(run)
            return {
                number: _numbered(lines, number, marker, headed and _headed(lines, number, run))
                for number, marker in run.items()
            }
    return {}


def _paragraphs(
    lines: Sequence[LogicalLine], contents: Collection[int], taken: Collection[int], indented: bool
) -> dict[int, Heading]:
    """Return the provisions of a document that only numbers its paragraphs, without headings.

    The numbers of one style rise all the way, wherever they begin and whatever they leave out, and
    each opens a whole sentence; together they are the most of the text. What a lead-in leads into
    is a list, unless each item of it says something by itself.
    """
    found: dict[tuple[str, int], dict[int, Marker]] = defaultdict(dict)
    for number, line in enumerate(lines):
        if number in contents or number in taken or line.row:
            continue
        for marker in list_markers(line.text) or filter(None, [bare_number(line.text)]):
            if marker.style in _COUNTING and len(marker.number) <= _LONGEST_NUMBER:
                found[marker.style, line.column if indented else 0][number] = marker
    for run in sorted(found.values(), key=min):
        if len(run) >= _FEWEST_NUMBERED and _are_paragraphs(run, lines):
            return {n: _numbered(lines, n, replace(m, style="1.")) for n, m in run.items()}
    return {}


def _are_paragraphs(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether a run of numbers counts the paragraphs that a document is made of."""
    first, last = min(run), max(run)
    texts = [lines[number].text[marker.end :] for number, marker in run.items()]
    if any(text[:1].islower() or text.endswith((";", ",")) for text in texts):
        return False
    if _completes(run, lines):
        return False
    held = lines[last].end - lines[first].start
    return 2 * held >= lines[-1].end - lines[0].start and _rises(run, lines)


def _completes(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether numbers only complete the words before them: nothing stands between them.

    Most of them say nothing by themselves.
    """
    first, last = min(run, default=0), max(run, default=0)
    if not first or not lines[first - 1].leads or last - first + 1 > len(run):
        return False
    return 2 * sum(SAYS.search(lines[number].text) is not None for number in run) < len(run)


def _rises(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether numbers rise, and no missing number stands within a line."""
    for (above, before), (below, after) in pairwise(run.items()):
        if after.value <= before.value:
            return False
        between = " ".join(line.text for line in lines[above:below])
        missing = range(int(before.value) + 1, min(int(after.value), int(before.value) + _HUNDRED))
        if any(f" {after.style.replace('1', str(value))} " in between for value in missing):
            return False
    return True


def _runs_through(
    run: Collection[int], alike: Collection[int], lines: Sequence[LogicalLine]
) -> bool:
    """Return whether nearly all numbers of a style are one run over the headings of a document."""
    first, last = min(run), max(run)
    crossed = sum(line.level > 0 for line in lines[first:last])
    wide = crossed >= _FEWEST_MARKED or 2 * (last - first) >= len(lines)
    return wide and len(run) >= _LONG_RUN and len(run) >= _NEARLY_ALL * len(alike)


class _Runs:
    """The runs of one style of numbers, of which the one is kept for which most speaks.

    ``markers`` are all numbers of the style, by their lines.
    """

    def __init__(self) -> None:
        self.markers: dict[int, Marker] = {}
        self._ends: dict[int, tuple[float, float, int]] = {}
        self._back: dict[int, int] = {}

    @property
    def score(self) -> float:
        """How much speaks for the best run."""
        return max(self._ends.values(), default=_NONE)[0]

    def add(self, line: int, marker: Marker, speaks: float) -> None:
        """Let the best run that a number can follow go on with it."""
        self.markers[line] = marker
        whole = int(marker.value)
        if marker.value > whole:  # inserted: 12A
            held, value, last = self._ends.get(whole, _NONE)
            before = [(held, last)] if value < marker.value else []
        else:
            # standards count the provisions of each chapter from its own hundred
            gaps = range(_HUNDRED if whole % _HUNDRED == 1 else _WIDEST_GAP)
            ended = (self._ends.get(whole - 1 - gap, _NONE) for gap in gaps)
            before = [(e[0] - min(gap, _LATE), e[2]) for gap, e in enumerate(ended)]
            before.append((0.0 if whole <= 1 else -_LATE, -1))
        held, last = max(before, default=_NONE[::2])
        if held + speaks > self._ends.get(whole, _NONE)[0]:
            self._ends[whole] = (held + speaks, marker.value, line)
            self._back[line] = last

    def best(self) -> dict[int, Marker]:
        """Return the numbers of the best run, by their lines."""
        line = max(self._ends.values(), default=_NONE)[2]
        run: list[int] = []
        while line >= 0:
            # a longer count that stands between goes on there: notes that count anew
            others = [n for n in self.markers if line < n < run[-1]] if run else []
            if len(others) > len(run) and self._leads_to(others, run[-1]):
                run.clear()
            run.append(line)
            line = self._back[line]
        return {line: self.markers[line] for line in reversed(run)}

    def _leads_to(self, others: Sequence[int], line: int) -> bool:
        """Return whether the number before a line is the one before its own, of a full count."""
        last = self.markers[others[-1]].value
        return last + 1 == self.markers[line].value and len(others) >= last - 1


def _speaks(
    lines: Sequence[LogicalLine], number: int, marker: Marker, named: Collection[float]
) -> float:
    """Return how much speaks for a number's opening a provision, at least a little."""
    line = lines[number]
    titled = title_heading(line.text, marker.end) is not None
    above = _headed(lines, number)
    inner = f"{marker.number}.1"
    below = any(one.text.startswith(inner) for one in lines[number : number + 3])
    below = below or inner in line.text[marker.end : marker.end + 200]
    return (
        0.1
        + (line.level > 0)
        + (line.short or titled)
        + 0.5 * above
        + below
        + 0.5 * (marker.value in named)
    )


def _headed(lines: Sequence[LogicalLine], number: int, run: Collection[int] = ()) -> bool:
    """Return whether the line above a number, which is none of its run, looks like its heading."""
    if number == 0 or number - 1 in run:
        return False
    line = lines[number - 1]
    own = lines[number]
    if own.short and not own.ended and not SAYS.search(own.text):
        return False  # what stands behind its number is its heading
    return (line.short and not line.ended and len(line.text) < 80) or line.beside


def _numbered(
    lines: Sequence[LogicalLine], number: int, marker: Marker, headed: bool = False
) -> Heading:
    """Return the heading of a provision that a number alone names.

    Where it is ``headed`` by the line above, what stands behind the number is its text.
    """
    line = lines[number]
    text, level = line.text[marker.end :], line.level
    heading, body = title_heading(line.text, marker.end) or ("", marker.end)
    if heading and line.text[body:].strip():
        return Heading(marker.style, marker.number, heading, level, body)
    short = line.short and len(text) <= _LONGEST_TITLE and not headed
    if not text or (short and text[0] != "("):
        return Heading(marker.style, marker.number, text.strip(" .*"), level)
    return Heading(marker.style, marker.number, heading, level, None if heading else body)


def _lettered(
    lines: Sequence[LogicalLine], contents: Collection[int], indented: bool
) -> dict[int, Heading]:
    """Return the appendices that a letter alone names: "A" before "A.1", and B behind it.

    What follows the first is a short line too, at its indent where indents tell.
    """
    found: dict[int, Heading] = {}
    held: tuple[int, Marker] | None = None
    column, count = 0, 0
    for number, line in enumerate(lines):
        markers = [] if number in contents or line.row or line.level else list_markers(line.text)
        marker = next((m for m in markers if m.style[0] == "A"), None)
        if marker is None:
            continue
        if marker.style != "A.":  # A.1
            if held is not None and marker.number.startswith(held[1].number + "."):
                place, opener = held
                found[place] = Heading("A.", opener.number, lines[place].text[opener.end :].strip())
                column, count, held = lines[place].column, 1, None
        elif not found and marker.value == 1 and line.short:
            held = number, marker
        elif found and marker.value == count + 1 and line.short:
            if indented and line.column != column:
                continue
            found[number] = Heading("A.", marker.number, line.text[marker.end :].strip())
            count += 1
    return found


def _ordered(headings: Mapping[int, Heading]) -> list[str]:
    """Return the keywords, outermost first: as is customary, unless the document shows another.

    Where one heading directly follows another, it lies within it.
    """
    words = {heading.style for heading in headings.values()}
    above: Counter[tuple[str, str]] = Counter()
    for (number, upper), (after, lower) in pairwise(sorted(headings.items())):
        if after == number + upper.title + 1 and upper.style != lower.style and upper.body is None:
            above[upper.style, lower.style] += 1
    order = [word for word in _ORDER if word in words]
    for _ in range(len(order)):
        for place, (first, second) in enumerate(pairwise(order)):
            if first != "annex" and above[second, first] > above[first, second]:
                order[place : place + 2] = [second, first]
    return order


def _contents(lines: Sequence[LogicalLine]) -> range:
    """Return the lines of a table of contents, up to where its first entry comes again."""
    for number, line in enumerate(lines):
        if not _CONTENTS.match(line.text):
            continue
        seen: set[str] = set()
        for place in range(number + 1, len(lines)):
            entry = _plain(lines[place].text)
            again = entry in seen and not _counts_on(lines, place)
            if again or _is_sentence(lines[place]):
                return range(number, place)
            # an entry such as "article 5 fees" heads the text in two lines
            words = entry.split(" ", _HEAD_WORDS)
            heads = (" ".join(words[:count]) for count in range(2, _HEAD_WORDS + 1))
            seen.update([entry, *(head for head in heads if word_marker(head.capitalize()))])
    return _entries(lines) or _paged_entries(lines)


def _counts_on(lines: Sequence[LogicalLine], number: int) -> bool:
    """Return whether numbers go on across a line, as across the head of each page of contents."""
    near = range(max(number - _HEAD_LINES, 0), min(number + _HEAD_LINES, len(lines)))
    values = [
        (place, marker.value) for place in near for marker in list_markers(lines[place].text)[:1]
    ]
    before = [value for place, value in values if place < number]
    after = [value for place, value in values if place > number]
    return bool(before and after) and after[0] == before[-1] + 1


def _paged_entries(lines: Sequence[LogicalLine]) -> range:
    """Return a run of lines that end with the numbers of pages, which never fall."""
    begin, last, count, page = 0, 0, 0, 0
    for number, line in enumerate(lines):
        found = _PAGED.search(line.text[-_LEADER_CHARS:])
        if found and int(found[1]) >= page and len(line.text) <= _LONGEST_HEADING:
            begin = begin if count else number
            last, page, count = number, int(found[1]), count + 1
        elif count and (found or number - last > 1):
            if count >= _FEWEST_ENTRIES:
                break
            count = page = 0
    return range(begin, last + 1) if count >= _FEWEST_ENTRIES else range(0)


def _entries(lines: Sequence[LogicalLine]) -> range:
    """Return a run of lines that all come again as headings that the format marks."""
    marked = {_plain(line.text) for line in lines if line.level}
    if not marked:
        return range(0)
    entries = [
        number
        for number, line in enumerate(lines)
        if not line.level and _plain(line.text) in marked
    ]
    if len(entries) < _FEWEST_ENTRIES:
        return range(0)
    end = entries[0]
    while end < len(lines) and (lines[end].level or _plain(lines[end].text) in marked):
        end += 1
    last = max(number for number in entries if number < end) + 1
    return range(entries[0], last) if last - entries[0] >= _FEWEST_ENTRIES else range(0)


def _listed_again(lines: Sequence[LogicalLine]) -> frozenset[int]:
    """Return the lines of runs of numbered entries that all come again: a page's list of links.

    Where they come again they stand apart, with what they head between them.
    """
    last: dict[str, int] = {}
    entries: dict[int, str] = {}
    for number, line in enumerate(lines):
        text = line.text
        if line.row or len(text) > _LONGEST_HEADING:
            continue
        if word_marker(text) or list_markers(text) or bare_number(text):
            entries[number] = _plain(text)
            last[entries[number]] = number
    found: set[int] = set()
    run: list[int] = []
    for number in (*entries, len(lines) + _ENTRY_GAP):
        if run and number - run[-1] > _ENTRY_GAP:
            again = [last[entries[one]] for one in run]
            apart = sum(below - above > _ENTRY_GAP for above, below in pairwise(again))
            if len(run) >= _FEWEST_ENTRIES and 2 * apart > len(run):
                found.update(range(run[0], run[-1] + 1))
            run = []
        if number in entries and last[entries[number]] - number >= _FEWEST_ENTRIES:
            run.append(number)
    return frozenset(found)


def _is_sentence(line: LogicalLine) -> bool:
    """Return whether a line is prose and no entry of a table of contents."""
    numbered = word_marker(line.text) or list_markers(line.text) or bare_number(line.text)
    return len(line.text) > 60 and line.ended and not numbered


def _plain(text: str) -> str:
    """Return an entry without its dots and page number; the 2 of "PART 2" is none."""
    marker = word_marker(text)
    bare = marker is not None and not text[marker.end :].strip()
    return " ".join(re.findall(r"\w+", (text if bare else _LEADER.sub("", text[:300])).lower()))
