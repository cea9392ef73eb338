"""The tables of a run: its rows against its metrics, question types and classes."""

from collections.abc import Callable, Mapping, Sequence

from lexloop.evaluation.report.cells import NOTE, Cell, Table, cell, plain
from lexloop.evaluation.report.figures import COSTS
from lexloop.evaluation.report.labels import grouped, label, main_metrics
from lexloop.evaluation.report.row import Group, RowSummary
from lexloop.evaluation.report.summary import Summary

_MOST_COLUMNS = 6
_AGAINST_FIRST = " p: paired randomisation test against row 1."
_ROW = ("#", "Row")


def run_rows(summary: Summary) -> Table:
    """What the rows are."""
    rows = [
        [
            *_named(place, row),
            plain(row["source"]),
            plain(", ".join(f"{name} = {value}" for name, value in row["settings"].items())),
            plain(row["questions"]),
        ]
        for place, row in enumerate(summary["rows"], start=1)
    ]
    head = [*_ROW, "Source", "Settings changed", "Questions"]
    return Table("Rows", "What each row changes of the run's settings.", head, rows)


def metric_tables(summary: Summary) -> list[Table]:
    """Every metric of every row, some metrics to a table."""
    rows = summary["rows"]
    names = dict.fromkeys(
        name
        for row in rows
        for name, made in row["metrics"].items()
        if name not in COSTS or made["high"]
    )
    tables = []
    for title, metrics in grouped(names).items():
        for start in range(0, len(metrics), _MOST_COLUMNS):
            chosen = metrics[start : start + _MOST_COLUMNS]
            more = " (continued)" if start else ""
            tables.append(_metrics(f"{title}{more}", chosen, rows))
    return tables


def type_tables(summary: Summary) -> list[Table]:
    """The main metrics by question type."""
    return _group_tables(summary, "question type", lambda row: row["by_type"])


def class_tables(summary: Summary) -> list[Table]:
    """The main metrics, and what questions cost, by complexity class."""
    costs = ["context_tokens", "retries"]
    if any(row["cost"]["model_calls"] for row in summary["rows"]):
        costs += ["model_calls", "tokens_in", "tokens_out"]
    return _group_tables(summary, "complexity class", lambda row: row["by_class"], costs)


def _metrics(title: str, metrics: Sequence[str], rows: Sequence[RowSummary]) -> Table:
    note = NOTE + (_AGAINST_FIRST if len(rows) > 1 else "")
    lines = [
        [*_named(place, row), *(cell(row["metrics"].get(metric)) for metric in metrics)]
        for place, row in enumerate(rows, start=1)
    ]
    return Table(title, note, [*_ROW, *map(label, metrics)], lines)


def _group_tables(
    summary: Summary,
    kind: str,
    groups_of: Callable[[RowSummary], Mapping[str, Group]],
    more: Sequence[str] = (),
) -> list[Table]:
    rows = summary["rows"]
    groups = sorted({name for row in rows for name in groups_of(row)})
    if not groups:
        return []
    metrics = [*main_metrics(row["metrics"] for row in rows), *more]
    tables = []
    for metric in metrics:
        lines: list[list[Cell]] = []
        for place, row in enumerate(rows, start=1):
            found = groups_of(row)
            cells = [cell(found[g]["metrics"].get(metric) if g in found else None) for g in groups]
            lines.append([*_named(place, row), *cells])
        title = f"{label(metric)[:1].upper()}{label(metric)[1:]} by {kind}"
        tables.append(Table(title, NOTE, [*_ROW, *groups], lines))
    return tables


def _named(place: int, row: RowSummary) -> list[Cell]:
    return [plain(place), plain(row["name"])]
