"""Reports as files: Markdown, and one HTML page that needs nothing else, no script, no network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lexloop.evaluation.record import Record
from lexloop.evaluation.report import drawing, sections
from lexloop.evaluation.report.figures import COSTS, metric_names, score_of
from lexloop.evaluation.report.labels import HUMAN, label, title
from lexloop.evaluation.report.sections import GROUPINGS, Grouping, Run
from lexloop.evaluation.report.summary import Summary, Timings
from lexloop.evaluation.report.tables import Table, as_markdown, escaped
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import interval_of, spearman

_TEMPLATE = Path(__file__).with_name("report.html")
_JUDGES = {
    *("correctness", "similarity", "groundedness", "faithfulness", "answer_relevance"),
    "rouge1_recall",
}
_MOST_JUDGES, _RESAMPLES = 9, 200


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


@dataclass(frozen=True)
class _Part:
    """What a section is made by; tables alone go into Markdown."""

    title: str
    intro: str
    tables: Callable[[Run], Sequence[Table]] = lambda _: ()
    plots: Callable[[Run], Sequence[str]] = lambda _: ()


def to_markdown(summary: Summary) -> str:
    """Return every table of a run but those of its seconds and of single questions."""
    run = Run(summary)
    tables = [as_markdown(table) for part in _PARTS for table in part.tables(run)]
    heading = "\n".join(["# Evaluation", "", *(f"- {escaped(line)}" for line in _facts(summary))])
    return "\n\n".join([heading, *tables]) + "\n"


def to_html(summary: Summary, timings: Timings, records: Sequence[Record]) -> str:
    """Return the page of a run, in which everything that others wrote is escaped.

    Args:
        summary: The run's figures.
        timings: Its seconds.
        records: Its questions, for what is shown of them one by one.
    """
    run = Run(summary, timings, records)
    shown = [Section(part.title, part.intro, part.plots(run), part.tables(run)) for part in _PARTS]
    return render(f"Evaluation of {summary['gold']}", _facts(summary), shown)


def _facts(summary: Summary) -> list[str]:
    """The identity of the run, one fact a line."""
    commit = f", commit {summary['commit']}" if summary["commit"] else ""
    return [
        f"Questions: {summary['questions']} of {summary['gold']} "
        f"(SHA-256 {summary['gold_sha256'][:12]})",
        f"Corpus: {summary['corpus']} (SHA-256 {summary['corpus_sha256'][:12]})",
        f"Model: {summary['model'] or 'none'}; judging model: {summary['judge'] or 'none'}",
        f"Code: Lexloop {summary['version']}{commit}",
    ]


def _variant_plots(run: Run) -> list[str]:
    """The main metrics of every variant."""
    found = [[row["metrics"].get(metric) for row in run.rows] for metric in run.mains]
    return [
        drawing.by_variant(title(metric), run.names, [made for made in figures if made])
        for metric, figures in zip(run.mains, found, strict=True)
        if all(figures)
    ]


def _group_plots(run: Run, by: Grouping) -> list[str]:
    """The main metrics by question type or by complexity class."""
    groups = run.groups(by)
    found = [
        [
            {name: g["metrics"][metric] for name, g in row[by].items() if metric in g["metrics"]}
            for row in run.rows
        ]
        for metric in (run.mains if groups else ())
    ]
    return [
        drawing.by_group(f"{title(metric)} by {GROUPINGS[by]}", run.names, groups, figures)
        for metric, figures in zip(run.mains, found, strict=False)
    ]


def _latency_plots(run: Run) -> list[str]:
    """The seconds of questions under each variant; nothing where none was answered."""
    taken: dict[str, list[float]] = {name: [] for name in run.names}
    for record in run.records:
        if not record.get("error"):
            taken[record["variant"]].append(record["seconds"])
    return [drawing.latency(run.names, list(taken.values()))] if any(taken.values()) else []


def _cost_plots(run: Run) -> list[str]:
    """The first main metric against tokens and seconds."""
    rows = zip(run.rows, run.timings["variants"], strict=True) if run.timings else ()
    for quality in run.mains[:1]:
        own = [
            (row["metrics"], took["seconds"]["mean"])
            for row, took in rows
            if quality in row["metrics"]
        ]
        asked = any(row["cost"]["tokens_in"] for row in run.rows)
        tokens = "tokens_in" if asked else "context_tokens"
        panels = {
            f"{label(tokens)} per question": [(made[tokens], made[quality]) for made, _ in own],
            "seconds per question": [(seconds, made[quality]) for made, seconds in own],
        }
        return [drawing.cost_against_quality(label(quality), panels)]
    return []


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


_PARTS = (
    _Part(
        "Variants",
        "Every variant answered the same questions. Dots are means, lines 95 % bootstrap "
        "intervals; the dotted line is variant 1.",
        sections.variants,
        _variant_plots,
    ),
    _Part(
        "Question types",
        "Few questions are of one type: mind the intervals.",
        partial(sections.by_group, by="by_type"),
        partial(_group_plots, by="by_type"),
    ),
    _Part(
        "Complexity",
        "Questions by the class that each variant's classifier gave them.",
        partial(sections.by_group, by="by_class"),
        partial(_group_plots, by="by_class"),
    ),
    _Part(
        "Latency",
        "Wall time on the machine of this run, from the question to its checked answer.",
        sections.times,
        _latency_plots,
    ),
    _Part(
        "Cost",
        "Variants under their numbers: what an answer costs, and how good it is.",
        plots=_cost_plots,
    ),
    _Part("The loop", "What trying again was worth.", sections.loop),
    _Part(
        "Judges and people",
        "Each judge's scores against a person's, of the same answers.",
        plots=lambda run: human_plots(run.records),
    ),
    _Part("Negative queries", "Queries that must be refused.", sections.refusals),
    _Part("All metrics", "Every metric of every variant.", sections.metrics),
    _Part(
        "What is missing",
        "Variants that were not run, scores without a value, and answers with less than was asked.",
        sections.missing,
    ),
    _Part(
        "Hardest questions",
        "Those that score lowest over all variants, and the best answer that a variant gave.",
        sections.hardest,
    ),
)
"""A report, from its first section to its last."""
