"""Settings, validated once at the edge, and the connection, which never enters a trace.

``Settings`` is the graph's context schema: Studio shows each field with its description and
choices. Where a model is reached and with which key lives in ``Connection``: a caller of a served
graph must not be able to send the server's key to a host of their choosing, and no secret may
land in a checkpoint.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from lexloop.core.errors import SettingsError
from lexloop.core.settings_adapt import AdaptSettings
from lexloop.core.settings_index import SAMPLE_CORPUS, IndexSettings
from lexloop.core.settings_model import ModelSettings
from lexloop.core.settings_search import SearchSettings

Variant = Literal["hypa", "pa", "fixed", "llm_only"]

_MOST_SHOWN = 200

__all__ = ["SAMPLE_CORPUS", "Connection", "Settings", "Variant", "settings_error"]


class Settings(AdaptSettings, SearchSettings, IndexSettings, ModelSettings):
    """How a question is answered. Every field has a default that needs no key and no network."""

    model: str | None = Field(
        default=None,
        description="Chat model as `provider:name`, for example `openai:gpt-4o-mini`, or one of "
        "this machine as `local:FOLDER`. Without one, every step runs embedded.",
    )
    fallback: bool = Field(
        default=False,
        description="When the model or the embedder fails, let the embedded implementation answer "
        "instead; what it stood in for is listed in `degraded`.",
    )
    deadline_s: float = Field(
        default=120.0, gt=0.0, le=3600.0, description="Wall-clock seconds one question may take."
    )
    model_attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often one model call may be tried, the first included.",
    )
    max_question_chars: int = Field(
        default=4000, ge=1, le=100_000, description="The longest question accepted, in characters."
    )

    variant: Variant = Field(
        default="hypa",
        description="hypa: adaptive, with the knowledge graph; pa: without it; fixed: k chunks, "
        "no rewriting, graph or reranker; llm_only: no retrieval and no citations.",
    )
    classes: Literal[2, 3] = Field(default=3, description="Complexity classes of the classifier.")
    k: int | None = Field(
        default=None, ge=1, le=50, description="Fix k, the passages for the answer."
    )
    Q: int | None = Field(default=None, ge=0, le=20, description="Fix Q, the sub-queries.")
    K: int | None = Field(
        default=None, ge=0, le=20, description="Fix K, the knowledge-graph keywords."
    )
    S: int | None = Field(
        default=None, ge=0, le=5, description="Fix S, the knowledge-graph path length."
    )

    classifier: Literal["embedded", "transformer", "zero_shot"] = Field(
        default="embedded", description="Which complexity classifier."
    )
    classifier_model: str | None = Field(
        default=None,
        description="Folder or hub id of the transformer or zero-shot classifier, or the folder of "
        "an embedded one that was trained on other questions.",
    )
    min_class_probability: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Below this probability the classifier takes the middle class.",
    )
    rewriter: Literal["auto", "embedded", "model", "none"] = Field(
        default="auto", description="Query rewriting; auto uses the model where one is configured."
    )
    knowledge_graph: Literal["embedded", "none"] = Field(
        default="embedded", description="Whether the knowledge graph is searched."
    )
    reranker: Literal["embedded", "cross_encoder", "none"] = Field(
        default="embedded",
        description="How candidates are reordered before the k passages are taken.",
    )
    reranker_model: str = Field(
        default="BAAI/bge-reranker-large", description="Cross-encoder, as in HyPA-RAG section 8.4."
    )
    generator: Literal["auto", "embedded", "model"] = Field(
        default="auto", description="Who writes the answer: extracted sentences or the model."
    )
    evaluator: Literal["auto", "embedded", "model", "none"] = Field(
        default="auto", description="Who judges the answer; none takes the first attempt unjudged."
    )
    prompt_engineer: Literal["auto", "embedded", "model"] = Field(
        default="auto", description="Who rewords the question after a low score."
    )

    min_answers: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Pass mark for how likely an extracted answer is to answer the question; the "
        "marks for relevance are for those of which nobody says that.",
    )
    min_answer_relevance: float = Field(
        default=0.22,
        ge=0.0,
        le=1.0,
        description="Pass mark for answer relevance: one in twenty answers that belong to their "
        "question scored lower where the embedded judge was calibrated.",
    )
    min_context_relevance: float = Field(
        default=0.25,
        ge=0.0,
        le=1.0,
        description="Pass mark for context relevance: one in twenty sets of passages that hold "
        "the evidence scored lower where the embedded judge was calibrated.",
    )
    min_groundedness: float = Field(
        default=0.7,
        ge=0.0,
        le=1.0,
        description="Pass mark for groundedness: the strict end of the marks that told grounded "
        "answers from others about equally well where the embedded judge was calibrated.",
    )
    max_retries: int = Field(
        default=2, ge=0, le=5, description="How often a low-scoring answer is tried again."
    )
    max_prompt_similarity: float = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        description="An answer more similar to the system prompt than this is withheld.",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _raise_ours(cls, data: Any, handler: Any) -> Self:
        """Turn pydantic's report into one SettingsError that names the allowed values."""
        try:
            checked: Self = handler(data)
        except ValidationError as error:
            raise settings_error(error) from error
        if checked.classifier != "embedded" and not checked.classifier_model:
            raise SettingsError(
                f"classifier is {checked.classifier!r}, but classifier_model is not set.",
                "Name the folder or hub id of the classifier, or use classifier='embedded'.",
            )
        checked._refuse_contradictions()
        return checked

    def _refuse_contradictions(self) -> None:
        """What no single field can see.

        Raises:
            SettingsError: The day does not exist, neighbours would share whole chunks, or the
                plans are not one a class.
        """
        if self.as_of not in ("any", "today"):
            try:
                date.fromisoformat(self.as_of)
            except ValueError as error:
                raise SettingsError(f"as_of is {self.as_of!r}: {error}.", "Give a day.") from error
        for overlap, size in (
            ("chunk_overlap", "chunk_tokens"),
            ("chunk_chars_overlap", "chunk_chars"),
        ):
            if getattr(self, overlap) >= getattr(self, size):
                raise SettingsError(
                    f"{overlap} ({getattr(self, overlap)}) is not below {size} "
                    f"({getattr(self, size)}).",
                    "Let neighbouring chunks share less than a chunk.",
                )

        if self.plans is not None and len(self.plans) != self.classes:
            raise SettingsError(
                f"plans has {len(self.plans)} rows and classes is {self.classes}.",
                "Give one row of k, Q, K and S for each class, simplest first.",
            )

    @property
    def k_by_scores(self) -> bool:
        """Whether the candidates' scores say how many of them are taken."""
        adaptive = self.variant in ("hypa", "pa")
        return adaptive and self.adapt_k == "scores" and self.k is None

    def __hash__(self) -> int:
        """By content, a mapping among the fields notwithstanding."""
        return hash(self.model_dump_json())

    def changed(self, **changes: Any) -> Self:
        """A validated copy with some fields changed."""
        return type(self)(**{**self.model_dump(), **changes})


