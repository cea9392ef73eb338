"""The settings of how far retrieval adapts to a question."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ClassPlan(BaseModel):
    """How much a question of one complexity class may retrieve."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int = Field(ge=1, le=50, description="Passages for the answer.")
    Q: int = Field(ge=0, le=20, description="Sub-queries.")
    K: int = Field(ge=0, le=20, description="Knowledge-graph keywords.")
    S: int = Field(ge=0, le=5, description="Knowledge-graph path length.")


class AdaptSettings(BaseModel):
    """Which signal sets k, and the plan of every class."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    adapt_k: Literal["classifier", "scores", "none"] = Field(
        default="classifier",
        description="What sets k in hypa and pa: the question's class (HyPA-RAG), the scores of "
        "the reranked candidates, or nothing (5 for every question).",
    )
    min_passage_share: float = Field(
        default=0.05,
        gt=0.0,
        le=1.0,
        description="adapt_k=scores: a passage is taken while it holds this share of all "
        "candidates' weight.",
    )
    max_k: int = Field(
        default=10, ge=1, le=50, description="adapt_k=scores: the most passages taken."
    )
    plans: tuple[ClassPlan, ...] | None = Field(
        default=None,
        description="k, Q, K and S of every class, simplest first, in place of tables 6 and 7 of "
        "HyPA-RAG; as many as there are classes.",
    )
