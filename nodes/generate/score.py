"""The statements of the passages that can be quoted, each with its score as an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import AUTHORITY, BESIDE, DEFINING, Citation, Passage, PointedUnit
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.text.tokens import term_set
from lexloop.models.embedding import Vectors
from lexloop.nodes.answering import Answering, answering
from lexloop.nodes.generate.doers import asks_who, says_who
from lexloop.nodes.reading import Stated, reads
from lexloop.nodes.relevance import Query, defines, relevance
from lexloop.store.view import View

READ = 0.1
"""The weight of a log-odd of the reader beside the other scores."""
TOKENS = 1.6
DEFINITIONS = 2
"""How many definitions of what is asked about are read if the question is who does it."""
NO_DOER, IN_PASSING = 4.0, 1.0
"""The log-odds that a statement loses if it does not say who does what is asked, as the reader
orders it, and those that it loses as an answer if it says so in passing."""
_COPY = 0.85
_DEFINES = 0.5
_SUPPORTING = 0.7
"""A recital explains what an article says: it answers if it is clearly closer."""


@dataclass(frozen=True)
class Quotable:
    """A statement of a passage that can be quoted."""

    passage: Passage
    statement: Statement
    question: str = ""  # the document's question that it answers; see ``Answering``
    before: Statement | None = None

    @property
    def text(self) -> str:
        """The text as it can stand alone, after the question that it answers."""
        return f"{self.question} {self.statement.text}".strip()

    @cached_property
    def wording(self) -> frozenset[str]:
        """The search terms without numbers."""
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
        scores: The score of each for each part of the question, shape (parts, quotables).
        read: The reader's log-odds that each is near an answer, same shape.
        answers: The reader's log-odds that each answers, same shape.
    """

    quotables: list[Quotable]
    vectors: Vectors
    scores: NDArray[np.float32]
    read: NDArray[np.float32]
    answers: NDArray[np.float32]

    @property
    def best(self) -> NDArray[np.float32]:
        """The score of each statement for the part that it suits best."""
        top: NDArray[np.float32] = self.scores.max(axis=0)
        return top

    @property
    def by_words(self) -> NDArray[np.float32]:
        """The scores without the reader's and without the authority of the sources."""
        authority = np.array([*map(authority_of, self.quotables)], dtype=np.float32)
        return self.scores - READ * self.read - authority

    @property
    def among_the_best(self) -> "ScoredQuotables":
        """The statements of the best passages and of those with the best statement of a part."""
        best = {self.quotables[i].passage["id"] for i in self.scores.argmax(axis=1).tolist()}
        passages = (item.passage for item in self.quotables)
        return self.only(
            [i for i, p in enumerate(passages) if BESIDE not in p["signals"] or p["id"] in best]
        )

    def within(self, units: Sequence[PointedUnit], inside: bool = True) -> "ScoredQuotables | None":
        """Return the statements inside some units, or those outside; None if there are none."""
        places = [
            i
            for i, item in enumerate(self.quotables)
            if inside
            == any(lies_in(item.statement, item.passage["document"], unit) for unit in units)
        ]
        return self.only(places) if places else None

    def only(self, places: list[int]) -> "ScoredQuotables":
        """Return the statements at some places."""
        return ScoredQuotables(
            [self.quotables[i] for i in places],
            self.vectors[places],
            self.scores[:, places],
            self.read[:, places],
            self.answers[:, places],
        )


def lies_in(statement: Statement, document: str, span: PointedUnit | Citation) -> bool:
    """Return whether a document's statement lies within a span."""
    inside = span["start"] <= statement.start and statement.end <= span["end"]
    return inside and document == span["document"]


def score_quotables(query: Query, passages: list[Passage], sources: View) -> ScoredQuotables | None:
    """Score every statement and list of the passages; None if there are none."""
    candidates: dict[tuple[str, int, int], tuple[Passage, Answering]] = {}
    for passage in passages:
        for each in answering(query, passage, sources):
            span = passage["document"], each.statement.start, each.statement.end
            candidates.setdefault(span, (passage, each))  # passages overlap
    if not candidates:
        return None
    quotables = [
        Quotable(passage, each.statement, each.question, each.before)
        for passage, each in candidates.values()
    ]
    statements = [each.scored for _, each in candidates.values()]
    vectors = np.stack([each.vector for _, each in candidates.values()])
    near = _closeness(query, passages, sources)
    weights = [_SUPPORTING if item.passage.get("supporting") else 1.0 for item in quotables]
    scores = relevance(query, statements, vectors, sources) * np.array(weights, dtype=np.float32)
    scores += [near[item.passage["id"]] + authority_of(item) for item in quotables]
    for row, term in enumerate(query.definitions):
        if term is not None:
            scores[row] += [
                _DEFINES * (DEFINING in item.passage["signals"] and defines(term, item.text))
                for item in quotables
            ]
    stated = [Stated(item.passage["document"], item.statement, item.text) for item in quotables]
    read, answers = np.zeros_like(scores), np.zeros_like(scores)
    for row in range(len(query.parts)):
        question = query.read(None if len(query.parts) == 1 else row)
        asked = query.parts[row]["text"]
        more = DEFINITIONS if asks_who(asked) else 0
        read[row], answers[row] = reads(question, stated, scores[row], sources, more)
        if query.parts[row]["several"]:
            read[row] = _read_by_points(quotables, read[row])
        said = np.array([says_who(asked, item.text) for item in quotables])
        read[row] -= NO_DOER * (said != "said")
        answers[row] -= IN_PASSING * (said == "passing")
    return ScoredQuotables(quotables, vectors, scores + READ * read, read, answers)


def _read_by_points(
    quotables: Sequence[Quotable], read: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the readings with each whole list as well read as its best point.

    A question for several things asks for the list, of which the reader sees only the lead-in.
    """
    by_points = read.copy()
    for place, whole in enumerate(quotables):
        if whole.statement.points:
            span = whole.statement
            by_points[place] = max(
                value
                for item, value in zip(quotables, read.tolist(), strict=True)
                if item.passage["document"] == whole.passage["document"]
                and span.start <= item.statement.start < span.end
            )
    return by_points


def authority_of(item: Quotable) -> float:
    """Return what the authority of a statement's source adds to its score."""
    return TOKENS * item.passage["signals"].get(AUTHORITY, 0.0)


def _closeness(query: Query, passages: list[Passage], sources: View) -> dict[str, float]:
    """Return each passage's weighted MaxSim minus the best one's; 0 without token vectors."""
    ids = [passage["id"] for passage in passages]
    close = query.closeness(ids, sources)
    if close is None:
        return dict.fromkeys(ids, 0.0)
    return dict(zip(ids, (TOKENS * (close - close.max())).tolist(), strict=True))


def alike(item: Quotable, other: Quotable) -> bool:
    """Return whether two statements are the same except for their numbers."""
    mine, theirs = item.wording, other.wording
    return len(mine & theirs) >= _COPY * max(1, min(len(mine), len(theirs)))
