"""A report, section by section: as Markdown, and as one HTML page without script or network."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from lexloop.apps.shapes.text import first_of
from lexloop_eval.record import Record
from lexloop_eval.report import drawing
from lexloop_eval.report.published import published_tables
from lexloop_eval.report.tables import (
    COSTS,
    DOLLARS,
    HUMAN,
    NOTE,
    Cell,
    Figure,
    Figures,
    Table,
    Value,
    as_markdown,
    escaped,
    figure,
    grouped,
    interval,
    label,
    main_metrics,
    metric_names,
    number,
    score_of,
    title,
)
from lexloop_eval.score import is_resolved
from lexloop_eval.statistics import mean

_TEMPLATE = Path(__file__).with_name("report.html")
_JUDGES = {
    *("correctness", "similarity", "groundedness", "faithfulness", "answer_relevance"),
    "rouge1_recall",
}
_MOST_JUDGES = 9
Column = str | tuple[str, ...] | Callable[[Any], Value]
"""What a variant has in a column: a field of its row, such as ``loop.retries``, the same as names
that may be missing or hold a dot, or a function of the row."""
Columns = Mapping[str, Column]
"""The columns of a table by their heads."""
Grouping = Literal["by_type", "by_class"]
GROUPINGS: dict[Grouping, str] = {"by_type": "question type", "by_class": "complexity class"}
_MOST_COLUMNS, _MOST_NAMED = 6, 6
_HARDEST, _LONGEST = 15, 700


@dataclass(frozen=True)
class Run:
    """The content of a report. Seconds and single questions are not in its repeatable part."""

    summary: Figures
    timings: Figures | None = None
    records: Sequence[Record] = ()

    @property
    def rows(self) -> list[Figures]:
        """The variants, in the order of every table."""
        rows: list[Figures] = self.summary["variants"]
        return rows

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
    rows: Sequence[Figures],
    columns: Columns,
    shown: Callable[[Any], object] = lambda _: True,
) -> Table:
    """A table with a line, under its number, for each variant that is shown."""
    lines = [
        [place, row["name"], *(_value(row, column) for column in columns.values())]
        for place, row in enumerate(rows, start=1)
        if shown(row)
    ]
    return Table(heading, note, ["#", "Variant", *columns], lines)


def _value(row: Any, column: Column) -> Value:
    if callable(column):
        return column(row)
    value: Any = row
    for name in column.split(".") if isinstance(column, str) else column:
        value = None if value is None else value.get(name)
    return cast(Value, value)


def _variants(run: Run) -> list[Table]:
    """The variants and the settings that each changes."""
    columns: Columns = {
        "Source": "source",
        "Settings changed": lambda row: ", ".join(
            f"{name} = {value}" for name, value in row["settings"].items()
        ),
        "Questions": "questions",
    }
    note = "What each variant changes of the run's settings."
    return [_table("Variants", note, run.rows, columns)]


def _metrics(run: Run) -> list[Table]:
    """Every metric of every variant, some metrics to a table."""
    names = dict.fromkeys(
        name
        for row in run.rows
        for name, made in row["metrics"].items()
        if name not in COSTS or _spent(row, name)
    )
    compared = " p: paired randomisation test against variant 1." if len(run.rows) > 1 else ""
    tables = []
    for group, members in grouped(names).items():
        for start in range(0, len(members), _MOST_COLUMNS):
            columns: Columns = {
                label(name): ("metrics", name) for name in members[start:][:_MOST_COLUMNS]
            }
            more = " (continued)" if start else ""
            tables.append(_table(f"{group}{more}", NOTE + compared, run.rows, columns))
    return tables


def _by_group(run: Run, by: Grouping) -> list[Table]:
    """The main metrics by question type or class, and by class what questions cost."""
    names = run.groups(by)
    shown = run.mains if names else []
    if names and by == "by_class":
        shown += ["context_tokens", "retries"]
        if any(_spent(row, "model_calls") for row in run.rows):
            shown += ["model_calls", "tokens_in", "tokens_out"]
        if any(_spent(row, DOLLARS) for row in run.rows):
            shown.append(DOLLARS)

    return [
        _table(
            f"{title(metric)} by {GROUPINGS[by]}",
            NOTE,
            run.rows,
            {group: (by, group, "metrics", metric) for group in names},
        )
        for metric in shown
    ]


def _spent(row: Figures, name: str) -> float:
    """Return how much of something a variant's questions cost, or 0."""
    return float(row["metrics"].get(name, {}).get("high") or 0.0)


