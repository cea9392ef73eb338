"""Scores of a group of records as figures with intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from lexloop.core.score import Score, Unresolved, from_json
from lexloop.evaluation.metrics.cost import costs
from lexloop.evaluation.record import Record
from lexloop.evaluation.statistics import Estimate, estimates

_DECIMALS = 6
_NOT_MEASURED = Unresolved("not measured")
_FAILED = Unresolved("the question failed")
COSTS = ("context_tokens", "model_calls", "tokens_in", "tokens_out", "retries")
"""What a question costs, known even where it failed."""
_OWN = ("passed", "abstained", *COSTS)


class Figure(TypedDict):
    """A mean with its 95 % bootstrap interval; all three are None when nothing is resolved.

    ``n`` counts the resolved scores and ``unresolved`` the others; ``reasons`` counts these by
    reason, and is left out of the groups of a row, which would only repeat it.
    ``difference`` and ``p`` compare a row with the run's first: the mean difference over the
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
    """The scores' mean with its interval, and why some have none."""
    return figures({"": scores})[""]


def figures(columns: Mapping[str, Sequence[Score]]) -> dict[str, Figure]:
    """``figure`` of every column, under its name."""
    made: dict[str, Figure] = {}
    found = estimates(list(columns.values()))
    for (name, scores), one in zip(columns.items(), found, strict=True):
        reasons = Counter(score.reason for score in scores if isinstance(score, Unresolved))
        made[name] = of_estimate(one)
        made[name]["unresolved"] = reasons.total()
        made[name]["reasons"] = dict(sorted(reasons.items()))
    return made


def of_estimate(estimated: Estimate | Unresolved) -> Figure:
    """An estimate as a figure; one without a value keeps its reason."""
    made: Figure = {
        "mean": None,
        "low": None,
        "high": None,
        "n": 0,
        "unresolved": 0,
        "reasons": {},
    }
    if isinstance(estimated, Unresolved):
        made["reasons"] = {estimated.reason: 1}
        return made
    made["mean"], made["low"] = rounded(estimated.mean), rounded(estimated.low)
    made["high"] = rounded(estimated.high)
    made["n"], made["unresolved"] = estimated.n, estimated.unresolved
    return made


def score_of(record: Record, name: str) -> Score:
    """One metric of a record, or what it cost; a question that failed has no metric."""
    if name in COSTS:
        return float(costs(record)[name])
    if record.get("error"):
        return _FAILED
    if name in record["metrics"]:
        return from_json(record["metrics"][name])
    if name == "passed":
        return float(record["passed"])
    if name == "abstained":
        return float(record["abstained"])
    return _NOT_MEASURED


def metric_names(records: Iterable[Record]) -> list[str]:
    """Every metric that some record has, in the order of their first appearance."""
    return list(dict.fromkeys([*(name for r in records for name in r["metrics"]), *_OWN]))


def rounded(value: float) -> float:
    """Six decimals: more would differ between machines, by the order of their additions."""
    # adding 0 turns a negative zero into zero
    return round(float(value), _DECIMALS) + 0.0
