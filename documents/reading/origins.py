"""The places of a text's words in the text file that it was read from."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from unicodedata import combining

from lexloop.documents.document import FileRun
from lexloop.documents.reading.text import as_seen
from lexloop.documents.text.tokens import WORD_OR_SIGN

_UNSEEN = re.compile(r"</?[a-zA-Z][\w-]*+(?:\s[^<>]*+)?/?>|\]\([^()\s]*+\)")
"""A tag, or the target of a link, which may contain the words of its text again."""
_CHANGING = re.compile("\r\n?|[\x00-\x7f]?[^\x00-\x7f]+")
"""Characters that may be read as other characters than they are written in."""
_LINE_END = re.compile("\r\n?|\n")
_FARTHEST = 1 << 12
"""The most characters that are passed over for a word: a search has to end."""


def words_from(shown: str, source: str, lines: Sequence[tuple[int, int]]) -> Iterator[FileRun]:
    """Yield where the words of a text are in its source, line by line.

    A word is matched to its first occurrence after the word before it. Neighbouring words become
    one run if they are equally far apart in both texts. A word that is not in its source lines,
    such as one with a character reference, has no place.

    Args:
        shown: The text.
        source: Text that it was made from.
        lines: Offset of each line of the text, and of the source line that it comes from.
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
    """Return runs with their places in the file as written.

    Args:
        runs: Runs with places in a part of ``as_seen(written)``.
        written: The decoded file.
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
    """Add a run, joined to the one before if they are adjacent in both texts."""
    behind = run.start - runs[-1].start if runs else 0
    if runs and behind == runs[-1].length == run.at - runs[-1].at:
        start, at, *_ = runs.pop()
        run = FileRun(start, at, run.start + run.length - start)
    runs.append(run)


def _places(written: str) -> list[int]:
    """Return the offset in ``written`` of each character of ``as_seen(written)``."""
    places: list[int] = []
    done = 0
    for match in _CHANGING.finditer(written):
        places.extend(range(done, match.start()))
        done = match.end()
        places.extend(match.start() + at for at in _places_in(match[0]))
    places.extend(range(done, len(written)))
    return places


def _places_in(written: str) -> list[int]:
    """Return the offset of each character in a few; combining marks share their letter's."""
    begins = ((at, not combining(char) and as_seen(char)) for at, char in enumerate(written))
    starts = [at for at, begin in begins if begin or at == 0]
    places = [
        start if number < len(as_seen(written[start])) else end - 1
        for start, end in zip(starts, [*starts[1:], len(written)], strict=True)
        for number in range(len(as_seen(written[start:end])))
    ]
    length = len(as_seen(written))
    return places if len(places) == length else [min(n, len(written) - 1) for n in range(length)]