def _times(run: Run) -> list[Table]:
    """The seconds that questions took, in all and by complexity class."""
    if run.timings is None:
        return []
    rows = run.timings["variants"]

    in_all: Columns = {
        "Mean": "seconds.mean",
        "Median": "seconds.median",
        "90 %": "seconds.p90",
        "Slowest": "seconds.worst",
        "Total": "seconds.total",
        "Of it retries": "seconds.retries",
    }
    classes = sorted({name for row in rows for name in row["by_class"]})
    by_class: Columns = {name: ("by_class", name, "mean") for name in classes}
    note = f"{NOTE} Questions that failed are left out."
    return [
        _table("Latency in seconds", note, rows, in_all),
        _table("Seconds by complexity class", NOTE, rows, by_class),
    ]


def _loop(run: Run) -> list[Table]:
    """How often the loop retried, its gain, and its cost."""

    def gain(row: Figures) -> Value:
        gain_figure: Figure = row["loop"]["correctness_gain"]
        p = row["loop"]["correctness_p"]
        return gain_figure if isinstance(p, dict) else {**gain_figure, "p": p}

    columns: Columns = {
        "Questions": "loop.questions",
        "Retried": "loop.retried",
        "Retries": "loop.retries",
        "Passed at first": "loop.passed_first",
        "Passed in the end": "loop.passed_finally",
        "Correctness at first": "loop.correctness_first",
        "In the end": "loop.correctness_final",
        "Gain": gain,
        "Better / worse": lambda row: f"{row['loop']['improved']} / {row['loop']['worsened']}",
        "Gain of the lowest score": "loop.lowest_gain",
        "Model calls of retries": "loop.model_calls",
        "Tokens of retries": "loop.tokens",
    }
    note = (
        f"{NOTE} Gains are over the questions that were tried again; p: paired randomisation test. "
        "Costs are from the first answer to the last."
    )
    return [_table("The loop's account", note, run.rows, columns)]


def _refusals(run: Run) -> list[Table]:
    """Return a table of the negative queries that each variant refused, if any were asked."""
    kinds = sorted(
        {kind for row in run.rows if row["refused"] for kind in row["refused"]["by_kind"]}
    )

    def share(counts: Any) -> str | None:
        return f"{counts['refused']} of {counts['queries']}" if counts else None

    def of(kind: str) -> Callable[[Figures], Value]:
        return lambda row: row["refused"] and share(row["refused"]["by_kind"].get(kind))

    columns: Columns = {
        "Refused": lambda row: share(row["refused"]),
        "Share": ("refused", "share"),
        **{kind: of(kind) for kind in kinds},
    }
    table = _table(
        "Negative queries refused", NOTE, run.rows, columns, shown=lambda row: row["refused"]
    )
    return [table] if table.rows else []


def _missing(run: Run) -> list[Table]:
    """Variants not run, why scores are missing, and questions that went wrong, if any."""
    skipped = [[entry["variant"], entry["reason"]] for entry in run.summary["skipped"]]
    columns: Columns = {
        "Failed": "failed",
        "Degraded": "degraded",
        "Warned": "warned",
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
    unresolved = [
        (reason, count, metric, row["name"])
        for row in run.rows
        for metric, estimate in row["metrics"].items()
        if metric not in COSTS
        for reason, count in estimate.get("reasons", {}).items()
        if estimate["unresolved"]
    ]
    counts: Counter[str] = Counter()
    for reason, count, _, _ in unresolved:
        counts[reason] += count
    lines: list[list[Value]] = []
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        names = list(dict.fromkeys(metric for why, _, metric, _ in unresolved if why == reason))
        rows = {name for why, _, _, name in unresolved if why == reason}
        listed = ", ".join(first_of([*map(label, names)], _MOST_NAMED, "{} more"))
        lines.append([reason, count, len(rows), listed])
    note = "They are left out of every mean and never counted as 0."
    return Table("Unresolved scores", note, ["Reason", "Scores", "Variants", "Metrics"], lines)


def _hardest(run: Run) -> list[Table]:
    """The questions that score lowest by the first main metric; nothing without scores."""
    if not (metric := next(iter(run.mains), "")):
        return []
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in run.records:
        if is_resolved(score := score_of(record, metric)):
            by_id.setdefault(record["id"], []).append((score, record))
    means = {name: mean([score for score, _ in own]) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_HARDEST]
    asked_by = Counter(record["id"] for record in run.records)
    head = ["Question", "Type", f"{label(metric)}, over variants", "Best variant", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved variants)."
    lines = [_hard_line(by_id[name], asked_by[name]) for name in lowest]
    return [Table("Lowest scores", note, head, lines)] if lines else []


def _hard_line(own: Sequence[tuple[float, Record]], asked: int) -> list[Value]:
    # of equal scores, use the first variant by name, in any order of the records
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["variant"]))
    score_figure = figure(sorted(score for score, _ in own))
    within = interval(score_figure["low"] or 0.0, score_figure["high"] or 0.0)
    answer = record["answer"]
    return [
        f"{record['id']}: {record['question']}",
        record["question_type"],
        Cell(number(score_figure["mean"] or 0.0), within, asked - len(own)),
        f"{record['variant']} ({number(best)})",
        answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…",
    ]


