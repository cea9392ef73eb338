"""A run as Markdown."""

import re

from lexloop.evaluation.report import accounts, tables
from lexloop.evaluation.report.cells import Cell, Table
from lexloop.evaluation.report.summary import Summary
from lexloop.evaluation.report.timings import Timings

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#$~&!])")
_RUNS = re.compile(r"\s+")


def to_markdown(summary: Summary, timings: Timings | None) -> str:
    """Every table of a run.

    Args:
        summary: Its figures.
        timings: Its seconds; None leaves out the tables of latency.
    """
    return "\n\n".join([heading(summary), *map(written, all_tables(summary, timings))]) + "\n"


def heading(summary: Summary) -> str:
    """What was run, over what, and with which code."""
    return "\n".join(["# Evaluation", "", *(f"- {escaped(line)}" for line in facts(summary))])


def facts(summary: Summary) -> list[str]:
    """What identifies the run, one fact a line."""
    code = f"Lexloop {summary['version']}"
    commit = f", commit {summary['commit']}" if summary["commit"] else ""
    return [
        f"Questions: {summary['questions']} of {summary['gold']} "
        f"(SHA-256 {summary['gold_sha256'][:12]})",
        f"Corpus: {summary['corpus']} (SHA-256 {summary['corpus_sha256'][:12]})",
        f"Model: {summary['model'] or 'none'}; judging model: {summary['judge'] or 'none'}",
        f"Code: {code}{commit}",
    ]


def all_tables(summary: Summary, timings: Timings | None) -> list[Table]:
    """The tables, in the order in which they are read."""
    timed = [accounts.latency(timings), accounts.latency_by_class(timings)] if timings else []
    found = [
        tables.run_rows(summary),
        *tables.metric_tables(summary),
        *tables.type_tables(summary),
        *tables.class_tables(summary),
        *timed,
        accounts.loop(summary),
        accounts.refusals(summary),
        accounts.skipped(summary),
        accounts.unresolved(summary),
        accounts.troubles(summary),
    ]
    return [table for table in found if table is not None]


def written(table: Table) -> str:
    """A table with its title and note."""
    lines = [f"## {escaped(table.title)}", ""]
    if table.note:
        lines += [escaped(table.note), ""]
    lines.append(_line([escaped(name) for name in table.head]))
    lines.append(_line(["---"] * len(table.head)))
    lines += [_line([_cell(one) for one in row]) for row in table.rows]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text that others wrote, as text: no markup, no line breaks."""
    return _SPECIAL.sub(r"\\\1", _RUNS.sub(" ", text).strip())


def _cell(cell: Cell) -> str:
    parts = [escaped(cell.text), escaped(cell.interval)]
    if cell.unresolved is not None:
        parts.append(f"({cell.unresolved})")
    return " ".join(part for part in [*parts, escaped(cell.p)] if part)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
