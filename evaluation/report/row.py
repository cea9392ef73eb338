"""One row of a run as figures: over all questions, by question type and by complexity class."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from typing_extensions import TypedDict

from lexloop.core.score import Score, Unresolved, is_resolved
from lexloop.evaluation.metrics.cost import Cost, class_name, cost, loop_account
from lexloop.evaluation.record import Record, RefusalRecord, VariantInfo
from lexloop.evaluation.report.figures import (
    Figure,
    figure,
    figures,
    metric_names,
    of_estimate,
    rounded,
    score_of,
)
from lexloop.evaluation.statistics import Estimate, paired_randomisation

_UNNAMED = "(none)"


class Group(TypedDict):
    """Some questions of a row, such as those of one type."""

    questions: int
    metrics: dict[str, Figure]
    cost: Cost


class Refused(TypedDict):
    """How many negative queries a row refused, and of each kind."""

    queries: int
    refused: int
    share: Figure
    by_kind: dict[str, dict[str, int]]


class RowSummary(TypedDict):
    """One row of a run.

    ``failed`` questions were not answered; ``errors`` counts them by reason. ``degradations``
    counts the steps that ran with less than was asked for, ``degraded`` the questions they are of.
    """

    name: str
    source: str
    settings: dict[str, Any]
    questions: int
    failed: int
    errors: dict[str, int]
    degraded: int
    degradations: dict[str, int]
    warned: int
    metrics: dict[str, Figure]
    by_type: dict[str, Group]
    by_class: dict[str, Group]
    cost: Cost
    loop: dict[str, Any]
    refused: Refused | None


@dataclass(frozen=True)
class Scored:
    """The records of a row by id, and each metric's scores in their order."""

    records: list[Record]
    columns: dict[str, list[Score]]

    @classmethod
    def of(cls, records: Sequence[Record], row: str) -> "Scored":
        """Those of one row; sorted, since resamples draw by place."""
        own = sorted((r for r in records if r["row"] == row), key=lambda record: record["id"])
        names = metric_names(own)
        return cls(own, {name: [score_of(record, name) for record in own] for name in names})


def summarise_row(
    row: VariantInfo, scored: Scored, first: Scored | None, refusals: Sequence[RefusalRecord]
) -> RowSummary:
    """Every figure of one row.

    Args:
        row: What the row is.
        scored: Its records.
        first: Those of the run's first row, with which it is compared; None for that row itself.
        refusals: What became of the row's negative queries.
    """
    records, columns = scored.records, scored.columns
    metrics = figures(columns)
    if first is not None:
        _compare(first, scored, metrics)
    return {
        "name": row["name"],
        "source": row["source"],
        "settings": row["settings"],
        "questions": len(records),
        "failed": sum(bool(record.get("error")) for record in records),
        "errors": _counted(record.get("error", "") for record in records),
        "degraded": sum(bool(record["degraded"]) for record in records),
        "degradations": _counted(_degradations(records)),
        "warned": sum(bool(record["warning"]) for record in records),
        "metrics": metrics,
        "by_type": _groups(scored, type_name),
        "by_class": _groups(scored, class_name),
        "cost": cost(records),
        "loop": _account(records),
        "refused": _refused(refusals),
    }


def places_by(records: Sequence[Record], key: Callable[[Record], str]) -> dict[str, list[int]]:
    """The places of the records of each group, the groups in the order of their names."""
    groups: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(key(record) or _UNNAMED, []).append(place)
    return dict(sorted(groups.items()))


def type_name(record: Record) -> str:
    """The question's type; empty where it has none."""
    return record["question_type"]


def _groups(scored: Scored, key: Callable[[Record], str]) -> dict[str, Group]:
    return {name: _group(scored, places) for name, places in places_by(scored.records, key).items()}


def _group(scored: Scored, places: Sequence[int]) -> Group:
    metrics = figures(
        {name: [scores[place] for place in places] for name, scores in scored.columns.items()}
    )
    for made in metrics.values():
        made.pop("reasons", None)
    own = [scored.records[place] for place in places]
    return {"questions": len(places), "metrics": metrics, "cost": cost(own)}


def _compare(first: Scored, scored: Scored, metrics: dict[str, Figure]) -> None:
    """Add to each figure how the row differs from the first one, question by question."""
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


def _degradations(records: Sequence[Record]) -> list[str]:
    return [
        f"{step['node']}: {step['wanted']} -> {step['used']}"
        for record in records
        for step in record["degraded"]
    ]


def _account(records: Sequence[Record]) -> dict[str, Any]:
    """The loop's account with its estimates as figures."""
    account = loop_account(records)
    return {name: _plain(getattr(account, name)) for name in asdict(account)}


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate | Unresolved):
        return of_estimate(value)
    return rounded(value) if isinstance(value, float) else value


def _refused(refusals: Sequence[RefusalRecord]) -> Refused | None:
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
