"""Which statements of the passages make the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Passage, PointedUnit
from lexloop.corpus.text.statements import Statement
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.relevance import Asked, Sources, relevance

MAX_STATEMENTS, MAX_WORDS = 3, 120
NEARLY_BEST = 0.9
"""A further statement must score this share of the best one's."""
_COPY = 0.85


@dataclass(frozen=True)
class Evidence:
    """A quotable span of a passage: a statement, or a lead-in with all its items.

    ``start`` and ``end`` count within the passage's text.
    """

    passage: Passage
    start: int
    end: int
    text: str
    order: int

    @property
    def words(self) -> int:
        """Length in words."""
        return len(self.text.split())


@dataclass(frozen=True)
class Scored:
    """All evidence of the passages; ``scores`` has shape (parts, evidence)."""

    evidence: list[Evidence]
    vectors: Vectors
    scores: NDArray[np.float32]

    @property
    def best(self) -> NDArray[np.float32]:
        """Each piece of evidence by the part it suits best."""
        top: NDArray[np.float32] = self.scores.max(axis=0)
        return top

    def within(self, units: Sequence[PointedUnit]) -> "Scored | None":
        """The evidence that lies in provisions; None where none does."""
        kept = [i for i, item in enumerate(self.evidence) if any(_lies_in(item, u) for u in units)]
        if not kept:
            return None
        return Scored([self.evidence[i] for i in kept], self.vectors[kept], self.scores[:, kept])


def _lies_in(item: Evidence, unit: PointedUnit) -> bool:
    start, end = item.passage["start"] + item.start, item.passage["start"] + item.end
    inside = unit["start"] <= start and end <= unit["end"]
    return inside and item.passage["document"] == unit["document"]


def gather(asked: Asked, passages: list[Passage], sources: Sources) -> Scored | None:
    """Score every statement and list of the passages; None when there is none."""
    evidence: list[Evidence] = []
    rows: list[Vectors] = []
    for passage in passages:
        found, vectors = sources.statements(passage["id"])
        for (start, end, text), vector in [*_single(found, vectors), *_lists(found, vectors)]:
            evidence.append(Evidence(passage, start, end, text, len(evidence)))
            rows.append(vector)
    if not evidence:
        return None
    vectors = np.stack(rows)
    texts = [item.text for item in evidence]
    return Scored(evidence, vectors, relevance(asked, texts, vectors, sources))


Span = tuple[int, int, str]


def _single(found: list[Statement], vectors: Vectors) -> list[tuple[Span, Vectors]]:
    return [
        ((statement.lead_start, statement.end, statement.text), vector)
        for statement, vector in zip(found, vectors, strict=True)
    ]


def _lists(found: list[Statement], vectors: Vectors) -> list[tuple[Span, Vectors]]:
    """Each lead-in that has several items, with all of them."""
    lists: list[tuple[Span, Vectors]] = []
    indexed = [(i, statement) for i, statement in enumerate(found) if statement.lead]
    for lead_start, group in groupby(indexed, key=lambda pair: pair[1].lead_start):
        members = list(group)
        if len(members) < 2:
            continue
        first, last = members[0], members[-1]
        text = " ".join([first[1].lead, *(statement.own for _, statement in members)])
        if len(text.split()) > MAX_WORDS:
            continue
        mean = vectors[[i for i, _ in members]].mean(axis=0)
        vector: Vectors = mean / max(float(np.linalg.norm(mean)), 1e-9)
        lists.append(((lead_start, last[1].end, text), vector))
    return lists


def select(asked: Asked, scored: Scored) -> list[Evidence]:
    """The best evidence for each part, then more that is nearly as good, in reading order."""
    chosen: list[Evidence] = []
    for row in range(len(asked.parts)):
        ranked = sorted(range(len(scored.evidence)), key=lambda i: -scored.scores[row][i])
        _take_first(ranked, scored, chosen)
    ranked = sorted(range(len(scored.evidence)), key=lambda i: -scored.best[i])
    bar = NEARLY_BEST * float(scored.best.max())
    for i in ranked:
        if len(chosen) >= MAX_STATEMENTS or scored.best[i] < bar:
            break
        _take_first([i], scored, chosen)
    return chosen


def _take_first(ranked: list[int], scored: Scored, chosen: list[Evidence]) -> None:
    """Take the first that fits the length and says something that is not yet said."""
    if len(chosen) >= MAX_STATEMENTS + 1:
        return
    for i in ranked[:5]:
        item = scored.evidence[i]
        if sum(other.words for other in chosen) + item.words > MAX_WORDS and chosen:
            continue
        if any(_repeats(item, other) for other in chosen):
            return
        chosen.append(item)
        return


def _repeats(item: Evidence, other: Evidence) -> bool:
    mine, theirs = set(tokenize(item.text)), set(tokenize(other.text))
    return len(mine & theirs) >= _COPY * max(1, min(len(mine), len(theirs)))
