"""The [n] markers of an answer: which sentence cites which passages."""

import itertools
import re
from dataclasses import dataclass

from lexloop.corpus.text.sentences import sentence_spans

# Three digits at most: [2021] is part of a law report's name.
MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*)\s*\]")
_WIDEST_RANGE = 50


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer, its markers taken out, and the passages they name."""

    text: str
    numbers: tuple[int, ...]


def cited_sentences(answer: str) -> list[CitedSentence]:
    """The sentences of an answer; markers after a full stop belong to the sentence before it."""
    # Blanks in place of the markers keep the offsets and show where sentences really end.
    bare = MARKER.sub(lambda marker: " " * len(marker.group()), answer)
    starts = [start for start, _ in sentence_spans(bare)]
    edges = [0, *starts[1:], len(answer)]
    found: list[CitedSentence] = []
    for start, end in itertools.pairwise(edges):
        numbers = [
            n for marker in MARKER.findall(answer[start:end]) for n in marker_numbers(marker)
        ]
        found.append(
            CitedSentence(" ".join(bare[start:end].split()), tuple(dict.fromkeys(numbers)))
        )
    return found


def marker_numbers(marker: str) -> list[int]:
    """The passage numbers inside one marker: ``1``, ``1, 2`` or ``1-3``."""
    numbers: list[int] = []
    for item in re.split(r"[,;]", marker):
        ends = [int(end) for end in re.split(r"[-–]", item)]
        first, last = ends[0], ends[-1]
        if first <= last <= first + _WIDEST_RANGE:
            numbers.extend(range(first, last + 1))
        else:
            numbers.extend(ends)
    return numbers


def without_markers(answer: str) -> str:
    """The answer as plain prose."""
    return re.sub(r"\s+", " ", MARKER.sub("", answer)).strip()
