"""The tables beside the metrics: time, the loop, refusals, and what could not be had."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lexloop.evaluation.report.cells import NOTE, Cell, Table, cell, plain, probability, seconds
from lexloop.evaluation.report.figures import COSTS, Figure
from lexloop.evaluation.report.labels import label
from lexloop.evaluation.report.row import RowSummary
from lexloop.evaluation.report.summary import Summary
from lexloop.evaluation.report.timings import RowTimings, Timings

_MOST_NAMED = 6


def latency(timings: Timings) -> Table:
    """How long questions took."""
    head = ["#", "Row", "Mean", "Median", "90 %", "Slowest", "Total", "Of it retries"]
    lines = [[plain(place), plain(row["name"]), *_seconds(row)] for place, row in _counted(timings)]
    return Table("Latency in seconds", f"{NOTE} Questions that failed are left out.", head, lines)


def latency_by_class(timings: Timings) -> Table:
    """How long questions of each complexity class took."""
    classes = sorted({name for row in timings["rows"] for name in row["by_class"]})
    lines = [
        [
            plain(place),
            plain(row["name"]),
            *(cell(row["by_class"][c]["mean"] if c in row["by_class"] else None) for c in classes),
        ]
        for place, row in _counted(timings)
    ]
    return Table("Seconds by complexity class", NOTE, ["#", "Row", *classes], lines)


def loop(summary: Summary) -> Table:
    """How often the loop retried, what that gained, and what it cost."""
    head = [
        *("#", "Row", "Questions", "Retried", "Retries", "Passed at first", "Passed in the end"),
        *("Correctness at first", "In the end", "Gain", "Better / worse"),
        *("Gain of the lowest score", "Model calls of retries", "Tokens of retries"),
    ]
    note = (
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last."
    )
    lines = [
        [plain(place), plain(row["name"]), *_account(row["loop"])]
        for place, row in enumerate(summary["rows"], start=1)
    ]
    return Table("The loop's account", note, head, lines)


def refusals(summary: Summary) -> Table | None:
    """Of the negative queries, how many each row refused; None where none was asked."""
    asked = [(n, row) for n, row in enumerate(summary["rows"], start=1) if row["refused"]]
    kinds = sorted(
        {kind for _, row in asked if row["refused"] for kind in row["refused"]["by_kind"]}
    )
    lines = [[plain(place), plain(row["name"]), *_refused(row, kinds)] for place, row in asked]
    if not lines:
        return None
    head = ["#", "Row", "Refused", "Share", *kinds]
    return Table("Negative queries refused", NOTE, head, lines)


def skipped(summary: Summary) -> Table | None:
    """The rows that could not be run; None where all could."""
    lines = [[plain(one["row"]), plain(one["reason"])] for one in summary["skipped"]]
    return Table("Rows not run", "", ["Row", "Reason"], lines) if lines else None


def unresolved(summary: Summary) -> Table | None:
    """Why scores are missing; None where none is."""
    counts: Counter[str] = Counter()
    metrics: dict[str, dict[str, bool]] = {}
    rows: dict[str, set[str]] = {}
    for row in summary["rows"]:
        for metric, figure in row["metrics"].items():
            for reason, count in figure.get("reasons", {}).items():
                if figure["unresolved"] and metric not in COSTS:
                    counts[reason] += count
                    metrics.setdefault(reason, {})[metric] = True
                    rows.setdefault(reason, set()).add(row["name"])
    lines = [
        [plain(reason), plain(count), plain(len(rows[reason])), plain(_listed(metrics[reason]))]
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    head = ["Reason", "Scores", "Rows", "Metrics"]
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, head, lines) if lines else None


def troubles(summary: Summary) -> Table | None:
    """Questions that failed, were degraded or carry a warning; None where all is well."""
    lines = [
        [
            plain(place),
            plain(row["name"]),
            plain(row["failed"]),
            plain(row["degraded"]),
            plain(row["warned"]),
            plain(_reasons(row["errors"] | row["degradations"])),
        ]
        for place, row in enumerate(summary["rows"], start=1)
        if row["failed"] or row["degraded"] or row["warned"]
    ]
    head = ["#", "Row", "Failed", "Degraded", "Warned", "What happened"]
    note = "Failed questions have no metric; warned answers passed no evaluation."
    return Table("Failed, degraded and warned", note, head, lines) if lines else None


def _counted(timings: Timings) -> list[tuple[int, RowTimings]]:
    return list(enumerate(timings["rows"], start=1))


def _seconds(row: RowTimings) -> list[Cell]:
    taken = row["seconds"]
    single = [taken["median"], taken["p90"], taken["worst"], taken["total"], taken["retries"]]
    return [cell(taken["mean"]), *map(seconds, single)]


def _account(account: Mapping[str, Any]) -> list[Cell]:
    p = account["correctness_p"]
    counts = ("questions", "retried", "retries", "passed_first", "passed_finally")
    gained = cell(account["correctness_gain"])
    if not isinstance(p, dict):
        gained = Cell(gained.text, gained.interval, gained.unresolved, f"p {probability(p)}")
    return [
        *(plain(account[name]) for name in counts),
        cell(account["correctness_first"]),
        cell(account["correctness_final"]),
        gained,
        plain(f"{account['improved']} / {account['worsened']}"),
        cell(account["lowest_gain"]),
        plain(f"{account['model_calls']:.0f}"),
        plain(f"{account['tokens']:.0f}"),
    ]


def _refused(row: RowSummary, kinds: list[str]) -> list[Cell]:
    refused = row["refused"]
    if refused is None:
        return []
    by_kind = refused["by_kind"]
    of_kind = [
        f"{by_kind[kind]['refused']} of {by_kind[kind]['queries']}" if kind in by_kind else None
        for kind in kinds
    ]
    share: Figure = refused["share"]
    return [
        plain(f"{refused['refused']} of {refused['queries']}"),
        cell(share),
        *map(plain, of_kind),
    ]


def _listed(names: Mapping[str, bool]) -> str:
    shown = [label(name) for name in list(names)[:_MOST_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _reasons(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{reason} ({count})" for reason, count in counts.items())
