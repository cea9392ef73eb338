"""A run as one HTML page that needs nothing else: no script, no network, plots inside."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexloop.evaluation.record import Record, RunInfo
from lexloop.evaluation.report import accounts, tables
from lexloop.evaluation.report.cells import Table
from lexloop.evaluation.report.gallery import (
    class_plots,
    cost_plots,
    human_plots,
    latency_plots,
    row_plots,
    type_plots,
)
from lexloop.evaluation.report.hardest import hardest
from lexloop.evaluation.report.markdown import facts
from lexloop.evaluation.report.summary import Summary
from lexloop.evaluation.report.timings import Timings

_TEMPLATE = Path(__file__).with_name("report.html")


@dataclass(frozen=True)
class Section:
    """A part of the page; the plots are ``<svg>`` elements."""

    title: str
    intro: str
    plots: Sequence[str] = ()
    tables: Sequence[Table | None] = field(default=())


def to_html(
    summary: Summary, timings: Timings | None, records: Sequence[Record], info: RunInfo
) -> str:
    """The page.

    Args:
        summary: The run's figures.
        timings: Its seconds; None leaves out latency.
        records: Its questions, for what is plotted one by one.
        info: What the run is.

    Returns:
        HTML in which everything that others wrote is escaped.
    """
    sections = _sections(summary, timings, records, info)
    return render(f"Evaluation of {summary['gold']}", facts(summary), sections)


def render(title: str, about: Sequence[str], sections: Sequence[Section]) -> str:
    """A page of the sections that have something to show; everything but the plots is escaped."""
    from jinja2 import Environment, StrictUndefined

    filled = [
        {
            "title": section.title,
            "intro": section.intro,
            "plots": section.plots,
            "tables": [table for table in section.tables if table is not None],
        }
        for section in sections
    ]
    shown = [section for section in filled if section["plots"] or section["tables"]]
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(title=title, facts=about, sections=shown)


def _sections(
    summary: Summary, timings: Timings | None, records: Sequence[Record], info: RunInfo
) -> list[Section]:
    return [
        *_quality(summary),
        *_costs(summary, timings, records, info),
        *_accounts(summary, records),
    ]


def _quality(summary: Summary) -> list[Section]:
    return [
        Section(
            "Rows",
            "Every row answered the same questions. Dots are means, lines 95 % bootstrap "
            "intervals; the dotted line is row 1.",
            row_plots(summary),
            [tables.run_rows(summary)],
        ),
        Section(
            "Question types",
            "Few questions are of one type: mind the intervals.",
            type_plots(summary),
            tables.type_tables(summary),
        ),
        Section(
            "Complexity",
            "Questions by the class that each row's classifier gave them.",
            class_plots(summary),
            tables.class_tables(summary),
        ),
    ]


def _costs(
    summary: Summary, timings: Timings | None, records: Sequence[Record], info: RunInfo
) -> list[Section]:
    timed = [accounts.latency(timings), accounts.latency_by_class(timings)] if timings else []
    return [
        Section(
            "Latency",
            "Wall time on the machine of this run, from the question to its checked answer.",
            latency_plots(records, info) if timings else [],
            timed,
        ),
        Section(
            "Cost",
            "Rows under their numbers: what an answer costs, and how good it is.",
            cost_plots(summary, timings),
        ),
        Section("The loop", "What trying again was worth.", tables=[accounts.loop(summary)]),
    ]


def _accounts(summary: Summary, records: Sequence[Record]) -> list[Section]:
    missing = [accounts.skipped(summary), accounts.unresolved(summary), accounts.troubles(summary)]
    return [
        Section(
            "Judges and people",
            "Each judge's scores against a person's, of the same answers.",
            human_plots(records),
        ),
        Section(
            "Negative queries",
            "Queries that must be refused.",
            tables=[accounts.refusals(summary)],
        ),
        Section("All metrics", "Every metric of every row.", tables=tables.metric_tables(summary)),
        Section(
            "What is missing",
            "Rows that were not run, scores without a value, and answers with less than was asked.",
            tables=missing,
        ),
        Section(
            "Hardest questions",
            "Those that score lowest over all rows, and the best answer that a row gave.",
            tables=[hardest(summary, records)],
        ),
    ]
