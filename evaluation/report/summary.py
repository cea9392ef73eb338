"""A run as figures: the same for the same records, on whatever machine and day it was run.

Only its timings are apart, since no two runs take equally long.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from typing_extensions import TypedDict

from lexloop.evaluation.metrics.cost import Cost, class_name, cost, loop_account, retry_share
from lexloop.evaluation.record import About, Record, RefusalRecord, RunInfo, VariantInfo
from lexloop.evaluation.report.figures import (
    Figure,
    figure,
    figures,
    metric_names,
    of_score,
    rounded,
    score_of,
)
from lexloop.evaluation.score import is_resolved
from lexloop.evaluation.statistics import mean, paired, paired_randomisation

Key = Callable[[Record], str]


class GroupSummary(TypedDict):
    """Some questions under a variant, such as those of one type."""

    questions: int
    metrics: dict[str, Figure]
    cost: Cost


class RefusalSummary(TypedDict):
    """The number of negative queries that a variant refused, in all and of each kind."""

    queries: int
    refused: int
    share: Figure
    by_kind: dict[str, dict[str, int]]


class VariantSummary(VariantInfo, GroupSummary):
    """One variant of a run.

    ``failed`` questions were not answered; ``errors`` counts them by reason. ``degradations``
    counts the steps that ran with less than was asked for, ``degraded`` the questions they are of.
    """

    failed: int
    errors: dict[str, int]
    degraded: int
    degradations: dict[str, int]
    warned: int
    by_type: dict[str, GroupSummary]
    by_class: dict[str, GroupSummary]
    loop: dict[str, Any]
    refused: RefusalSummary | None


class Summary(About):
    """A whole run, without the seconds that it took: those are in its ``Timings``."""

    variants: list[VariantSummary]


class TimeSummary(TypedDict):
    """Wall time of some questions, in seconds; the first four are None where none was answered.

    ``retries`` is the part of the total that falls on attempts after the first, each attempt of a
    question bearing an equal part: single attempts are not timed.
    """

    mean: Figure
    median: float | None
    p90: float | None
    worst: float | None
    total: float
    retries: float


class VariantTimings(TypedDict):
    """Wall time of one variant."""

    name: str
    seconds: TimeSummary
    by_type: dict[str, TimeSummary]
    by_class: dict[str, TimeSummary]


class Timings(TypedDict):
    """Wall time of every variant of a run."""

    variants: list[VariantTimings]


def summarise(
    records: Sequence[Record], info: RunInfo, refusals: Sequence[RefusalRecord] = ()
) -> Summary:
    """Return every figure of a run.

    Each variant is compared, question by question, with the first one that has records.

    Args:
        records: In any order.
        info: Its variants come out in its order, also those without a record.
        refusals: What became of the negative queries.
    """
    own = {variant["name"]: _own(records, variant["name"]) for variant in info["variants"]}
    first = next(filter(None, own.values()), [])
    made = [
        _variant(
            variant,
            own[variant["name"]],
            first,
            [one for one in refusals if one["variant"] == variant["name"]],
        )
        for variant in info["variants"]
    ]
    return {**info, "variants": made}


def timings(records: Sequence[Record], info: RunInfo) -> Timings:
    """Return the wall time of each variant; questions that failed are left out."""
    made: list[VariantTimings] = []
    for variant in info["variants"]:
        own = [one for one in _own(records, variant["name"]) if not one.get("error")]
        by_type, by_class = (
            {name: _times(group) for name, group in _groups(own, key).items()} for key in _KEYS
        )
        seconds = _times(own)
        made.append(
            {"name": variant["name"], "seconds": seconds, "by_type": by_type, "by_class": by_class}
        )
    return {"variants": made}


def _own(records: Sequence[Record], name: str) -> list[Record]:
    """Those of one variant; sorted, since resamples draw by place."""
    return sorted((r for r in records if r["variant"] == name), key=lambda record: record["id"])


def _variant(
    variant: VariantInfo,
    records: Sequence[Record],
    first: Sequence[Record],
    refusals: Sequence[RefusalRecord],
) -> VariantSummary:
    names = metric_names(records)
    metrics = _metrics(records, names)
    if first and first is not records:
        _compare(first, records, metrics)
    by_type, by_class = (
        {name: _group(group, names) for name, group in _groups(records, key).items()}
        for key in _KEYS
    )
    return {
        "name": variant["name"],
        "source": variant["source"],
        "settings": variant["settings"],
        "questions": len(records),
        "failed": sum(bool(record.get("error")) for record in records),
        "errors": _counted(record.get("error", "") for record in records),
        "degraded": sum(bool(record["degraded"]) for record in records),
        "degradations": _counted(
            f"{step['node']}: {step['wanted']} -> {step['used']}"
            for record in records
            for step in record["degraded"]
        ),
        "warned": sum(bool(record["warning"]) for record in records),
        "metrics": metrics,
        "by_type": by_type,
        "by_class": by_class,
        "cost": cost(records),
        "loop": {name: of_score(value) for name, value in loop_account(records).items()},
        "refused": _refused(refusals),
    }


def _metrics(records: Sequence[Record], names: Iterable[str]) -> dict[str, Figure]:
    return figures({name: [score_of(record, name) for record in records] for name in names})


def _compare(first: Sequence[Record], own: Sequence[Record], metrics: dict[str, Figure]) -> None:
    """Add to each figure how the variant differs from the first one, question by question."""
    known = {record["id"]: record for record in first}
    pairs = [(known[record["id"]], record) for record in own if record["id"] in known]
    for name in set(metric_names(first)) & metrics.keys():
        theirs, ours = ([score_of(pair[side], name) for pair in pairs] for side in (0, 1))
        p = paired_randomisation(ours, theirs)
        gaps, _ = paired(theirs, ours, pairs)
        metrics[name]["difference"] = rounded(mean(gaps)) if gaps else None
        metrics[name]["p"] = rounded(p) if is_resolved(p) else None


def _type_name(record: Record) -> str:
    return record["question_type"]


_KEYS: tuple[Key, Key] = (_type_name, class_name)
_UNNAMED = "(none)"


def _groups(records: Iterable[Record], key: Key) -> dict[str, list[Record]]:
    """The records of each group, the groups in the order of their names."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record) or _UNNAMED, []).append(record)
    return dict(sorted(groups.items()))


