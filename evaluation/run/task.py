"""What is handed to a worker process, as JSON; what comes back is a ``Record`` without its row."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


class Negative(BaseModel):
    """A query that must be refused."""

    model_config = ConfigDict(frozen=True)

    query: str = Field(min_length=1, pattern=r"\S")
    id: str = ""
    kind: str = ""


class Way(TypedDict):
    """A distinct way of answering: all settings, and whether the evidence is taken out."""

    settings: dict[str, Any]
    closed: bool


class Plan(TypedDict):
    """All that a worker needs to know at its start.

    ``gold`` and ``negative`` hold what ``model_dump`` gives of each. ``judge`` holds the settings
    of the model that judges, None without one.
    """

    ways: list[Way]
    gold: list[dict[str, Any]]
    negative: list[dict[str, Any]]
    judge: dict[str, Any] | None
    base_url: str | None


class Task(TypedDict):
    """One question or one negative query, by its place, under one way, by its place."""

    kind: Literal["gold", "negative"]
    way: int
    item: int
