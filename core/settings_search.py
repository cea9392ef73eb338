"""The settings of one search: which documents, and how the signals are fused."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Tag = Annotated[str, Field(min_length=1, max_length=200)]


class SearchSettings(BaseModel):
    """Filters and fusion."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allowed_tags: tuple[Tag, ...] = Field(
        default=(),
        description="Access tags of whoever asks; documents with other tags are never searched, "
        "documents without tags are public.",
    )
    as_of: str = Field(
        default="today",
        pattern=r"^(any|today|\d{4}-\d{2}-\d{2})$",
        description="Answer from the law in force on this day (YYYY-MM-DD), today, or any day.",
    )
    jurisdictions: tuple[Tag, ...] = Field(
        default=(), description="Only documents of these jurisdictions; none for all."
    )
    source_kinds: tuple[Literal["statute", "rule", "guidance", "case"], ...] = Field(
        default=(), description="Only these kinds of sources; none for all."
    )
    hosts: tuple[Tag, ...] = Field(
        default=(), description="Only documents of these publishers' hosts; none for all."
    )
    fusion: Literal["standardised", "linear", "rrf", "weighted_rrf"] = Field(
        default="standardised",
        description="How the signals are fused; standardised alone reads token vectors.",
    )
    fusion_level: Literal["chunk", "document"] = Field(
        default="chunk",
        description="document ranks the best documents first and takes chunks of these alone.",
    )
    fusion_documents: int = Field(
        default=3, ge=1, le=100, description="How many documents document-level fusion keeps."
    )
    rrf_k: int = Field(
        default=60, ge=1, le=1000, description="The constant of reciprocal rank fusion."
    )
    lexical_weight: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="BM25's weight in weighted_rrf; the vectors have the rest.",
    )
    normalisation: Literal["max", "minmax", "none"] = Field(
        default="max",
        description="How BM25 is scaled in linear fusion; none is the paper's raw score.",
    )
    bm25_boost: float = Field(
        default=0.4, ge=0.0, le=10.0, description="Weight of BM25 in linear fusion."
    )
    host_boost: float = Field(
        default=0.0, ge=0.0, le=10.0, description="Weight of a source's authority in linear fusion."
    )
    host_scores: dict[str, Annotated[float, Field(ge=0.0, le=1.0)]] = Field(
        default={"statute": 1.0, "rule": 0.75, "case": 0.5, "guidance": 0.25},
        description="The authority of a kind of source or of a publisher's host, from 0 to 1.",
    )
    max_statements: int = Field(
        default=4, ge=1, le=50, description="How many statements the embedded generator quotes."
    )
    max_statement_words: int = Field(
        default=300,
        ge=1,
        le=20_000,
        description="How many words those statements may have together; the first is quoted whole.",
    )
    max_answer_words: int = Field(
        default=800,
        ge=20,
        le=20_000,
        description="How many words of provisions the embedded generator quotes whole; what it "
        "leaves out it names.",
    )
    candidates: int = Field(
        default=30, ge=1, le=500, description="Fused chunks that go to the reranker; k come out."
    )