def _group(records: Sequence[Record], names: Iterable[str]) -> GroupSummary:
    metrics = _metrics(records, names)
    for made in metrics.values():
        made.pop("reasons", None)
    return {"questions": len(records), "metrics": metrics, "cost": cost(records)}


def _refused(refusals: Sequence[RefusalRecord]) -> RefusalSummary | None:
    if not refusals:
        return None
    kinds: dict[str, dict[str, int]] = {}
    for one in sorted(refusals, key=lambda refusal: refusal["kind"]):
        kind = kinds.setdefault(one["kind"] or _UNNAMED, {"queries": 0, "refused": 0})
        kind["queries"] += 1
        kind["refused"] += one["abstained"]
    ordered = sorted(refusals, key=lambda refusal: refusal["id"])
    return {
        "queries": len(refusals),
        "refused": sum(one["abstained"] for one in refusals),
        "share": figure([float(one["abstained"]) for one in ordered]),
        "by_kind": kinds,
    }


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(filter(None, reasons)).items()))


def _times(records: Sequence[Record]) -> TimeSummary:
    import numpy as np

    taken = [record["seconds"] for record in records]
    median, p90, worst = (
        map(rounded, np.percentile(taken, [50, 90, 100])) if taken else (None, None, None)
    )
    return {
        "mean": figure(taken),
        "median": median,
        "p90": p90,
        "worst": worst,
        "total": rounded(sum(taken)),
        "retries": rounded(sum(r["seconds"] * retry_share(r) for r in records)),
    }
