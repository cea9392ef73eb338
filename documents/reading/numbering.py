"""The numbers of lists and headings, counted level by level as word processors show them.

Files of word processors hold the rules of the numbers and not the numbers.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lexloop.documents.reading.text import numeral

LEVELS = 10
BULLET = "•"
_LONGEST = 100


class Level(NamedTuple):
    """How the numbers of one level are shown.

    Args:
        kind: Of its numerals, as ``numeral`` names it; ``BULLET``; or "" for no number.
        shown: The text around the numbers, and in between the levels, from 1, whose numbers they
            are, as ``pieces`` gives them.
        plain: Whether the numbers of all levels are shown in digits.
        restart: It begins anew behind levels above this one alone.
    """

    kind: str
    shown: tuple[str, ...]
    start: int = 1
    plain: bool = False
    restart: int = LEVELS


def pieces(shown: str, place: re.Pattern[str]) -> tuple[str, ...]:
    """Split the text of a level at the places of numbers; the pattern has one group, the level."""
    return tuple(place.split(shown[:_LONGEST]))


class Counter:
    """The numbers of one list, counted paragraph by paragraph."""

    def __init__(self) -> None:
        self._counts: list[int | None] = [None] * LEVELS

    def below(self, depth: int) -> "Counter":
        """Return a counter that goes on from this one's numbers above a depth, from 0."""
        other = Counter()
        other._counts[:depth] = self._counts[:depth]
        return other

    def restart(self, depth: int, start: int | None = None) -> None:
        """Set the number that comes next on a level; the one it starts with for None."""
        self._counts[depth] = None if start is None else start - 1

    def number(self, levels: Mapping[int, Level], depth: int) -> str:
        """Count a paragraph on a level, and return its number as it is shown, or "".

        Args:
            levels: Those of the list, by their depths.
            depth: That of the paragraph, from 0.
        """
        level = levels.get(depth)
        if level is None:
            return ""
        before = self._counts[depth]
        self._counts[depth] = level.start if before is None else before + 1
        for deeper in range(depth + 1, LEVELS):
            if deeper not in levels or depth < min(levels[deeper].restart, deeper):
                self._counts[deeper] = None
        if level.kind == BULLET:  # whichever sign it is; a blank one sets paragraphs in
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
                continue  # what joins a number that is not shown to the next is not shown either
            shown += level.shown[at + 1]
        return shown.strip()
