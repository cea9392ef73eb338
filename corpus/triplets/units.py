"""Sentences and list items of a passage, each with the clause that leads into it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.corpus.text.sentences import sentence_spans

_MARKER = re.compile(
    r"\(?(?P<label>[ivx]{1,5}|[A-Za-z]|[a-z]{2}|\d{1,3})(?:\)|\.(?=\s))\s*|(?P<bullet>[-–*•·])\s+"
)
_LEADS = re.compile(r"(?:[:—–]|:\s*[-–]|\b(?:unless|if|where|when))$")
_LONGEST = 4000
"""Characters of one unit that are read; a longer "sentence" is a table or no prose at all."""
_RUN_IN_HEADING = re.compile(
    r"§+\s*[\w.\-–]{1,20}\s+[A-Z][^.\n]{2,80}\.\s+(?:\(?\w[.)]\s+)?(?=[A-Z])"
)
_DEEPEST = 6


@dataclass(frozen=True)
class Unit:
    """One statement: ``text[start:end]`` with its list marker, ``body`` without.

    ``lead`` is the unit whose clause this item continues: "An issuer must:" for "(a) keep ...".
    """

    start: int
    end: int
    body: str
    lead: "Unit | None"

    @property
    def leads(self) -> bool:
        """Whether list items follow."""
        return bool(_LEADS.search(self.body[-12:]))


def units(text: str) -> Iterator[Unit]:
    """The units of ``text`` in order, each list item tied to its lead-in."""
    open_lists: list[tuple[frozenset[str], Unit]] = []
    previous: Unit | None = None
    end = 0
    for start, stop in sentence_spans(text):
        new_line = "\n" in text[end:start] or end == 0
        end = stop
        marker = _MARKER.match(text, start, stop)
        marker = marker if marker and marker.end() < stop else None
        if marker and (new_line or (previous and previous.leads)):
            styles = _styles(marker)
            if previous and previous.leads and len(open_lists) < _DEEPEST:
                opening = styles & {"roman"} or styles  # no list opens with the letter i
                open_lists.append((opening, previous))
            else:
                while open_lists and not open_lists[-1][0] & styles:
                    open_lists.pop()
                if open_lists:
                    shared = open_lists[-1][0] & styles
                    open_lists[-1] = (shared, open_lists[-1][1])
        elif new_line:
            open_lists.clear()
        heading = None if marker else _RUN_IN_HEADING.match(text, start, stop)
        begin = marker.end() if marker else heading.end() if heading else start
        lead = open_lists[-1][1] if open_lists and marker else None
        previous = Unit(start, stop, text[begin : min(stop, begin + _LONGEST)], lead)
        yield previous


def _styles(marker: re.Match[str]) -> frozenset[str]:
    """How the item may be numbered; "i" is a letter or a Roman numeral."""
    if marker["bullet"]:
        return frozenset({"bullet"})
    label = marker["label"]
    if label.isdigit():
        return frozenset({"number"})
    shape = label[0].isupper()
    styles = {f"letter{shape}"} if len(label) == 1 or label[0] == label[1:] else set()
    if label.islower() and not label.strip("ivx"):
        styles.add("roman")
    return frozenset(styles or {"roman"})
