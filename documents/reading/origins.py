"""Where the words of a text stand in the file of text that it was read from."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from unicodedata import combining

from lexloop.documents.document import FileRun
from lexloop.documents.reading.text import as_seen
from lexloop.documents.text.tokens import WORD_OR_SIGN

_UNSEEN = re.compile(r"</?[a-zA-Z][\w-]*+(?:\s[^<>]*+)?/?>|\]\([^()\s]*+\)")
"""A tag, or where a link goes, which may have the words that are shown beside it."""
_CHANGING = re.compile("\r\n?|[\x00-\x7f]?[^\x00-\x7f]+")
"""What may be read as other characters than it is written in."""
_LINE_END = re.compile("\r\n?|\n")
_FARTHEST = 1 << 12
"""The most characters that are passed over for a word: a search has to end."""


def words_from(shown: str, source: str, lines: Sequence[tuple[int, int]]) -> Iterator[FileRun]:
    """Yield where the words of a text stand in what the text was made of, line by line.

    A word is where it first stands behind the word before it; those with no other between them are
    one run where they are as far apart in both. A word that its lines of the source do not have, as
    that of a character reference, has no place.

    Args:
        shown: The text.
        source: What it was made of.
        lines: Where each line of the text begins, and the line of the source that it is from.
    """
    source = _UNSEEN.sub(lambda unseen: " " * len(unseen[0]), source)
    ends = [start - 1 for start, _ in lines[1:]] + [len(shown)]
    words = [
        (*line, end) for line, end in zip(lines, ends, strict=True) if shown[line[0] : end].strip()
    ]
    groups = [(at, [*group]) for at, group in groupby(words, key=lambda line: line[1])]
    limits = [at for at, _ in groups[1:]] + [len(source)]
    run = FileRun(0, 0, 0)
    for (at, group), limit in zip(groups, limits, strict=True):
        cursor = at
        for word in WORD_OR_SIGN.finditer(shown, group[0][0], group[-1][2]):
            end = cursor + _FARTHEST + len(word[0])
            offset = source.find(word[0], cursor, min(limit, end))
            if offset < 0:
                continue
            cursor = offset + len(word[0])
            between = shown[run.start + run.length : word.start()]
            breaks = source.count("\n", run.at + run.length, offset) != between.count("\n")
            moved = breaks or offset - run.at != word.start() - run.start
            if run.length and not moved and not any(map(str.isalpha, between)):
                run = FileRun(run.start, run.at, word.end() - run.start)
                continue
            if run.length:
                yield run
            run = FileRun(word.start(), offset, len(word[0]))
    if run.length:
        yield run


def in_written(runs: Iterable[FileRun], written: str, offset: int) -> list[FileRun]:
    """Return runs with their places in a file as it is written.

    Args:
        runs: With their places in a part of ``as_seen(written)``.
        written: The whole file, decoded.
        offset: Where the part begins.
    """
    places = None if as_seen(written) == written else _places(written)
    moved: list[FileRun] = []
    for start, at, length, _ in runs:
        if places is None:
            _add(moved, FileRun(start, at + offset, length))
            continue
        for number in range(length):
            _add(moved, FileRun(start + number, places[at + offset + number], 1))
    ends = [match.end() for match in _LINE_END.finditer(written)]
    return [run._replace(line=bisect_right(ends, run.at) + 1) for run in moved]


def _add(runs: list[FileRun], run: FileRun) -> None:
    """Add a run, as one with the run before it where the two are one in both texts."""
    behind = run.start - runs[-1].start if runs else 0
    if runs and behind == runs[-1].length == run.at - runs[-1].at:
        start, at, *_ = runs.pop()
        run = FileRun(start, at, run.start + run.length - start)
    runs.append(run)


def _places(written: str) -> list[int]:
    """Return where each character of ``as_seen(written)`` stands in what is written."""
    places: list[int] = []
    done = 0
    for match in _CHANGING.finditer(written):
        places.extend(range(done, match.start()))
        done = match.end()
        places.extend(match.start() + at for at in _places_in(match[0]))
    places.extend(range(done, len(written)))
    return places


def _places_in(written: str) -> list[int]:
    """Return the same of a few characters, each by itself: marks are one with their letter."""
    begins = ((at, not combining(char) and as_seen(char)) for at, char in enumerate(written))
    starts = [at for at, begin in begins if begin or at == 0]
    places = [
        start if number < len(as_seen(written[start])) else end - 1
        for start, end in zip(starts, [*starts[1:], len(written)], strict=True)
        for number in range(len(as_seen(written[start:end])))
    ]
    length = len(as_seen(written))
    return places if len(places) == length else [min(n, len(written) - 1) for n in range(length)]
