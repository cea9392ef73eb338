"""The provisions that numbers alone name: "5 Offences", "2. Grant of licence"."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from lexloop.documents.structure.headings import Heading
from lexloop.documents.structure.lines import SAYS, WIDEST_GAP, LogicalLine
from lexloop.documents.structure.markers import (
    LETTERS,
    Marker,
    bare_number,
    list_markers,
    title_heading,
)

LONGEST_TITLE = 120
FEWEST_MARKED = 3
_HUNDRED, _LATE = 100, 1.5
_FEWEST_NUMBERED, _LONGEST_NUMBER = 2, 6
_LONG_RUN, _NEARLY_ALL = 6, 0.9
_SPINES = {"1.": 0.6, "I.": 0.8, "A.": 0.8}
"""The styles of numbers that alone name provisions, and how much must speak for each line."""
_COUNTING = ("1.", "1)", "(1)")
"""The styles of numbers that may count the paragraphs of a document."""
_NONE = (float("-inf"), 0.0, -1)


def numbered_headings(
    lines: Sequence[LogicalLine],
    contents: Collection[int],
    taken: Collection[int],
    named: Collection[float],
    indented: bool,
) -> dict[int, Heading]:
    """Return the provisions that only have numbers, by line; empty if there are none.

    Args:
        lines: Lines of the whole document.
        contents: The lines of the table of contents.
        taken: Lines opened by keywords.
        named: The numbers of provisions that the text names.
        indented: Whether indents are meaningful, so that provisions are aligned.
    """
    spine = _spine(lines, contents, taken, named, indented)
    return spine or _paragraphs(lines, contents, taken, indented)


def _spine(
    lines: Sequence[LogicalLine],
    contents: Collection[int],
    taken: Collection[int],
    named: Collection[float],
    indented: bool,
) -> dict[int, Heading]:
    """Return the provisions that a number alone names: "5 Offences", "2. Grant of licence".

    Of all runs of consecutive numbers through the document, this is the one with the most evidence:
    its lines look like headings, 2.1 comes below 2, and the text refers to its numbers. A list that
    only counts has less evidence.
    """
    runs: dict[tuple[str, int], _Runs] = defaultdict(_Runs)
    for number, line in enumerate(lines):
        if number in contents or number in taken or line.row:
            continue
        for marker in list_markers(line.text) or filter(None, [bare_number(line.text)]):
            doubtful = marker.style == "I." and marker.number in LETTERS
            if marker.style in _SPINES and len(marker.number) <= _LONGEST_NUMBER and not doubtful:
                marker_run = runs[marker.style, line.column if indented else 0]
                marker_run.add(number, marker, _evidence(lines, number, marker, named))
    for (style, _), marker_run in sorted(
        runs.items(), key=lambda item: item[1].score, reverse=True
    ):
        run = marker_run.best()
        if _only_completes(run, lines):
            continue
        first, last = min(run, default=0), max(run, default=-1)
        among = sum(first <= number <= last for number in marker_run.markers)
        spoken = marker_run.score >= _SPINES[style] * among
        if len(run) >= _FEWEST_NUMBERED and (
            spoken or _runs_through(run, marker_run.markers, lines)
        ):
            headed = 2 * sum(is_headed(lines, number, run) for number in run) > len(run)
            return {
                number: _numbered(lines, number, marker, headed and is_headed(lines, number, run))
                for number, marker in run.items()
            }
    return {}


def _paragraphs(
    lines: Sequence[LogicalLine], contents: Collection[int], taken: Collection[int], indented: bool
) -> dict[int, Heading]:
    """Return the provisions of a document that only numbers its paragraphs, without headings.

    The numbers of one style rise throughout, from any start and with any gaps, and each opens a
    full sentence; together they are most of the text. Items after a lead-in are a list, unless each
    is a statement by itself.
    """
    runs: dict[tuple[str, int], dict[int, Marker]] = defaultdict(dict)
    for number, line in enumerate(lines):
        if number in contents or number in taken or line.row:
            continue
        for marker in list_markers(line.text) or filter(None, [bare_number(line.text)]):
            if marker.style in _COUNTING and len(marker.number) <= _LONGEST_NUMBER:
                runs[marker.style, line.column if indented else 0][number] = marker
    for run in sorted(runs.values(), key=min):
        if len(run) >= _FEWEST_NUMBERED and _are_paragraphs(run, lines):
            return {n: _numbered(lines, n, replace(m, style="1.")) for n, m in run.items()}
    return {}


def _are_paragraphs(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether a run of numbers counts the paragraphs of a whole document."""
    first, last = min(run), max(run)
    texts = [lines[number].text[marker.end :] for number, marker in run.items()]
    if any(text[:1].islower() or text.endswith((";", ",")) for text in texts):
        return False
    if _only_completes(run, lines):
        return False
    length = lines[last].end - lines[first].start
    return 2 * length >= lines[-1].end - lines[0].start and _rises(run, lines)


