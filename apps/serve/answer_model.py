"""The schema of an answer, for those who write clients."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from lexloop.core.types import (
    Attempt,
    Candidate,
    Citation,
    Degradation,
    Finding,
    Passage,
    Plan,
    Reading,
    Reasoning,
    Triplet,
    Usage,
)


class Verdict(BaseModel):
    """What an answer is worth, in words; ``probability`` is calibrated."""

    head: str
    words: list[str]
    probability: float | None
    checked: list[str]


class Relation(Triplet):
    """A relation, and how its predicate reads."""

    reads: str


class Scores(BaseModel):
    """The scores of the triad, from 0 to 1; None where one could not be resolved."""

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None


class Feedback(BaseModel):
    """What was thought of an answer."""

    vote: str
    comment: str


class Answer(BaseModel):
    """An answer with its sources, its verdict, and how it came about.

    Offsets are code points into a document's extracted text, half-open. Numbers of ``citations``
    are those of the markers in ``answer``. ``thread`` is null where the caller keeps it;
    ``steps`` are as they were told while it was made.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    thread: str | None
    at: str
    collections: list[str]
    as_of: str
    question: str
    answer: str
    abstained: bool
    finding: Finding
    near: list[Citation]
    answers: float | None
    passed: bool
    warning: str
    read_as: list[Reading]
    citations: list[Citation]
    citations_verified: bool
    scores: Scores
    reasons: list[str]
    verdict: Verdict
    retries: int
    complexity: int | None
    probabilities: list[float] | None
    plan: Plan | None
    standalone: str
    queries: list[str]
    keywords: list[str]
    passages: list[Passage]
    triplets: list[Relation]
    attempts: list[Attempt]
    degraded: list[Degradation]
    usage: Usage
    variant: str
    corpus: str
    model: str | None
    hosts: list[str]
    candidates: list[Candidate]
    graph_candidates: list[Candidate]
    reasoning: list[Reasoning]
    steps: list[dict[str, Any]] = []
    feedback: Feedback | None = None


EVENTS: dict[str, Any] = {
    "schema": {"type": "string"},
    "example": "event: begin\r\ndata: {...}\r\n\r\nevent: step\r\ndata: {...}\r\n\r\n"
    "event: token\r\ndata: {...}\r\n\r\nevent: answer\r\ndata: {...}\r\n\r\n",
}
"""The answer as events: ``begin``, ``step`` and ``token``, then ``answer`` or ``error``."""
