"""Scores that may be unresolved. Metrics are never NaN and never made up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard


@dataclass(frozen=True)
class Unresolved:
    """A score that could not be computed.

    Args:
        reason: The reason, for readers of the table: a missing field, or a judge without a reply.
    """

    reason: str


Score = float | Unresolved


def is_resolved(score: Score) -> TypeGuard[float]:
    """Return whether a score is a number."""
    return not isinstance(score, Unresolved)


def resolved(scores: Iterable[Score]) -> list[float]:
    """Return the numbers among the scores, in their order."""
    return [score for score in scores if is_resolved(score)]


def as_json(score: Score) -> float | dict[str, str]:
    """Return a number, or ``{"unresolved": reason}``."""
    return {"unresolved": score.reason} if isinstance(score, Unresolved) else float(score)


def from_json(value: Any) -> Score:
    """Return the score for a value from ``as_json``.

    Raises:
        ValueError: It is not such a value.
    """
    if isinstance(value, dict) and isinstance(value.get("unresolved"), str):
        return Unresolved(value["unresolved"])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{value!r} is not a score")