class Connection(BaseModel):
    """Where chat and embedding models are reached: process-wide, never part of a run's context.

    It serves the provider ``openai`` and hosts that are compatible with it; other providers read
    their own environment variables.

    Args:
        base_url: An OpenAI-compatible endpoint; None for the provider's own.
        api_key: The key; None leaves it to the provider's environment variable.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    api_key: SecretStr | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read ``LEXLOOP_BASE_URL`` and ``LEXLOOP_API_KEY``.

        Raises:
            SettingsError: The URL is no http(s) URL.
        """
        try:
            return cls(
                base_url=environ.get("LEXLOOP_BASE_URL") or None,
                api_key=SecretStr(key) if (key := environ.get("LEXLOOP_API_KEY")) else None,
            )
        except ValidationError as error:
            raise settings_error(error) from error


def settings_error(error: ValidationError) -> SettingsError:
    """Say which setting was wrong, what it was and what it may be."""
    problems = [
        f"{'.'.join(map(str, item['loc'])) or 'settings'} is {_shown(item.get('input'))}: "
        f"{item['msg']}."
        for item in error.errors(include_url=False)
    ]
    return SettingsError(" ".join(problems), "Correct the setting and run again.")


def _shown(value: object) -> str:
    """The value as Python writes it, cut where it is long."""
    try:
        written = repr(value)
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        return "a number of thousands of digits"
    return written if len(written) <= _MOST_SHOWN else f"{written[:_MOST_SHOWN]}…"
