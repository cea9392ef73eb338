"""How long a run took: apart from its summary, since no two runs take equally long."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from lexloop.evaluation.metrics.cost import class_name, retry_share
from lexloop.evaluation.record import Record, RunInfo
from lexloop.evaluation.report.figures import Figure, figure, rounded
from lexloop.evaluation.report.row import places_by, type_name


class Seconds(TypedDict):
    """Wall time of some questions, in seconds; all None where none was answered.

    ``retries`` is the part of the total that falls on attempts after the first, each attempt of a
    question bearing an equal part: single attempts are not timed.
    """

    mean: Figure
    median: float | None
    p90: float | None
    worst: float | None
    total: float
    retries: float


class RowTimings(TypedDict):
    """Wall time of one row."""

    name: str
    seconds: Seconds
    by_type: dict[str, Seconds]
    by_class: dict[str, Seconds]


class Timings(TypedDict):
    """Wall time of every row of a run."""

    rows: list[RowTimings]


def timings(records: Sequence[Record], info: RunInfo) -> Timings:
    """The wall time of each row; questions that failed are left out."""
    return {"rows": [_row(row["name"], records) for row in info["rows"]]}


def _row(name: str, records: Sequence[Record]) -> RowTimings:
    own = [r for r in records if r["row"] == name and not r.get("error")]
    own.sort(key=lambda record: record["id"])

    def grouped(places: dict[str, list[int]]) -> dict[str, Seconds]:
        return {group: _seconds([own[i] for i in chosen]) for group, chosen in places.items()}

    return {
        "name": name,
        "seconds": _seconds(own),
        "by_type": grouped(places_by(own, type_name)),
        "by_class": grouped(places_by(own, class_name)),
    }


def _seconds(records: Sequence[Record]) -> Seconds:
    import numpy as np

    taken = [record["seconds"] for record in records]
    median, p90, worst = np.percentile(taken, [50, 90, 100]).tolist() if taken else [None] * 3
    return {
        "mean": figure(taken),
        "median": None if median is None else rounded(median),
        "p90": None if p90 is None else rounded(p90),
        "worst": None if worst is None else rounded(worst),
        "total": rounded(sum(taken)),
        "retries": rounded(sum(r["seconds"] * retry_share(r) for r in records)),
    }
