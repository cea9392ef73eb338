"""Reports as files: Markdown, and one HTML page that needs nothing else, no script, no network."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexloop.evaluation.record import Record, RunInfo
from lexloop.evaluation.report import drawing, run_tables
from lexloop.evaluation.report.figures import COSTS, metric_names, score_of
from lexloop.evaluation.report.labels import HUMAN, label, main_metrics, title
from lexloop.evaluation.report.run_tables import GROUPINGS, Grouping
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
        run_tables.variant_table(summary),
        *run_tables.metric_tables(summary),
        *run_tables.group_tables(summary, "by_type"),
        *run_tables.group_tables(summary, "by_class"),
        run_tables.loop_table(summary),
        *run_tables.refusal_tables(summary),
        *run_tables.missing_tables(summary),
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
        "Variants": [run_tables.variant_table(summary)],
        "Question types": run_tables.group_tables(summary, "by_type"),
        "Complexity": run_tables.group_tables(summary, "by_class"),
        "Latency": run_tables.time_tables(timings),
        "The loop": [run_tables.loop_table(summary)],
        "Negative queries": run_tables.refusal_tables(summary),
        "All metrics": run_tables.metric_tables(summary),
        "What is missing": run_tables.missing_tables(summary),
        "Hardest questions": run_tables.hardest_tables(summary, records),
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
