"""Scores that may be unresolved: no metric is ever NaN, and none is made up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard


@dataclass(frozen=True)
class Unresolved:
    """A score that could not be computed.

    Args:
        reason: Why, for whoever reads the table: a missing field, a judge that gave no reply.
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
    """Return the score of which ``as_json`` made a value.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, dict) and isinstance(value.get("unresolved"), str):
        return Unresolved(value["unresolved"])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{value!r} is no score")
