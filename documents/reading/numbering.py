"""The numbers of lists and headings, counted level by level as word processors do.

Files of word processors contain the rules for the numbers, not the numbers.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lexloop.documents.reading.text import numeral

LEVELS = 10
BULLET = "•"
_LONGEST = 100


class Level(NamedTuple):
    """The form of the numbers of one level.

    Args:
        kind: Kind of numeral, as ``numeral`` names it; ``BULLET``; or "" if there is no number.
        shown: The text around the numbers and, between its parts, the levels, from 1, whose numbers
            are shown; see ``pieces``.
        plain: Whether the numbers of all levels are shown in digits.
        restart: Whether it restarts only after levels above this one.
    """

    kind: str
    shown: tuple[str, ...]
    start: int = 1
    plain: bool = False
    restart: int = LEVELS


def pieces(shown: str, place: re.Pattern[str]) -> tuple[str, ...]:
    """Split the text of a level at its numbers; the pattern's one group is the level."""
    return tuple(place.split(shown[:_LONGEST]))


class Counter:
    """A counter of one list, paragraph by paragraph."""

    def __init__(self) -> None:
        self._counts: list[int | None] = [None] * LEVELS

    def below(self, depth: int) -> "Counter":
        """Return a counter that continues the numbers above a depth, from 0."""
        other = Counter()
        other._counts[:depth] = self._counts[:depth]
        return other

    def restart(self, depth: int, start: int | None = None) -> None:
        """Set the next number of a level; None for the one it starts with."""
        self._counts[depth] = None if start is None else start - 1

    def number(self, levels: Mapping[int, Level], depth: int) -> str:
        """Count a paragraph on a level, and return its number as shown, or "".

        Args:
            levels: Levels of the list, by depth.
            depth: Depth of the paragraph, from 0.
        """
        level = levels.get(depth)
        if level is None:
            return ""
        before = self._counts[depth]
        self._counts[depth] = level.start if before is None else before + 1
        for deeper in range(depth + 1, LEVELS):
            if deeper not in levels or depth < min(levels[deeper].restart, deeper):
                self._counts[deeper] = None
        if level.kind == BULLET:  # any bullet; a blank one only indents paragraphs
            return BULLET if level.shown[0].strip() else ""
        shown, last = level.shown[0], len(level.shown) - 1
        for at in range(1, last, 2):
            counted = int(level.shown[at]) - 1
            other = levels.get(counted)
            if other is not None and other.kind not in ("", BULLET):
                count = self._counts[counted]
                value = other.start if count is None else count
                shown += numeral(value, "1" if level.plain else other.kind)
            elif at + 1 < last and (other is None or not other.kind):
                continue  # the text that joins a hidden number to the next is hidden too
            shown += level.shown[at + 1]
        return shown.strip()
