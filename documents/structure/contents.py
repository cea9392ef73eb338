"""Tables of contents: the lines that only list what comes below them."""

import re
from collections.abc import Sequence
from itertools import pairwise

from lexloop.documents.structure.lines import LONGEST_HEADING, LogicalLine
from lexloop.documents.structure.markers import (
    bare_number,
    list_markers,
    word_marker,
)

_FEWEST_ENTRIES, _LEADER_CHARS = 5, 40
_HEAD_WORDS = 3
_CONTENTS = re.compile(
    r"(?:table of )?contents(?: of (?:this )?\w+)?:?$|arrangement of \w+$", re.IGNORECASE
)
_LEADER = re.compile(
    r"(?<![\s.…])(?:[\s.…]*+(?<=\s)\d{1,4}"
    r"|(?=[\s.…]*?(?:\.\.|…|\t|\s\s))[\s.…]++(?:\d{1,4}|[ivxl]{1,6}))$"
)
"""A page number after a blank or dots; a run of either is scanned once."""
_PAGED = re.compile(r"[\w)][.…\s]*+(?:(?<=[…\t])|(?<=\.\.|…\s|\s\s)|(?<=\.\.\s))(\d{1,3})$")
_HEAD_LINES = 4
"""How many lines the head of a page takes within contents."""
_ENTRY_GAP = 2
"""The most lines between two entries of a table of contents."""


def contents_of(lines: Sequence[LogicalLine]) -> frozenset[int]:
    """Return the lines of the tables of contents of a document, and of a page's lists of links."""
    return frozenset(_titled_contents(lines)) | _listed_again(lines)


def _titled_contents(lines: Sequence[LogicalLine]) -> range:
    """Return the lines of a table of contents, up to the second occurrence of its first entry."""
    for number, line in enumerate(lines):
        if not _CONTENTS.match(line.text):
            continue
        titles: set[str] = set()
        for place in range(number + 1, len(lines)):
            entry = _entry_text(lines[place].text)
            again = entry in titles and not _numbers_continue(lines, place)
            if again or _is_sentence(lines[place]):
                return range(number, place)
            # an entry such as "article 5 fees" is repeated in the text as two lines
            words = entry.split(" ", _HEAD_WORDS)
            heads = (" ".join(words[:count]) for count in range(2, _HEAD_WORDS + 1))
            titles.update([entry, *(head for head in heads if word_marker(head.capitalize()))])
    return _entries(lines) or _paged_entries(lines)


def _numbers_continue(lines: Sequence[LogicalLine], number: int) -> bool:
    """Return whether numbers continue across a line, such as the head of a page of contents."""
    near = range(max(number - _HEAD_LINES, 0), min(number + _HEAD_LINES, len(lines)))
    values = [
        (place, marker.value) for place in near for marker in list_markers(lines[place].text)[:1]
    ]
    before = [value for place, value in values if place < number]
    after = [value for place, value in values if place > number]
    return bool(before and after) and after[0] == before[-1] + 1


def _paged_entries(lines: Sequence[LogicalLine]) -> range:
    """Return a run of lines that end with page numbers in ascending order."""
    begin, last, count, page = 0, 0, 0, 0
    for number, line in enumerate(lines):
        match = _PAGED.search(line.text[-_LEADER_CHARS:])
        if match and int(match[1]) >= page and len(line.text) <= LONGEST_HEADING:
            begin = begin if count else number
            last, page, count = number, int(match[1]), count + 1
        elif count and (match or number - last > 1):
            if count >= _FEWEST_ENTRIES:
                break
            count = page = 0
    return range(begin, last + 1) if count >= _FEWEST_ENTRIES else range(0)


def _entries(lines: Sequence[LogicalLine]) -> range:
    """Return a run of lines that all occur again as headings marked by the format."""
    marked = {_entry_text(line.text) for line in lines if line.level}
    if not marked:
        return range(0)
    entries = [
        number
        for number, line in enumerate(lines)
        if not line.level and _entry_text(line.text) in marked
    ]
    if len(entries) < _FEWEST_ENTRIES:
        return range(0)
    end = entries[0]
    while end < len(lines) and (lines[end].level or _entry_text(lines[end].text) in marked):
        end += 1
    last = max(number for number in entries if number < end) + 1
    return range(entries[0], last) if last - entries[0] >= _FEWEST_ENTRIES else range(0)


def _listed_again(lines: Sequence[LogicalLine]) -> frozenset[int]:
    """Return the lines of runs of numbered entries that all occur again, as a page's links do.

    The second occurrences must be apart, with the text they head between them.
    """
    last: dict[str, int] = {}
    entries: dict[int, str] = {}
    for number, line in enumerate(lines):
        text = line.text
        if line.row or len(text) > LONGEST_HEADING:
            continue
        if word_marker(text) or list_markers(text) or bare_number(text):
            entries[number] = _entry_text(text)
            last[entries[number]] = number
    listed: set[int] = set()
    run: list[int] = []
    for number in (*entries, len(lines) + _ENTRY_GAP):
        if run and number - run[-1] > _ENTRY_GAP:
            again = [last[entries[entry]] for entry in run]
            apart = sum(below - above > _ENTRY_GAP for above, below in pairwise(again))
            if len(run) >= _FEWEST_ENTRIES and 2 * apart > len(run):
                listed.update(range(run[0], run[-1] + 1))
            run = []
        if number in entries and last[entries[number]] - number >= _FEWEST_ENTRIES:
            run.append(number)
    return frozenset(listed)


def _is_sentence(line: LogicalLine) -> bool:
    """Return whether a line is prose and not an entry of a table of contents."""
    numbered = word_marker(line.text) or list_markers(line.text) or bare_number(line.text)
    return len(line.text) > 60 and line.ended and not numbered


def _entry_text(text: str) -> str:
    """Return an entry without its dots and page number; the 2 of "PART 2" is kept."""
    marker = word_marker(text)
    bare = marker is not None and not text[marker.end :].strip()
    return " ".join(re.findall(r"\w+", (text if bare else _LEADER.sub("", text[:300])).lower()))