def _only_completes(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether numbered items only complete the text before them, with nothing between.

    Most of the items are not sentences.
    """
    first, last = min(run, default=0), max(run, default=0)
    if not first or not lines[first - 1].leads or last - first + 1 > len(run):
        return False
    return 2 * sum(SAYS.search(lines[number].text) is not None for number in run) < len(run)


def _rises(run: Mapping[int, Marker], lines: Sequence[LogicalLine]) -> bool:
    """Return whether numbers rise, and no missing number is found within a line."""
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
    """Return whether nearly all numbers of a style are one run over the document's headings."""
    first, last = min(run), max(run)
    crossed = sum(line.level > 0 for line in lines[first:last])
    wide = crossed >= FEWEST_MARKED or 2 * (last - first) >= len(lines)
    return wide and len(run) >= _LONG_RUN and len(run) >= _NEARLY_ALL * len(alike)


class _Runs:
    """The runs of numbers in one style; the one with the best score is kept.

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
        """Extend the best run that a number can follow."""
        self.markers[line] = marker
        whole = int(marker.value)
        if marker.value > whole:  # inserted: 12A
            score, value, last = self._ends.get(whole, _NONE)
            before = [(score, last)] if value < marker.value else []
        else:
            # standards number the provisions of each chapter from its own hundred
            gaps = range(_HUNDRED if whole % _HUNDRED == 1 else WIDEST_GAP)
            ended = (self._ends.get(whole - 1 - gap, _NONE) for gap in gaps)
            before = [(e[0] - min(gap, _LATE), e[2]) for gap, e in enumerate(ended)]
            before.append((0.0 if whole <= 1 else -_LATE, -1))
        score, last = max(before, default=_NONE[::2])
        if score + speaks > self._ends.get(whole, _NONE)[0]:
            self._ends[whole] = (score + speaks, marker.value, line)
            self._back[line] = last

    def best(self) -> dict[int, Marker]:
        """Return the numbers of the best run, by their lines."""
        line = max(self._ends.values(), default=_NONE)[2]
        run: list[int] = []
        while line >= 0:
            # a longer count between them continues there: notes that count anew
            others = [n for n in self.markers if line < n < run[-1]] if run else []
            if len(others) > len(run) and self._continues_count(others, run[-1]):
                run.clear()
            run.append(line)
            line = self._back[line]
        return {line: self.markers[line] for line in reversed(run)}

    def _continues_count(self, others: Sequence[int], line: int) -> bool:
        """Return whether the number before a line is the previous one in a full count."""
        last = self.markers[others[-1]].value
        return last + 1 == self.markers[line].value and len(others) >= last - 1


def _evidence(
    lines: Sequence[LogicalLine], number: int, marker: Marker, named: Collection[float]
) -> float:
    """Return how much speaks for a number's opening a provision, at least a little."""
    line = lines[number]
    titled = title_heading(line.text, marker.end) is not None
    above = is_headed(lines, number)
    inner = f"{marker.number}.1"
    below = any(following.text.startswith(inner) for following in lines[number : number + 3])
    below = below or inner in line.text[marker.end : marker.end + 200]
    return (
        0.1
        + (line.level > 0)
        + (line.short or titled)
        + 0.5 * above
        + below
        + 0.5 * (marker.value in named)
    )


def is_headed(lines: Sequence[LogicalLine], number: int, run: Collection[int] = ()) -> bool:
    """Return whether the line above a number is its heading, and not part of its run."""
    if number == 0 or number - 1 in run:
        return False
    line = lines[number - 1]
    headed_line = lines[number]
    if headed_line.short and not headed_line.ended and not SAYS.search(headed_line.text):
        return False  # the text after its number is its heading
    return (line.short and not line.ended and len(line.text) < 80) or line.beside


def _numbered(
    lines: Sequence[LogicalLine], number: int, marker: Marker, headed: bool = False
) -> Heading:
    """Return the heading of a provision that a number alone names.

    If the line above is the heading (``headed``), the text after the number is the provision's.
    """
    line = lines[number]
    text, level = line.text[marker.end :], line.level
    heading, body = title_heading(line.text, marker.end) or ("", marker.end)
    if heading and line.text[body:].strip():
        return Heading(marker.style, marker.number, heading, level, body)
    short = line.short and len(text) <= LONGEST_TITLE and not headed
    if not text or (short and text[0] != "("):
        return Heading(marker.style, marker.number, text.strip(" .*"), level)
    return Heading(marker.style, marker.number, heading, level, None if heading else body)
