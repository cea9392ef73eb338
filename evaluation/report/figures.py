"""Scores of a group of records as figures with intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from lexloop.evaluation.record import Record
from lexloop.evaluation.score import Score, Unresolved, from_json
from lexloop.evaluation.statistics import Estimate, estimates

_DECIMALS = 6
COSTS = ("context_tokens", "model_calls", "tokens_in", "tokens_out", "retries")
"""What a question costs, known even where it failed."""
SECONDS = "seconds"
_OWN = ("passed", "abstained")


class Figure(TypedDict):
    """A mean with its 95 % bootstrap interval; all three are None when nothing is resolved.

    ``n`` counts the resolved scores and ``unresolved`` the others; ``reasons`` counts these by
    reason, and is left out of the groups of a variant, which would only repeat it.
    ``difference`` and ``p`` compare a variant with the run's first: the mean difference over the
    questions that both resolved, and its paired randomisation test.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    unresolved: int
    reasons: NotRequired[dict[str, int]]
    difference: NotRequired[float | None]
    p: NotRequired[float | None]


def figure(scores: Sequence[Score]) -> Figure:
    """Return the scores' mean with its interval, and why some have none."""
    return figures({"": scores})[""]


def figures(columns: Mapping[str, Sequence[Score]]) -> dict[str, Figure]:
    """Return the ``figure`` of every column, under its name."""
    made: dict[str, Figure] = {}
    found = estimates(list(columns.values()))
    for (name, scores), one in zip(columns.items(), found, strict=True):
        reasons = Counter(score.reason for score in scores if isinstance(score, Unresolved))
        made[name] = of_estimate(one)
        made[name]["unresolved"] = reasons.total()
        made[name]["reasons"] = dict(sorted(reasons.items()))
    return made


def of_estimate(estimated: Estimate | Unresolved) -> Figure:
    """Return an estimate as a figure; one without a value keeps its reason."""
    if isinstance(estimated, Unresolved):
        nothing: Figure = {"mean": None, "low": None, "high": None, "n": 0, "unresolved": 0}
        return {**nothing, "reasons": {estimated.reason: 1}}
    return {
        "mean": rounded(estimated.mean),
        "low": rounded(estimated.low),
        "high": rounded(estimated.high),
        "n": estimated.n,
        "unresolved": estimated.unresolved,
        "reasons": {},
    }


def of_score(value: Estimate | Score) -> Figure | float:
    """Return an estimate, or what has no value, as a figure, and a plain number rounded."""
    if isinstance(value, Estimate | Unresolved):
        return of_estimate(value)
    return value if isinstance(value, int) else rounded(value)


def score_of(record: Record, name: str) -> Score:
    """Return one metric of a record, its seconds, or what it cost.

    A question that failed has only costs.
    """
    if name in COSTS:
        return float(costs(record)[name])
    if record.get("error"):
        return Unresolved("the question failed")
    if name in record["metrics"]:
        return from_json(record["metrics"][name])
    if name in (*_OWN, SECONDS):
        return float(cast("dict[str, Any]", record)[name])
    return Unresolved("not measured")


def costs(record: Record) -> dict[str, int]:
    """Return what a question cost, known even where it failed; wall time is kept apart."""
    return {
        "context_tokens": record["context_tokens"],
        "model_calls": record["model_calls"],
        "tokens_in": record["tokens_in"],
        "tokens_out": record["tokens_out"],
        "retries": max(0, len(record["attempts"]) - 1),
    }


def metric_names(records: Iterable[Record]) -> list[str]:
    """Return every metric that some record has, in the order of their first appearance."""
    named = (name for record in records for name in record["metrics"])
    return list(dict.fromkeys([*named, *_OWN, *COSTS]))


def rounded(value: float) -> float:
    """Return six decimals: more would differ between machines, by the order of their additions."""
    # adding 0 turns a negative zero into zero
    return round(float(value), _DECIMALS) + 0.0
