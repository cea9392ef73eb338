"""The statements of the passages that can be quoted, each with what it is worth as an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import BESIDE, DEFINING, Passage, PointedUnit
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.text.tokens import term_set
from lexloop.models.embedding import Vectors
from lexloop.nodes.answering import answering
from lexloop.nodes.reading import Stated, reads
from lexloop.nodes.relevance import Query, defines, relevance
from lexloop.store.view import View

READ = 0.1
"""What a log-odd of the reader counts beside the other scores."""
TOKENS = 1.6
_COPY = 0.85
_DEFINES = 0.5
_SUPPORTING = 0.7
"""A recital explains what an article says: it answers if it is clearly closer."""


@dataclass(frozen=True)
class Quotable:
    """A statement that can be quoted of a passage; ``order`` is its place in the passages."""

    passage: Passage
    said: Statement
    order: int
    question: str = ""  # of the document, which it answers; see ``Answering``
    before: Statement | None = None

    @property
    def text(self) -> str:
        """It as it can stand alone, behind the question that it answers."""
        return f"{self.question} {self.said.text}".strip()

    @cached_property
    def wording(self) -> frozenset[str]:
        """Its search terms but for numbers."""
        return frozenset([term for term in term_set(self.text) if not term[0].isdigit()])

    @property
    def words(self) -> int:
        """Length in words."""
        return len(self.text.split())


@dataclass(frozen=True)
class ScoredQuotables:
    """The quotable statements of the passages.

    Args:
        quotables: The statements.
        vectors: Their unit vectors, shape (quotables, dimension).
        scores: What each is worth for each part of the question, shape (parts, quotables).
        read: How near the reader finds each to an answer, log-odds of the same shape.
        answers: Whether the reader finds that each answers, log-odds of the same shape.
    """

    quotables: list[Quotable]
    vectors: Vectors
    scores: NDArray[np.float32]
    read: NDArray[np.float32]
    answers: NDArray[np.float32]

    @property
    def best(self) -> NDArray[np.float32]:
        """Each piece of evidence by the part it suits best."""
        top: NDArray[np.float32] = self.scores.max(axis=0)
        return top

    @property
    def among_the_best(self) -> "ScoredQuotables":
        """The statements of the best passages and of those with the best statement of a part."""
        best = {self.quotables[i].passage["id"] for i in self.scores.argmax(axis=1).tolist()}
        of = (item.passage for item in self.quotables)
        kept = [n for n, p in enumerate(of) if BESIDE not in p["signals"] or p["id"] in best]
        return self.only(kept)

    def within(self, units: Sequence[PointedUnit]) -> "ScoredQuotables | None":
        """Return the statements that lie in provisions; None if there are none."""
        kept = [i for i, item in enumerate(self.quotables) if any(_lies_in(item, u) for u in units)]
        return self.only(kept) if kept else None

    def outside(self, units: Sequence[PointedUnit]) -> "ScoredQuotables | None":
        """Return the statements that lie in none of some provisions; None if there are none."""
        kept = [
            i for i, one in enumerate(self.quotables) if not any(_lies_in(one, u) for u in units)
        ]
        return self.only(kept) if kept else None

    def only(self, kept: list[int]) -> "ScoredQuotables":
        """Return the statements at some places."""
        return ScoredQuotables(
            [self.quotables[i] for i in kept],
            self.vectors[kept],
            self.scores[:, kept],
            self.read[:, kept],
            self.answers[:, kept],
        )


def _lies_in(item: Quotable, unit: PointedUnit) -> bool:
    inside = unit["start"] <= item.said.start and item.said.end <= unit["end"]
    return inside and item.passage["document"] == unit["document"]


def score_quotables(asked: Query, passages: list[Passage], sources: View) -> ScoredQuotables | None:
    """Score every statement and list of the passages; None when there is none."""
    quotables: list[Quotable] = []
    said: list[Statement] = []
    rows: list[Vectors] = []
    seen = set[tuple[str, int, int]]()
    for passage in passages:
        for one in answering(asked, passage, sources):
            span = passage["document"], one.said.start, one.said.end
            if span in seen:  # passages overlap
                continue
            seen.add(span)
            place = len(quotables)
            quotables.append(Quotable(passage, one.said, place, one.question, one.before))
            said.append(one.scored)
            rows.append(one.vector)
    if not quotables:
        return None
    vectors = np.stack(rows)
    near = _closeness(asked, passages, sources)
    weights = [_SUPPORTING if item.passage.get("supporting") else 1.0 for item in quotables]
    scores = relevance(asked, said, vectors, sources) * np.array(weights, dtype=np.float32)
    scores += [near[item.passage["id"]] for item in quotables]
    for row, term in enumerate(asked.definitions):
        if term is not None:
            scores[row] += [_DEFINES * is_definition(item, term) for item in quotables]
    stated = [Stated(item.passage["document"], item.said, item.text) for item in quotables]
    read, answers = np.zeros_like(scores), np.zeros_like(scores)
    for row, part in enumerate(asked.parts):
        question = asked.text if len(asked.parts) == 1 else part["text"]
        read[row], answers[row] = reads(question, stated, scores[row], sources)
    return ScoredQuotables(quotables, vectors, scores + READ * read, read, answers)


def _closeness(asked: Query, passages: list[Passage], sources: View) -> dict[str, float]:
    """Return each passage's weighted MaxSim less that of the best; 0 without token vectors."""
    ids = [passage["id"] for passage in passages]
    found = sources.closeness(asked.text, ids)
    if found is None:
        return dict.fromkeys(ids, 0.0)
    close = found.mean(axis=0)
    return dict(zip(ids, (TOKENS * (close - close.max())).tolist(), strict=True))


def is_definition(item: Quotable, term: str) -> bool:
    """Return whether a statement is the documents' own definition of a term."""
    if DEFINING not in item.passage["signals"]:
        return False
    return defines(term, item.text)


def alike(item: Quotable, other: Quotable) -> bool:
    """Return whether two statements are the same but for their numbers."""
    mine, theirs = item.wording, other.wording
    return len(mine & theirs) >= _COPY * max(1, min(len(mine), len(theirs)))
