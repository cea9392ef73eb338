"""The tables of a run: its variants against metrics, groups, time, the loop and what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lexloop.core.score import is_resolved
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.figures import COSTS, Figure, figure, score_of
from lexloop.evaluation.report.labels import grouped, label, main_metrics, title
from lexloop.evaluation.report.summary import (
    RefusalSummary,
    Summary,
    TimeSummary,
    Timings,
    VariantSummary,
    VariantTimings,
)
from lexloop.evaluation.report.tables import (
    NOTE,
    Cell,
    Table,
    cell,
    interval,
    number,
    plain,
)

Grouping = Literal["by_type", "by_class"]
GROUPINGS: dict[Grouping, str] = {"by_type": "question type", "by_class": "complexity class"}
_MOST_COLUMNS, _MOST_NAMED = 6, 6
_AGAINST_FIRST = " p: paired randomisation test against row 1."
_HARDEST, _LONGEST = 15, 700


def variant_table(summary: Summary) -> Table:
    """Return the variants and the settings that each changes."""
    return _table(
        "Rows",
        "What each row changes of the run's settings.",
        ["Source", "Settings changed", "Questions"],
        summary["rows"],
        [
            [
                plain(row["source"]),
                plain(", ".join(f"{name} = {value}" for name, value in row["settings"].items())),
                plain(row["questions"]),
            ]
            for row in summary["rows"]
        ],
    )


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
            cells = [[cell(row["metrics"].get(metric)) for metric in chosen] for row in rows]
            more = " (continued)" if start else ""
            tables.append(_table(f"{group}{more}", note, [*map(label, chosen)], rows, cells))
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
        cells = [
            [cell(row[by][g]["metrics"].get(metric) if g in row[by] else None) for g in groups]
            for row in rows
        ]
        tables.append(_table(f"{title(metric)} by {GROUPINGS[by]}", NOTE, groups, rows, cells))
    return tables


def time_tables(timings: Timings) -> list[Table]:
    """Return the seconds that questions took, in all and by complexity class."""
    rows = timings["rows"]
    classes = sorted({name for row in rows for name in row["by_class"]})
    return [
        _table(
            "Latency in seconds",
            f"{NOTE} Questions that failed are left out.",
            ["Mean", "Median", "90 %", "Slowest", "Total", "Of it retries"],
            rows,
            [_times(row["seconds"]) for row in rows],
        ),
        _table(
            "Seconds by complexity class",
            NOTE,
            classes,
            rows,
            [
                [
                    cell(row["by_class"][c]["mean"] if c in row["by_class"] else None)
                    for c in classes
                ]
                for row in rows
            ],
        ),
    ]


def _times(taken: TimeSummary) -> list[Cell]:
    parts = [taken["median"], taken["p90"], taken["worst"], taken["total"], taken["retries"]]
    timed = [plain(None if part is None else f"{part:.3f}") for part in parts]
    return [cell(taken["mean"]), *timed]


def loop_table(summary: Summary) -> Table:
    """Return how often the loop retried, its gain, and its cost."""
    return _table(
        "The loop's account",
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last.",
        [
            *("Questions", "Retried", "Retries", "Passed at first", "Passed in the end"),
            *("Correctness at first", "In the end", "Gain", "Better / worse"),
            *("Gain of the lowest score", "Model calls of retries", "Tokens of retries"),
        ],
        summary["rows"],
        [_account(row["loop"]) for row in summary["rows"]],
    )


def _account(account: Mapping[str, Any]) -> list[Cell]:
    gain: Figure = account["correctness_gain"]
    if not isinstance(account["correctness_p"], dict):
        gain = {**gain, "p": account["correctness_p"]}
    counts = ("questions", "retried", "retries", "passed_first", "passed_finally")
    return [
        *(plain(account[name]) for name in counts),
        cell(account["correctness_first"]),
        cell(account["correctness_final"]),
        cell(gain),
        plain(f"{account['improved']} / {account['worsened']}"),
        cell(account["lowest_gain"]),
        plain(f"{account['model_calls']:.0f}"),
        plain(f"{account['tokens']:.0f}"),
    ]


def refusal_table(summary: Summary) -> Table | None:
    """Return the negative queries that each variant refused; None where none was asked."""
    refused = [row["refused"] for row in summary["rows"]]
    kinds = sorted({kind for one in refused if one for kind in one["by_kind"]})
    cells = [_refused(one, kinds) if one else None for one in refused]
    if not any(cells):
        return None
    head = ["Refused", "Share", *kinds]
    return _table("Negative queries refused", NOTE, head, summary["rows"], cells)


def _refused(refused: RefusalSummary, kinds: Sequence[str]) -> list[Cell]:
    by_kind = refused["by_kind"]
    of_kind = [
        f"{by_kind[kind]['refused']} of {by_kind[kind]['queries']}" if kind in by_kind else None
        for kind in kinds
    ]
    total = plain(f"{refused['refused']} of {refused['queries']}")
    return [total, cell(refused["share"]), *map(plain, of_kind)]


def missing_tables(summary: Summary) -> list[Table]:
    """Return variants not run, why scores are missing, and questions that went wrong, if any."""
    skipped = [[plain(one["row"]), plain(one["reason"])] for one in summary["skipped"]]
    troubles = _table(
        "Failed, degraded and warned",
        "Failed questions have no metric; warned answers passed no evaluation.",
        ["Failed", "Degraded", "Warned", "What happened"],
        summary["rows"],
        [_trouble(row) for row in summary["rows"]],
    )
    found = (Table("Rows not run", "", ["Row", "Reason"], skipped), _unresolved(summary), troubles)
    return [table for table in found if table.rows]


def _trouble(row: VariantSummary) -> list[Cell] | None:
    counts = row["failed"], row["degraded"], row["warned"]
    reasons = (f"{reason} ({n})" for reason, n in (row["errors"] | row["degradations"]).items())
    return [*map(plain, counts), plain("; ".join(reasons))] if any(counts) else None


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
    lines = [
        [plain(reason), plain(count), plain(len(rows[reason])), plain(_listed(metrics[reason]))]
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, ["Reason", "Scores", "Rows", "Metrics"], lines)


def _listed(names: Mapping[str, bool]) -> str:
    shown = [label(name) for name in list(names)[:_MOST_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def hardest_table(summary: Summary, records: Sequence[Record]) -> Table | None:
    """Return the questions that score lowest by the first main metric; None where none does."""
    mains = main_metrics(row["metrics"] for row in summary["rows"])
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in records:
        score = score_of(record, mains[0]) if mains else None
        if score is not None and is_resolved(score):
            by_id.setdefault(record["id"], []).append((score, record))
    if not by_id:
        return None
    means = {name: sum(s for s, _ in own) / len(own) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_HARDEST]
    head = ["Question", "Type", f"{label(mains[0])}, over rows", "Best row", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved rows)."
    asked = Counter(record["id"] for record in records)
    lines = [_hard_line(by_id[name], asked[name]) for name in lowest]
    return Table("Lowest scores", note, head, lines)


def _hard_line(own: Sequence[tuple[float, Record]], asked: int) -> list[Cell]:
    # of equal scores the first variant's by name, whatever order the records came in
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["row"]))
    made = figure(sorted(score for score, _ in own))
    within = interval(made["low"] or 0.0, made["high"] or 0.0)
    answer = record["answer"]
    return [
        plain(f"{record['id']}: {record['question']}"),
        plain(record["question_type"]),
        Cell(number(made["mean"] or 0.0), within, asked - len(own)),
        plain(f"{record['row']} ({number(best)})"),
        plain(answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…"),
    ]


def _table(
    title: str,
    note: str,
    head: Sequence[str],
    rows: Sequence[VariantSummary] | Sequence[VariantTimings],
    cells: Sequence[Sequence[Cell] | None],
) -> Table:
    """A table with a numbered line for each variant that has cells."""
    lines = [
        [plain(place), plain(row["name"]), *made]
        for place, (row, made) in enumerate(zip(rows, cells, strict=True), start=1)
        if made is not None
    ]
    return Table(title, note, ["#", "Row", *head], lines)