def _variant_plots(run: Run) -> list[str]:
    """The main metrics of every variant."""
    all_figures = [[row["metrics"].get(metric) for row in run.rows] for metric in run.mains]
    return [
        drawing.by_variant(title(metric), run.names, [estimate for estimate in figures if estimate])
        for metric, figures in zip(run.mains, all_figures, strict=True)
        if all(figures)
    ]


def _human_plots(run: Run) -> list[str]:
    """Return plots of each judge against people, if people scored the answers."""
    scored = [record for record in run.records if is_resolved(score_of(record, HUMAN))]
    judges = [
        name
        for name in metric_names(scored)
        if name in _JUDGES or (name.startswith("model_") and name not in COSTS)
    ]
    panels = {label(name): _with_human(name, scored) for name in judges[:_MOST_JUDGES]}
    shown = {name: pairs for name, pairs in panels.items() if pairs}
    return [drawing.judges_against_human(shown)] if shown else []


def _with_human(name: str, records: Sequence[Record]) -> list[tuple[float, float]]:
    return [
        (ours, theirs)
        for record in records
        if is_resolved(ours := score_of(record, name))
        and is_resolved(theirs := score_of(record, HUMAN))
    ]


@dataclass(frozen=True)
class Section:
    """A part of a page; the plots are ``<svg>`` elements."""

    title: str
    intro: str
    plots: Sequence[str] = ()
    tables: Sequence[Table] = ()


def render(title: str, facts: Sequence[str], sections: Sequence[Section]) -> str:
    """Return a page of the sections that have something to show.

    Everything but the plots is escaped.
    """
    from jinja2 import Environment, StrictUndefined

    shown = [section for section in sections if section.plots or section.tables]
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(title=title, facts=facts, sections=shown)


def to_markdown(summary: Figures) -> str:
    """Return every table of a run except those of seconds and of single questions."""
    run = Run(summary)
    tables = [as_markdown(table) for _, _, tables_of in _PARTS for table in tables_of(run)]
    heading = "\n".join(["# Evaluation", "", *(f"- {escaped(line)}" for line in _facts(summary))])
    return "\n\n".join([heading, *tables]) + "\n"


def to_html(summary: Figures, timings: Figures, records: Sequence[Record]) -> str:
    """Return the page of a run. Texts by others are escaped.

    Args:
        summary: The run's figures.
        timings: Its seconds.
        records: Its questions, for details of single ones.
    """
    run = Run(summary, timings, records)
    shown = [
        Section(name, about, _PLOTS[name](run) if name in _PLOTS else (), tables_of(run))
        for name, about, tables_of in _PARTS
    ]
    return render(f"Evaluation of {summary['gold']}", _facts(summary), shown)


def _facts(summary: Figures) -> list[str]:
    """The identity of the run, one fact a line."""
    commit = f", commit {summary['commit']}" if summary["commit"] else ""
    return [
        f"Questions: {summary['questions']} of {summary['gold']} "
        f"(SHA-256 {summary['gold_sha256'][:12]})",
        f"Corpus: {summary['corpus']} (SHA-256 {summary['corpus_sha256'][:12]})",
        f"Model: {summary['model'] or 'none'}; judging model: {summary['judge'] or 'none'}; "
        f"rubrics of models: {summary.get('rubrics', 'hardened')}",
        f"Code: Lexloop {summary['version']}{commit}",
    ]


_PARTS: Sequence[tuple[str, str, Callable[[Run], Sequence[Table]]]] = (
    (
        "Variants",
        "Every variant answered the same questions. Dots are means, lines 95 % bootstrap "
        "intervals; the dotted line is variant 1.",
        _variants,
    ),
    (
        "Published tables",
        "The rows of the papers' tables, beside their figures where the same questions were asked.",
        lambda run: published_tables(run.summary),
    ),
    (
        "Question types",
        "Few questions are of one type: mind the intervals.",
        partial(_by_group, by="by_type"),
    ),
    (
        "Complexity",
        "Questions by the class that each variant's classifier gave them.",
        partial(_by_group, by="by_class"),
    ),
    (
        "Latency",
        "Wall time on the machine of this run, from the question to its checked answer.",
        _times,
    ),
    ("The loop", "What trying again was worth.", _loop),
    (
        "Judges and people",
        "Each judge's scores against a person's, of the same answers.",
        lambda _: (),
    ),
    ("Negative queries", "Queries that must be refused.", _refusals),
    ("All metrics", "Every metric of every variant.", _metrics),
    (
        "What is missing",
        "Variants that were not run, scores without a value, and answers with less than was asked.",
        _missing,
    ),
    (
        "Hardest questions",
        "Those that score lowest over all variants, and the best answer that a variant gave.",
        _hardest,
    ),
)
"""A report, from its first section to its last, each with its tables."""
_PLOTS = {"Variants": _variant_plots, "Judges and people": _human_plots}
"""The plots of each section."""
