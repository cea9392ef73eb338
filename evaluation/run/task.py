"""What is handed to a worker process, as JSON; what comes back is a ``Record`` without its row."""

from typing import Any, Literal

from typing_extensions import TypedDict

from lexloop.evaluation.case import Case
from lexloop.evaluation.record import Record


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


def unanswered(gold: Case, error: str) -> Record:
    """The record of a question that was not answered; no error, no such field."""
    record: Record = {
        "row": "",
        "id": gold.id,
        "question_type": gold.question_type,
        "question": gold.question,
        "complexity": None,
        "answer": "",
        "abstained": False,
        "passed": False,
        "warning": "",
        "citations": [],
        "passages": [],
        "attempts": [],
        "degraded": [],
        "metrics": {},
        "model_calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "context_tokens": 0,
        "seconds": 0.0,
    }
    if error:
        record["error"] = error
    return record
