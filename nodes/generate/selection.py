"""Which statements of the passages make the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Passage
from lexloop.corpus.structure.statements import Statement
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.relevance import Asked, Sources, relevance

MAX_STATEMENTS, MAX_WORDS = 3, 120
NEARLY_BEST = 0.9
"""A further statement must score this share of the best one's."""
_COPY = 0.85


@dataclass(frozen=True)
class Evidence:
    """What can be quoted of a passage: a statement, or a lead-in with all its items.

    Args:
        passage: Where it stands.
        said: One statement, or the items that complete the same words.
        order: Its place in the passages.
    """

    passage: Passage
    said: tuple[Statement, ...]
    order: int

    @property
    def text(self) -> str:
        """It as it can stand alone."""
        first, *rest = self.said
        return " ".join([first.text, *(statement.own for statement in rest)])

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


def gather(asked: Asked, passages: list[Passage], sources: Sources) -> Scored | None:
    """Score every statement and list of the passages; None when there is none."""
    evidence: list[Evidence] = []
    rows: list[Vectors] = []
    for passage in passages:
        found, vectors = sources.statements(passage["id"])
        for said, vector in [*_single(found, vectors), *_lists(found, vectors)]:
            evidence.append(Evidence(passage, said, len(evidence)))
            rows.append(vector)
    if not evidence:
        return None
    vectors = np.stack(rows)
    texts = [item.text for item in evidence]
    return Scored(evidence, vectors, relevance(asked, texts, vectors, sources))


Said = tuple[tuple[Statement, ...], Vectors]


def _single(found: Sequence[Statement], vectors: Vectors) -> Iterator[Said]:
    for statement, vector in zip(found, vectors, strict=True):
        yield (statement,), vector


def _lists(found: Sequence[Statement], vectors: Vectors) -> Iterator[Said]:
    """Each lead-in that has several items, with all of them."""
    indexed = [(i, statement) for i, statement in enumerate(found) if statement.leads]
    for _, group in groupby(indexed, key=lambda pair: pair[1].leads):
        members = list(group)
        said = tuple(statement for _, statement in members)
        if len(said) < 2 or sum(len(statement.own.split()) for statement in said) > MAX_WORDS:
            continue
        mean = vectors[[i for i, _ in members]].mean(axis=0)
        yield said, mean / max(float(np.linalg.norm(mean)), 1e-9)


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
