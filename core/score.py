"""A score, or why there is none: no metric is ever NaN, and none is made up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard


@dataclass(frozen=True)
class Unresolved:
    """There is no score.

    Args:
        reason: Why, for whoever reads the table: a missing field, a judge that gave no reply.
    """

    reason: str


Score = float | Unresolved


def is_resolved(score: Score) -> TypeGuard[float]:
    """Whether there is a number."""
    return not isinstance(score, Unresolved)


def resolved(scores: Iterable[Score]) -> list[float]:
    """The numbers among the scores, in their order."""
    return [score for score in scores if is_resolved(score)]


def as_json(score: Score) -> float | dict[str, str]:
    """A number, or ``{"unresolved": reason}``."""
    return {"unresolved": score.reason} if isinstance(score, Unresolved) else float(score)


def from_json(value: Any) -> Score:
    """What ``as_json`` gave, as a score again.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, dict) and isinstance(value.get("unresolved"), str):
        return Unresolved(value["unresolved"])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{value!r} is no score")
