"""What a chat model is asked with, beside the prompt."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class ModelSettings(BaseModel):
    """Sampling and limits of a model's reply. Unset, each is left to the provider.

    One that the model's provider has no place for is an error; one that its host refuses is left
    out of every further call to that model and listed in `degraded`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(
        default=None,
        ge=0.0,
        le=2.0,
        description="Sampling temperature. Unset: 0, and the provider's own where top_p is set or "
        "the model takes no other, as OpenAI's reasoning models.",
    )
    top_p: float | None = Field(
        default=None, gt=0.0, le=1.0, description="Share of the likeliest tokens to sample from."
    )
    seed: int | None = Field(
        default=None, ge=0, lt=2**31, description="Seed of the sampling, where the host keeps one."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="The most tokens of one reply, its reasoning included."
    )
    num_ctx: int | None = Field(
        default=None, ge=1, description="Context window in tokens, for the provider ollama."
    )
    reasoning_effort: ReasoningEffort | None = Field(
        default=None, description="How long a reasoning model thinks; models know some of these."
    )

    @property
    def asked_with(self) -> dict[str, Any]:
        """The settings of this group that are set, by name."""
        return {
            name: value
            for name in ModelSettings.model_fields
            if (value := getattr(self, name)) is not None
        }
