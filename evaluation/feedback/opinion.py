"""What one person thinks of one answer, with what led to the answer."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.settings import Settings
from lexloop.core.types import Citation, Turn

Vote = Literal["up", "down"]
SCORES = ("answer_relevance", "context_relevance", "groundedness")
MOST_COMMENT_CHARS = 10_000


class Opinion(BaseModel):
    """A thumb up or down for one answer (HyPA-RAG figure 4), and what it was given for.

    ``answer_id`` names the answer: a second opinion under the same id replaces the first.
    ``contexts`` are the texts of the passages that the answer was written from, ``at`` is when the
    opinion was given, in UTC. Of the settings only names are kept: no address and no key.
    """

    model_config = ConfigDict(frozen=True)

    answer_id: str = Field(min_length=1)
    vote: Vote
    comment: str = Field(default="", max_length=MOST_COMMENT_CHARS)
    question: str
    standalone: str
    history: list[Turn] = []
    answer: str
    abstained: bool
    citations: list[Citation]
    contexts: list[str]
    scores: dict[str, float | None]
    variant: str
    corpus: str
    model: str | None
    at: datetime


def opinion_on(
    state: Mapping[str, Any],
    settings: Settings,
    vote: Vote,
    comment: str = "",
    at: datetime | None = None,
) -> Opinion:
    """The opinion on the answer in a graph's working state.

    Args:
        state: The state after a question.
        settings: What the question was answered with.
        vote: Thumb up or down.
        comment: In the person's own words; what is beyond ``MOST_COMMENT_CHARS`` is cut off.
        at: When; None for now.
    """
    evaluation = state["evaluation"]
    return Opinion(
        answer_id=state["turn_id"],
        vote=vote,
        comment=comment.strip()[:MOST_COMMENT_CHARS],
        question=state["asked"],
        standalone=state["standalone"],
        history=state["history"],
        answer=state["answer"],
        abstained=state["abstained"],
        citations=state["citations"],
        contexts=[passage["text"] for passage in state["passages"]],
        scores={name: evaluation[name] for name in SCORES},
        variant=settings.variant,
        corpus=settings.corpus,
        model=settings.model.name,
        at=(at or datetime.now(UTC)).replace(microsecond=0),
    )
