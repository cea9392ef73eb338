"""A run as figures: the same for the same records, on whatever machine and day it was run.

Only its timings are apart, since no two runs take equally long.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from lexloop.evaluation.metrics.cost import Cost, class_name, cost, loop_account, retry_share
from lexloop.evaluation.record import Record, RefusalRecord, RunInfo, SkippedVariant, VariantInfo
from lexloop.evaluation.report.figures import (
    Figure,
    figure,
    figures,
    metric_names,
    of_estimate,
    rounded,
    score_of,
)
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import Estimate, paired_randomisation

_UNNAMED = "(none)"


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


class Summary(TypedDict):
    """A whole run, without the seconds that it took: those are in its ``Timings``."""

    gold: str
    gold_sha256: str
    questions: int
    corpus: str
    corpus_sha256: str
    model: str | None
    judge: str | None
    version: str
    commit: str
    variants: list[VariantSummary]
    skipped: list[SkippedVariant]


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


@dataclass(frozen=True)
class _Scored:
    """The records of a variant by id, and each metric's scores in their order."""

    records: list[Record]
    columns: dict[str, list[Score]]


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
    scored = {variant["name"]: _scored(records, variant["name"]) for variant in info["variants"]}
    first = next((own for own in scored.values() if own.records), None)
    return {
        "gold": info["gold"],
        "gold_sha256": info["gold_sha256"],
        "questions": info["questions"],
        "corpus": info["corpus"],
        "corpus_sha256": info["corpus_sha256"],
        "model": info["model"],
        "judge": info["judge"],
        "version": info["version"],
        "commit": info["commit"],
        "variants": [
            _variant(
                variant,
                scored[variant["name"]],
                first,
                [one for one in refusals if one["variant"] == variant["name"]],
            )
            for variant in info["variants"]
        ],
        "skipped": info["skipped"],
    }


def timings(records: Sequence[Record], info: RunInfo) -> Timings:
    """Return the wall time of each variant; questions that failed are left out."""
    return {
        "variants": [_variant_timings(variant["name"], records) for variant in info["variants"]]
    }


def _own(records: Sequence[Record], name: str) -> list[Record]:
    """Those of one variant; sorted, since resamples draw by place."""
    return sorted((r for r in records if r["variant"] == name), key=lambda record: record["id"])


def _scored(records: Sequence[Record], name: str) -> _Scored:
    own = _own(records, name)
    columns = {name: [score_of(record, name) for record in own] for name in metric_names(own)}
    return _Scored(own, columns)


def _variant(
    variant: VariantInfo, scored: _Scored, first: _Scored | None, refusals: Sequence[RefusalRecord]
) -> VariantSummary:
    records = scored.records
    metrics = figures(scored.columns)
    if first is not None and first is not scored:
        _compare(first, scored, metrics)
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
        "by_type": _groups(scored, _type_name),
        "by_class": _groups(scored, class_name),
        "cost": cost(records),
        "loop": {name: _plain(value) for name, value in vars(loop_account(records)).items()},
        "refused": _refused(refusals),
    }


def _compare(first: _Scored, scored: _Scored, metrics: dict[str, Figure]) -> None:
    """Add to each figure how the variant differs from the first one, question by question."""
    places = {record["id"]: place for place, record in enumerate(first.records)}
    shared = [
        (own, places[record["id"]])
        for own, record in enumerate(scored.records)
        if record["id"] in places
    ]
    for name, made in metrics.items():
        if name not in first.columns:
            continue
        ours = [scored.columns[name][own] for own, _ in shared]
        theirs = [first.columns[name][other] for _, other in shared]
        p = paired_randomisation(ours, theirs)
        pairs = zip(ours, theirs, strict=True)
        gaps = [x - y for x, y in pairs if is_resolved(x) and is_resolved(y)]
        made["difference"] = rounded(sum(gaps) / len(gaps)) if gaps else None
        made["p"] = rounded(p) if is_resolved(p) else None


def _type_name(record: Record) -> str:
    return record["question_type"]


def _places_by(records: Sequence[Record], key: Callable[[Record], str]) -> dict[str, list[int]]:
    """The places of the records of each group, the groups in the order of their names."""
    groups: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(key(record) or _UNNAMED, []).append(place)
    return dict(sorted(groups.items()))


def _groups(scored: _Scored, key: Callable[[Record], str]) -> dict[str, GroupSummary]:
    groups: dict[str, GroupSummary] = {}
    for group, places in _places_by(scored.records, key).items():
        metrics = figures(
            {name: [scores[place] for place in places] for name, scores in scored.columns.items()}
        )
        for made in metrics.values():
            made.pop("reasons", None)
        own = [scored.records[place] for place in places]
        groups[group] = {"questions": len(places), "metrics": metrics, "cost": cost(own)}
    return groups


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate | Unresolved):
        return of_estimate(value)
    return rounded(value) if isinstance(value, float) else value


def _refused(refusals: Sequence[RefusalRecord]) -> RefusalSummary | None:
    if not refusals:
        return None
    kinds: dict[str, dict[str, int]] = {}
    for one in sorted(refusals, key=lambda refusal: (refusal["kind"], refusal["id"])):
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


def _variant_timings(name: str, records: Sequence[Record]) -> VariantTimings:
    own = [record for record in _own(records, name) if not record.get("error")]

    def grouped(key: Callable[[Record], str]) -> dict[str, TimeSummary]:
        places = _places_by(own, key)
        return {group: _times([own[i] for i in chosen]) for group, chosen in places.items()}

    return {
        "name": name,
        "seconds": _times(own),
        "by_type": grouped(_type_name),
        "by_class": grouped(class_name),
    }


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
