"""The tables of a run: its variants against metrics, groups, time, the loop and what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lexloop.core.score import is_resolved
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.figures import COSTS, Figure, figure, score_of
from lexloop.evaluation.report.labels import grouped, label, main_metrics, title
from lexloop.evaluation.report.summary import Summary, Timings, VariantSummary, VariantTimings
from lexloop.evaluation.report.tables import NOTE, Cell, Table, Value, interval, number

Grouping = Literal["by_type", "by_class"]
GROUPINGS: dict[Grouping, str] = {"by_type": "question type", "by_class": "complexity class"}
_MOST_COLUMNS, _MOST_NAMED = 6, 6
_AGAINST_FIRST = " p: paired randomisation test against row 1."
_HARDEST, _LONGEST = 15, 700
_LOOP = {
    "questions": "Questions",
    "retried": "Retried",
    "retries": "Retries",
    "passed_first": "Passed at first",
    "passed_finally": "Passed in the end",
    "correctness_first": "Correctness at first",
    "correctness_final": "In the end",
    "correctness_gain": "Gain",
    "changed": "Better / worse",
    "lowest_gain": "Gain of the lowest score",
    "model_calls": "Model calls of retries",
    "tokens": "Tokens of retries",
}


def variant_table(summary: Summary) -> Table:
    """Return the variants and the settings that each changes."""
    rows = summary["rows"]
    lines: list[list[Value]] = [
        [
            row["source"],
            ", ".join(f"{name} = {value}" for name, value in row["settings"].items()),
            row["questions"],
        ]
        for row in rows
    ]
    note = "What each row changes of the run's settings."
    return _table("Rows", note, ["Source", "Settings changed", "Questions"], rows, lines)


def metric_tables(summary: Summary) -> list[Table]:
    """Return every metric of every variant, some metrics to a table."""
    rows = summary["rows"]
    names = dict.fromkeys(
        name
        for row in rows
        for name, made in row["metrics"].items()
        if name not in COSTS or made["high"]
    )
    note = NOTE + (_AGAINST_FIRST if len(rows) > 1 else "")
    tables = []
    for group, metrics in grouped(names).items():
        for start in range(0, len(metrics), _MOST_COLUMNS):
            chosen = metrics[start : start + _MOST_COLUMNS]
            lines = [[row["metrics"].get(metric) for metric in chosen] for row in rows]
            more = " (continued)" if start else ""
            tables.append(_table(f"{group}{more}", note, [*map(label, chosen)], rows, lines))
    return tables


def group_tables(summary: Summary, by: Grouping) -> list[Table]:
    """Return the main metrics by question type or class, and by class what questions cost."""
    rows = summary["rows"]
    groups = sorted({name for row in rows for name in row[by]})
    if not groups:
        return []
    metrics = main_metrics(row["metrics"] for row in rows)
    if by == "by_class":
        metrics += ["context_tokens", "retries"]
        if any(row["cost"]["model_calls"] for row in rows):
            metrics += ["model_calls", "tokens_in", "tokens_out"]
    tables = []
    for metric in metrics:
        lines = [
            [row[by][name]["metrics"].get(metric) if name in row[by] else None for name in groups]
            for row in rows
        ]
        tables.append(_table(f"{title(metric)} by {GROUPINGS[by]}", NOTE, groups, rows, lines))
    return tables


def time_tables(timings: Timings) -> list[Table]:
    """Return the seconds that questions took, in all and by complexity class."""
    rows = timings["rows"]
    times = [row["seconds"] for row in rows]
    lines = [
        [
            taken["mean"],
            *(
                None if part is None else f"{part:.3f}"
                for part in (taken["median"], taken["p90"], taken["worst"])
            ),
            *(f"{taken['total']:.3f}", f"{taken['retries']:.3f}"),
        ]
        for taken in times
    ]
    head = ["Mean", "Median", "90 %", "Slowest", "Total", "Of it retries"]
    note = f"{NOTE} Questions that failed are left out."
    classes = sorted({name for row in rows for name in row["by_class"]})
    means = [
        [row["by_class"][name]["mean"] if name in row["by_class"] else None for name in classes]
        for row in rows
    ]
    return [
        _table("Latency in seconds", note, head, rows, lines),
        _table("Seconds by complexity class", NOTE, classes, rows, means),
    ]


def loop_table(summary: Summary) -> Table:
    """Return how often the loop retried, its gain, and its cost."""
    note = (
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last."
    )
    rows = summary["rows"]
    lines = [[_account(row["loop"])[name] for name in _LOOP] for row in rows]
    return _table("The loop's account", note, [*_LOOP.values()], rows, lines)


def _account(account: Mapping[str, Any]) -> dict[str, Any]:
    gain = dict(account["correctness_gain"])
    if not isinstance(account["correctness_p"], dict):
        gain["p"] = account["correctness_p"]
    changed = f"{account['improved']} / {account['worsened']}"
    return {**account, "correctness_gain": gain, "changed": changed}


def refusal_tables(summary: Summary) -> list[Table]:
    """Return the negative queries that each variant refused; nothing where none was asked."""
    refused = [row["refused"] for row in summary["rows"]]
    kinds = sorted({kind for one in refused if one for kind in one["by_kind"]})
    lines: list[list[Value] | None] = [
        one
        and [
            f"{one['refused']} of {one['queries']}",
            one["share"],
            *(
                f"{found['refused']} of {found['queries']}" if found else None
                for found in map(one["by_kind"].get, kinds)
            ),
        ]
        for one in refused
    ]
    head = ["Refused", "Share", *kinds]
    table = _table("Negative queries refused", NOTE, head, summary["rows"], lines)
    return [table] if table.rows else []


def missing_tables(summary: Summary) -> list[Table]:
    """Return variants not run, why scores are missing, and questions that went wrong, if any."""
    skipped = [[one["row"], one["reason"]] for one in summary["skipped"]]
    troubles = _table(
        "Failed, degraded and warned",
        "Failed questions have no metric; warned answers passed no evaluation.",
        ["Failed", "Degraded", "Warned", "What happened"],
        summary["rows"],
        [_trouble(row) for row in summary["rows"]],
    )
    found = (Table("Rows not run", "", ["Row", "Reason"], skipped), _unresolved(summary), troubles)
    return [table for table in found if table.rows]


def _trouble(row: VariantSummary) -> list[Value] | None:
    counts = row["failed"], row["degraded"], row["warned"]
    reasons = (f"{reason} ({n})" for reason, n in (row["errors"] | row["degradations"]).items())
    return [*counts, "; ".join(reasons)] if any(counts) else None


def _unresolved(summary: Summary) -> Table:
    counts: Counter[str] = Counter()
    metrics: dict[str, dict[str, bool]] = {}
    rows: dict[str, set[str]] = {}
    for row in summary["rows"]:
        for metric, made in row["metrics"].items():
            if made["unresolved"] and metric not in COSTS:
                for reason, count in made.get("reasons", {}).items():
                    counts[reason] += count
                    metrics.setdefault(reason, {})[metric] = True
                    rows.setdefault(reason, set()).add(row["name"])
    lines: list[list[Value]] = [
        [reason, count, len(rows[reason]), _listed(list(metrics[reason]))]
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, ["Reason", "Scores", "Rows", "Metrics"], lines)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(map(label, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def hardest_tables(summary: Summary, records: Sequence[Record]) -> list[Table]:
    """Return the questions that score lowest by the first main metric; nothing without scores."""
    mains = main_metrics(row["metrics"] for row in summary["rows"])
    if not mains:
        return []
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in records:
        if is_resolved(score := score_of(record, mains[0])):
            by_id.setdefault(record["id"], []).append((score, record))
    means = {name: sum(s for s, _ in own) / len(own) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_HARDEST]
    head = ["Question", "Type", f"{label(mains[0])}, over rows", "Best row", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved rows)."
    asked = Counter(record["id"] for record in records)
    lines = [_hard_line(by_id[name], asked[name]) for name in lowest]
    return [Table("Lowest scores", note, head, lines)] if lines else []


def _hard_line(own: Sequence[tuple[float, Record]], asked: int) -> list[Value]:
    # of equal scores the first variant's by name, whatever order the records came in
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["row"]))
    made: Figure = figure(sorted(score for score, _ in own))
    within = interval(made["low"] or 0.0, made["high"] or 0.0)
    answer = record["answer"]
    return [
        f"{record['id']}: {record['question']}",
        record["question_type"],
        Cell(number(made["mean"] or 0.0), within, asked - len(own)),
        f"{record['row']} ({number(best)})",
        answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…",
    ]


def _table(
    title: str,
    note: str,
    head: Sequence[str],
    rows: Sequence[VariantSummary] | Sequence[VariantTimings],
    lines: Sequence[Sequence[Value] | None],
) -> Table:
    """A table with a numbered line for each variant that has one."""
    numbered = [
        [place, row["name"], *line]
        for place, (row, line) in enumerate(zip(rows, lines, strict=True), start=1)
        if line is not None
    ]
    return Table(title, note, ["#", "Row", *head], numbered)
