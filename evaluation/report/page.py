"""Reports as files: Markdown, and one HTML page that needs nothing else, no script, no network."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lexloop.evaluation.record import Record, RunInfo
from lexloop.evaluation.report import drawing
from lexloop.evaluation.report.figures import COSTS, Figure, figure, metric_names, score_of
from lexloop.evaluation.report.labels import HUMAN, grouped, label, main_metrics, title
from lexloop.evaluation.report.summary import Summary, Timings, VariantSummary, VariantTimings
from lexloop.evaluation.report.tables import (
    NOTE,
    Cell,
    Table,
    Value,
    as_markdown,
    escaped,
    interval,
    number,
)
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import interval_of, spearman

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


def _variant_table(summary: Summary) -> Table:
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


def _metric_tables(summary: Summary) -> list[Table]:
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


def _group_tables(summary: Summary, by: Grouping) -> list[Table]:
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


def _time_tables(timings: Timings) -> list[Table]:
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


def _loop_table(summary: Summary) -> Table:
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


def _refusal_tables(summary: Summary) -> list[Table]:
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


def _missing_tables(summary: Summary) -> list[Table]:
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


def _hardest_tables(summary: Summary, records: Sequence[Record]) -> list[Table]:
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


_TEMPLATE = Path(__file__).with_name("report.html")
_JUDGES = {
    *("correctness", "similarity", "groundedness", "faithfulness", "answer_relevance"),
    "rouge1_recall",
}
_MOST_JUDGES, _RESAMPLES = 9, 200


_INTROS = {
    "Variants": "Every variant answered the same questions. Dots are means, lines 95 % bootstrap "
    "intervals; the dotted line is variant 1.",
    "Question types": "Few questions are of one type: mind the intervals.",
    "Complexity": "Questions by the class that each variant's classifier gave them.",
    "Latency": "Wall time on the machine of this run, from the question to its checked answer.",
    "Cost": "Variants under their numbers: what an answer costs, and how good it is.",
    "The loop": "What trying again was worth.",
    "Judges and people": "Each judge's scores against a person's, of the same answers.",
    "Negative queries": "Queries that must be refused.",
    "All metrics": "Every metric of every variant.",
    "What is missing": "Variants that were not run, scores without a value, and answers with less "
    "than was asked.",
    "Hardest questions": "Those that score lowest over all variants, and the best answer that a "
    "variant gave.",
}


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


def to_markdown(summary: Summary) -> str:
    """Return every table of a run but those of its seconds."""
    tables = [
        _variant_table(summary),
        *_metric_tables(summary),
        *_group_tables(summary, "by_type"),
        *_group_tables(summary, "by_class"),
        _loop_table(summary),
        *_refusal_tables(summary),
        *_missing_tables(summary),
    ]
    heading = "\n".join(["# Evaluation", "", *(f"- {escaped(line)}" for line in _facts(summary))])
    return "\n\n".join([heading, *map(as_markdown, tables)]) + "\n"


def to_html(summary: Summary, timings: Timings, records: Sequence[Record], info: RunInfo) -> str:
    """Return the page of a run, in which everything that others wrote is escaped.

    Args:
        summary: The run's figures.
        timings: Its seconds.
        records: Its questions, for what is plotted one by one.
        info: What the run is.
    """
    plots = {
        "Variants": _variant_plots(summary),
        "Question types": _group_plots(summary, "by_type"),
        "Complexity": _group_plots(summary, "by_class"),
        "Latency": _latency_plots(records, info),
        "Cost": _cost_plots(summary, timings),
        "Judges and people": human_plots(records),
    }
    tables = {
        "Variants": [_variant_table(summary)],
        "Question types": _group_tables(summary, "by_type"),
        "Complexity": _group_tables(summary, "by_class"),
        "Latency": _time_tables(timings),
        "The loop": [_loop_table(summary)],
        "Negative queries": _refusal_tables(summary),
        "All metrics": _metric_tables(summary),
        "What is missing": _missing_tables(summary),
        "Hardest questions": _hardest_tables(summary, records),
    }
    sections = [
        Section(title, intro, plots.get(title, ()), tables.get(title, ()))
        for title, intro in _INTROS.items()
    ]
    return render(f"Evaluation of {summary['gold']}", _facts(summary), sections)


def _facts(summary: Summary) -> list[str]:
    """The identity of the run, one fact a line."""
    code = f"Lexloop {summary['version']}"
    commit = f", commit {summary['commit']}" if summary["commit"] else ""
    return [
        f"Questions: {summary['questions']} of {summary['gold']} "
        f"(SHA-256 {summary['gold_sha256'][:12]})",
        f"Corpus: {summary['corpus']} (SHA-256 {summary['corpus_sha256'][:12]})",
        f"Model: {summary['model'] or 'none'}; judging model: {summary['judge'] or 'none'}",
        f"Code: {code}{commit}",
    ]


def _variant_plots(summary: Summary) -> list[str]:
    """Return the main metrics of every variant."""
    variants = summary["variants"]
    return [
        drawing.by_variant(
            title(metric), _names(summary), [variant["metrics"][metric] for variant in variants]
        )
        for metric in _mains(summary)
        if all(metric in variant["metrics"] for variant in variants)
    ]


def _group_plots(summary: Summary, by: Grouping) -> list[str]:
    """Return the main metrics by question type or by complexity class."""
    variants = summary["variants"]
    groups = sorted({name for variant in variants for name in variant[by]})
    return [
        drawing.by_group(
            f"{title(metric)} by {GROUPINGS[by]}",
            _names(summary),
            groups,
            [
                {
                    name: g["metrics"][metric]
                    for name, g in variant[by].items()
                    if metric in g["metrics"]
                }
                for variant in variants
            ],
        )
        for metric in (_mains(summary) if groups else ())
    ]


def _latency_plots(records: Sequence[Record], info: RunInfo) -> list[str]:
    """Return the seconds of questions under each variant; nothing where none was answered."""
    names = [variant["name"] for variant in info["variants"]]
    taken: dict[str, list[float]] = {name: [] for name in names}
    for record in records:
        if record["variant"] in taken and not record.get("error"):
            taken[record["variant"]].append(record["seconds"])
    return [drawing.latency(names, list(taken.values()))] if any(taken.values()) else []


def _cost_plots(summary: Summary, timings: Timings) -> list[str]:
    """Return the first main metric against tokens and seconds."""
    mains, variants = _mains(summary), summary["variants"]
    if not mains:
        return []
    quality = mains[0]
    tokens = (
        "tokens_in"
        if any(variant["cost"]["tokens_in"] for variant in variants)
        else "context_tokens"
    )
    own = [
        (variant["metrics"], times["seconds"]["mean"])
        for variant, times in zip(variants, timings["variants"], strict=True)
        if quality in variant["metrics"]
    ]
    panels = {
        f"{label(tokens)} per question": [(made[tokens], made[quality]) for made, _ in own],
        "seconds per question": [(seconds, made[quality]) for made, seconds in own],
    }
    return [drawing.cost_against_quality(label(quality), panels)]


def human_plots(records: Sequence[Record]) -> list[str]:
    """Return each judge against a person, where a person has scored the answers."""
    scored = [record for record in records if is_resolved(score_of(record, HUMAN))]
    judges = [
        name
        for name in metric_names(scored)
        if name in _JUDGES or (name.startswith("model_") and name not in COSTS)
    ]
    panels = [_panel(name, scored) for name in judges[:_MOST_JUDGES]]
    shown = [panel for panel in panels if panel[2]]
    return [drawing.judges_against_human(shown)] if shown else []


def _panel(name: str, records: Sequence[Record]) -> drawing.Panel:
    pairs = [
        (ours, theirs)
        for record in records
        if is_resolved(ours := score_of(record, name))
        and is_resolved(theirs := score_of(record, HUMAN))
    ]

    def correlation(rows: Sequence[tuple[float, float]]) -> Score:
        return spearman([x for x, _ in rows], [y for _, y in rows])

    found = interval_of(correlation, pairs, resamples=_RESAMPLES)
    if isinstance(found, Unresolved):
        return label(name), "no correlation", pairs
    agreement = f"Spearman {found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"
    return label(name), agreement, pairs


def _mains(summary: Summary) -> list[str]:
    return main_metrics(variant["metrics"] for variant in summary["variants"])


def _names(summary: Summary) -> list[str]:
    return [variant["name"] for variant in summary["variants"]]
