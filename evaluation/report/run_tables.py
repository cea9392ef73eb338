"""The tables of a run: its variants against metrics, groups, time, the loop and what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lexloop.evaluation.record import Record
from lexloop.evaluation.report.figures import COSTS, Figure, figure, score_of
from lexloop.evaluation.report.labels import grouped, label, main_metrics, title
from lexloop.evaluation.report.summary import Summary, Timings, VariantSummary, VariantTimings
from lexloop.evaluation.report.tables import NOTE, Cell, Table, Value, interval, number
from lexloop.evaluation.score import is_resolved

Grouping = Literal["by_type", "by_class"]
GROUPINGS: dict[Grouping, str] = {"by_type": "question type", "by_class": "complexity class"}
_MOST_COLUMNS, _MOST_NAMED = 6, 6
_AGAINST_FIRST = " p: paired randomisation test against variant 1."
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
    variants = summary["variants"]
    lines: list[list[Value]] = [
        [
            variant["source"],
            ", ".join(f"{name} = {value}" for name, value in variant["settings"].items()),
            variant["questions"],
        ]
        for variant in variants
    ]
    note = "What each variant changes of the run's settings."
    return _table("Variants", note, ["Source", "Settings changed", "Questions"], variants, lines)


def metric_tables(summary: Summary) -> list[Table]:
    """Return every metric of every variant, some metrics to a table."""
    variants = summary["variants"]
    names = dict.fromkeys(
        name
        for variant in variants
        for name, made in variant["metrics"].items()
        if name not in COSTS or made["high"]
    )
    note = NOTE + (_AGAINST_FIRST if len(variants) > 1 else "")
    tables = []
    for group, metrics in grouped(names).items():
        for start in range(0, len(metrics), _MOST_COLUMNS):
            chosen = metrics[start : start + _MOST_COLUMNS]
            lines = [[variant["metrics"].get(metric) for metric in chosen] for variant in variants]
            more = " (continued)" if start else ""
            tables.append(_table(f"{group}{more}", note, [*map(label, chosen)], variants, lines))
    return tables


def group_tables(summary: Summary, by: Grouping) -> list[Table]:
    """Return the main metrics by question type or class, and by class what questions cost."""
    variants = summary["variants"]
    groups = sorted({name for variant in variants for name in variant[by]})
    if not groups:
        return []
    metrics = main_metrics(variant["metrics"] for variant in variants)
    if by == "by_class":
        metrics += ["context_tokens", "retries"]
        if any(variant["cost"]["model_calls"] for variant in variants):
            metrics += ["model_calls", "tokens_in", "tokens_out"]
    tables = []
    for metric in metrics:
        lines = [
            [
                variant[by][name]["metrics"].get(metric) if name in variant[by] else None
                for name in groups
            ]
            for variant in variants
        ]
        tables.append(_table(f"{title(metric)} by {GROUPINGS[by]}", NOTE, groups, variants, lines))
    return tables


def time_tables(timings: Timings) -> list[Table]:
    """Return the seconds that questions took, in all and by complexity class."""
    variants = timings["variants"]
    times = [variant["seconds"] for variant in variants]
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
    classes = sorted({name for variant in variants for name in variant["by_class"]})
    means = [
        [
            variant["by_class"][name]["mean"] if name in variant["by_class"] else None
            for name in classes
        ]
        for variant in variants
    ]
    return [
        _table("Latency in seconds", note, head, variants, lines),
        _table("Seconds by complexity class", NOTE, classes, variants, means),
    ]


def loop_table(summary: Summary) -> Table:
    """Return how often the loop retried, its gain, and its cost."""
    note = (
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last."
    )
    variants = summary["variants"]
    lines = [[_account(variant["loop"])[name] for name in _LOOP] for variant in variants]
    return _table("The loop's account", note, [*_LOOP.values()], variants, lines)


def _account(account: Mapping[str, Any]) -> dict[str, Any]:
    gain = dict(account["correctness_gain"])
    if not isinstance(account["correctness_p"], dict):
        gain["p"] = account["correctness_p"]
    changed = f"{account['improved']} / {account['worsened']}"
    return {**account, "correctness_gain": gain, "changed": changed}


def refusal_tables(summary: Summary) -> list[Table]:
    """Return the negative queries that each variant refused; nothing where none was asked."""
    refused = [variant["refused"] for variant in summary["variants"]]
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
    table = _table("Negative queries refused", NOTE, head, summary["variants"], lines)
    return [table] if table.rows else []


def missing_tables(summary: Summary) -> list[Table]:
    """Return variants not run, why scores are missing, and questions that went wrong, if any."""
    skipped = [[one["variant"], one["reason"]] for one in summary["skipped"]]
    troubles = _table(
        "Failed, degraded and warned",
        "Failed questions have no metric; warned answers passed no evaluation.",
        ["Failed", "Degraded", "Warned", "What happened"],
        summary["variants"],
        [_trouble(variant) for variant in summary["variants"]],
    )
    found = (
        Table("Variants not run", "", ["Variant", "Reason"], skipped),
        _unresolved(summary),
        troubles,
    )
    return [table for table in found if table.rows]


def _trouble(variant: VariantSummary) -> list[Value] | None:
    counts = variant["failed"], variant["degraded"], variant["warned"]
    reasons = (
        f"{reason} ({n})" for reason, n in (variant["errors"] | variant["degradations"]).items()
    )
    return [*counts, "; ".join(reasons)] if any(counts) else None


def _unresolved(summary: Summary) -> Table:
    counts: Counter[str] = Counter()
    metrics: dict[str, dict[str, bool]] = {}
    variants: dict[str, set[str]] = {}
    for variant in summary["variants"]:
        for metric, made in variant["metrics"].items():
            if made["unresolved"] and metric not in COSTS:
                for reason, count in made.get("reasons", {}).items():
                    counts[reason] += count
                    metrics.setdefault(reason, {})[metric] = True
                    variants.setdefault(reason, set()).add(variant["name"])
    lines: list[list[Value]] = [
        [reason, count, len(variants[reason]), _listed(list(metrics[reason]))]
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, ["Reason", "Scores", "Variants", "Metrics"], lines)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(map(label, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def hardest_tables(summary: Summary, records: Sequence[Record]) -> list[Table]:
    """Return the questions that score lowest by the first main metric; nothing without scores."""
    mains = main_metrics(variant["metrics"] for variant in summary["variants"])
    if not mains:
        return []
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in records:
        if is_resolved(score := score_of(record, mains[0])):
            by_id.setdefault(record["id"], []).append((score, record))
    means = {name: sum(s for s, _ in own) / len(own) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_HARDEST]
    head = ["Question", "Type", f"{label(mains[0])}, over variants", "Best variant", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved variants)."
    asked = Counter(record["id"] for record in records)
    lines = [_hard_line(by_id[name], asked[name]) for name in lowest]
    return [Table("Lowest scores", note, head, lines)] if lines else []


def _hard_line(own: Sequence[tuple[float, Record]], asked: int) -> list[Value]:
    # of equal scores the first variant's by name, whatever order the records came in
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["variant"]))
    made: Figure = figure(sorted(score for score, _ in own))
    within = interval(made["low"] or 0.0, made["high"] or 0.0)
    answer = record["answer"]
    return [
        f"{record['id']}: {record['question']}",
        record["question_type"],
        Cell(number(made["mean"] or 0.0), within, asked - len(own)),
        f"{record['variant']} ({number(best)})",
        answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…",
    ]


def _table(
    title: str,
    note: str,
    head: Sequence[str],
    variants: Sequence[VariantSummary] | Sequence[VariantTimings],
    lines: Sequence[Sequence[Value] | None],
) -> Table:
    """A table with a numbered line for each variant that has one."""
    numbered = [
        [place, variant["name"], *line]
        for place, (variant, line) in enumerate(zip(variants, lines, strict=True), start=1)
        if line is not None
    ]
    return Table(title, note, ["#", "Variant", *head], numbered)
