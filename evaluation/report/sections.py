"""The tables of a run, each a line a variant or a reason, made of its summary."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lexloop.evaluation.record import Record
from lexloop.evaluation.report.figures import COSTS, Figure, figure, score_of
from lexloop.evaluation.report.labels import grouped, label, main_metrics, title
from lexloop.evaluation.report.summary import (
    Summary,
    Timings,
    VariantSummary,
    VariantTimings,
)
from lexloop.evaluation.report.tables import NOTE, Cell, Table, Value, interval, number
from lexloop.evaluation.score import is_resolved
from lexloop.evaluation.statistics import mean

Columns = Mapping[str, Callable[[Any], Value]]
"""The heads of a table, each with what stands below it."""
Grouping = Literal["by_type", "by_class"]
GROUPINGS: dict[Grouping, str] = {"by_type": "question type", "by_class": "complexity class"}
_MOST_COLUMNS, _MOST_NAMED = 6, 6
_HARDEST, _LONGEST = 15, 700


@dataclass(frozen=True)
class Run:
    """What a report shows; seconds and single questions are left out of what must be repeatable."""

    summary: Summary
    timings: Timings | None = None
    records: Sequence[Record] = ()

    @property
    def rows(self) -> list[VariantSummary]:
        """The variants, in the order of every table."""
        return self.summary["variants"]

    @property
    def names(self) -> list[str]:
        """The names of the variants."""
        return [row["name"] for row in self.rows]

    @property
    def mains(self) -> list[str]:
        """The metrics that are shown by group."""
        return main_metrics(row["metrics"] for row in self.rows)

    def groups(self, by: Grouping) -> list[str]:
        """The question types or the classes that any variant has."""
        return sorted({name for row in self.rows for name in row[by]})


def _table(
    heading: str,
    note: str,
    rows: Sequence[VariantSummary] | Sequence[VariantTimings],
    columns: Columns,
    shown: Callable[[Any], object] = lambda _: True,
) -> Table:
    """A table with a line, under its number, for each variant that is shown."""
    lines = [
        [place, row["name"], *(value(row) for value in columns.values())]
        for place, row in enumerate(rows, start=1)
        if shown(row)
    ]
    return Table(heading, note, ["#", "Variant", *columns], lines)


def variants(run: Run) -> list[Table]:
    """Return the variants and the settings that each changes."""
    columns: Columns = {
        "Source": lambda row: row["source"],
        "Settings changed": lambda row: ", ".join(
            f"{name} = {value}" for name, value in row["settings"].items()
        ),
        "Questions": lambda row: row["questions"],
    }
    note = "What each variant changes of the run's settings."
    return [_table("Variants", note, run.rows, columns)]


def metrics(run: Run) -> list[Table]:
    """Return every metric of every variant, some metrics to a table."""
    names = dict.fromkeys(
        name
        for row in run.rows
        for name, made in row["metrics"].items()
        if name not in COSTS or made["high"]
    )
    compared = " p: paired randomisation test against variant 1." if len(run.rows) > 1 else ""
    tables = []
    for group, members in grouped(names).items():
        for start in range(0, len(members), _MOST_COLUMNS):
            columns = {label(name): _metric(name) for name in members[start:][:_MOST_COLUMNS]}
            more = " (continued)" if start else ""
            tables.append(_table(f"{group}{more}", NOTE + compared, run.rows, columns))
    return tables


def _metric(name: str) -> Callable[[VariantSummary], Value]:
    return lambda row: row["metrics"].get(name)


def by_group(run: Run, by: Grouping) -> list[Table]:
    """Return the main metrics by question type or class, and by class what questions cost."""
    names = run.groups(by)
    shown = run.mains if names else []
    if names and by == "by_class":
        shown += ["context_tokens", "retries"]
        if any(row["cost"]["model_calls"] for row in run.rows):
            shown += ["model_calls", "tokens_in", "tokens_out"]

    def of(group: str, metric: str) -> Callable[[VariantSummary], Value]:
        return lambda row: row[by][group]["metrics"].get(metric) if group in row[by] else None

    return [
        _table(
            f"{title(metric)} by {GROUPINGS[by]}",
            NOTE,
            run.rows,
            {group: of(group, metric) for group in names},
        )
        for metric in shown
    ]


def times(run: Run) -> list[Table]:
    """Return the seconds that questions took, in all and by complexity class."""
    if run.timings is None:
        return []
    rows = run.timings["variants"]

    def part(name: Literal["median", "p90", "worst", "total", "retries"]) -> Any:
        return lambda row: None if row["seconds"][name] is None else f"{row['seconds'][name]:.3f}"

    def of(group: str) -> Callable[[VariantTimings], Value]:
        return lambda row: row["by_class"][group]["mean"] if group in row["by_class"] else None

    in_all: Columns = {
        "Mean": lambda row: row["seconds"]["mean"],
        "Median": part("median"),
        "90 %": part("p90"),
        "Slowest": part("worst"),
        "Total": part("total"),
        "Of it retries": part("retries"),
    }
    by_class = {name: of(name) for name in sorted({n for row in rows for n in row["by_class"]})}
    note = f"{NOTE} Questions that failed are left out."
    return [
        _table("Latency in seconds", note, rows, in_all),
        _table("Seconds by complexity class", NOTE, rows, by_class),
    ]


def loop(run: Run) -> list[Table]:
    """Return how often the loop retried, its gain, and its cost."""

    def of(name: str) -> Callable[[VariantSummary], Value]:
        return lambda row: row["loop"][name]

    def gain(row: VariantSummary) -> Value:
        made: Figure = row["loop"]["correctness_gain"]
        p = row["loop"]["correctness_p"]
        return made if isinstance(p, dict) else {**made, "p": p}

    columns: Columns = {
        "Questions": of("questions"),
        "Retried": of("retried"),
        "Retries": of("retries"),
        "Passed at first": of("passed_first"),
        "Passed in the end": of("passed_finally"),
        "Correctness at first": of("correctness_first"),
        "In the end": of("correctness_final"),
        "Gain": gain,
        "Better / worse": lambda row: f"{row['loop']['improved']} / {row['loop']['worsened']}",
        "Gain of the lowest score": of("lowest_gain"),
        "Model calls of retries": of("model_calls"),
        "Tokens of retries": of("tokens"),
    }
    note = (
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last."
    )
    return [_table("The loop's account", note, run.rows, columns)]


def refusals(run: Run) -> list[Table]:
    """Return the negative queries that each variant refused; nothing where none was asked."""
    kinds = sorted(
        {kind for row in run.rows if row["refused"] for kind in row["refused"]["by_kind"]}
    )

    def share(counts: Any) -> str | None:
        return f"{counts['refused']} of {counts['queries']}" if counts else None

    def of(kind: str) -> Callable[[VariantSummary], Value]:
        return lambda row: row["refused"] and share(row["refused"]["by_kind"].get(kind))

    columns: Columns = {
        "Refused": lambda row: share(row["refused"]),
        "Share": lambda row: row["refused"] and row["refused"]["share"],
        **{kind: of(kind) for kind in kinds},
    }
    table = _table(
        "Negative queries refused", NOTE, run.rows, columns, shown=lambda row: row["refused"]
    )
    return [table] if table.rows else []


def missing(run: Run) -> list[Table]:
    """Return variants not run, why scores are missing, and questions that went wrong, if any."""
    skipped = [[one["variant"], one["reason"]] for one in run.summary["skipped"]]
    columns: Columns = {
        "Failed": lambda row: row["failed"],
        "Degraded": lambda row: row["degraded"],
        "Warned": lambda row: row["warned"],
        "What happened": lambda row: "; ".join(
            f"{reason} ({n})" for reason, n in (row["errors"] | row["degradations"]).items()
        ),
    }
    troubles = _table(
        "Failed, degraded and warned",
        "Failed questions have no metric; warned answers passed no evaluation.",
        run.rows,
        columns,
        shown=lambda row: row["failed"] or row["degraded"] or row["warned"],
    )
    not_run = Table("Variants not run", "", ["Variant", "Reason"], skipped)
    return [table for table in (not_run, _unresolved(run), troubles) if table.rows]


def _unresolved(run: Run) -> Table:
    found = [
        (reason, count, metric, row["name"])
        for row in run.rows
        for metric, made in row["metrics"].items()
        if metric not in COSTS
        for reason, count in made.get("reasons", {}).items()
        if made["unresolved"]
    ]
    counts: Counter[str] = Counter()
    for reason, count, _, _ in found:
        counts[reason] += count
    lines: list[list[Value]] = []
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        names = list(dict.fromkeys(metric for why, _, metric, _ in found if why == reason))
        rows = {name for why, _, _, name in found if why == reason}
        lines.append([reason, count, len(rows), _listed(names)])
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, ["Reason", "Scores", "Variants", "Metrics"], lines)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(map(label, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def hardest(run: Run) -> list[Table]:
    """Return the questions that score lowest by the first main metric; nothing without scores."""
    if not (metric := next(iter(run.mains), "")):
        return []
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in run.records:
        if is_resolved(score := score_of(record, metric)):
            by_id.setdefault(record["id"], []).append((score, record))
    means = {name: mean([score for score, _ in own]) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_HARDEST]
    asked = Counter(record["id"] for record in run.records)
    head = ["Question", "Type", f"{label(metric)}, over variants", "Best variant", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved variants)."
    lines = [_hard_line(by_id[name], asked[name]) for name in lowest]
    return [Table("Lowest scores", note, head, lines)] if lines else []


def _hard_line(own: Sequence[tuple[float, Record]], asked: int) -> list[Value]:
    # of equal scores the first variant's by name, whatever order the records came in
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["variant"]))
    made = figure(sorted(score for score, _ in own))
    within = interval(made["low"] or 0.0, made["high"] or 0.0)
    answer = record["answer"]
    return [
        f"{record['id']}: {record['question']}",
        record["question_type"],
        Cell(number(made["mean"] or 0.0), within, asked - len(own)),
        f"{record['variant']} ({number(best)})",
        answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…",
    ]
