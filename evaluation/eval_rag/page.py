"""Judged answers as one HTML page, with every judge's scores against the people's."""

from collections.abc import Sequence
from typing import Any

from lexloop.core.score import from_json, is_resolved
from lexloop.evaluation.eval_rag.judging import Judged
from lexloop.evaluation.report.drawing import Panel, judges_against_human
from lexloop.evaluation.report.page import Section, render
from lexloop.evaluation.report.tables import NOTE, Cell, Table, cell, interval, number, plain

_COEFFICIENTS = ("pearson", "spearman", "kendall")
_MOST_PLOTS = 12

Row = dict[str, Any]


def to_html(summary: Row, judged: Sequence[Judged]) -> str:
    """The page of a summary.

    Args:
        summary: What ``summarise`` gave.
        judged: The answers that it sums up, for what is plotted one by one.

    Returns:
        HTML in which everything that others wrote is escaped.
    """
    facts = [
        f"{summary['answers']} answers to {summary['questions']} questions, "
        f"{summary['human_scores']} with a person's score",
        f"Judging model: {summary['model'] or 'none'}",
        f"Code: Lexloop {summary['version']}",
    ]
    sections = [
        Section("Scores", "What each judge says of each system.", tables=[_systems(summary)]),
        Section(
            "Judges and people",
            "Each judge's scores against a person's, of the same answers.",
            _plots(summary, judged),
            _agreement(summary),
        ),
        Section("What is missing", "Scores without a value.", tables=_unresolved(summary)),
    ]
    return render(f"{summary['answers_file']}, judged", facts, sections)


def _systems(summary: Row) -> Table:
    rows = summary["systems"]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    cells = {(row["score"], row["system"]): row for row in rows}
    head = ["Score", *(name or "answers" for name in systems)]
    lines = [
        [plain(name), *(_mean(cells.get((name, system))) for system in systems)]
        for name in dict.fromkeys(row["score"] for row in rows)
    ]
    return Table("Scores by system", NOTE, head, lines)


def _mean(row: Row | None) -> Cell:
    if row is None or row["mean"] is None:
        return Cell("–", unresolved=None if row is None else row["unresolved"])
    return cell(
        {
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
            "unresolved": row["unresolved"],
        }
    )


def _agreement(summary: Row) -> list[Table]:
    rows = summary["agreement"]
    if not rows:
        return []
    head = ["Score", *(name.capitalize() for name in _COEFFICIENTS), "Answers"]
    note = "Correlation [95 % bootstrap interval, questions resampled whole]."
    lines = [
        [plain(row["score"]), *(_coefficient(row, name) for name in _COEFFICIENTS), plain(row["n"])]
        for row in rows
    ]
    return [Table(f"Agreement with {summary['human']}", note, head, lines)]


def _coefficient(row: Row, name: str) -> Cell:
    if row[name] is None:
        return plain(None)
    return Cell(number(row[name]), interval(row[f"{name}_low"], row[f"{name}_high"]))


def _unresolved(summary: Row) -> list[Table]:
    rows = summary["unresolved"]
    lines = [[plain(row["score"]), plain(row["answers"]), plain(row["reason"])] for row in rows]
    return [Table("Unresolved", "", ["Score", "Answers", "Why"], lines)] if lines else []


def _plots(summary: Row, judged: Sequence[Judged]) -> list[str]:
    """The judges that agree best with people first; a judge that has no correlation is left out."""
    known = [row for row in summary["agreement"] if row["spearman"] is not None]
    best = sorted(known, key=lambda row: -row["spearman"])[:_MOST_PLOTS]
    shown = [_shown(row, judged) for row in best]
    return [judges_against_human(shown)] if shown else []


def _shown(row: Row, judged: Sequence[Judged]) -> Panel:
    pairs = [
        (score, one["human"])
        for one in judged
        if one["human"] is not None and is_resolved(score := from_json(one["scores"][row["score"]]))
    ]
    within = interval(row["spearman_low"], row["spearman_high"])
    return row["score"], f"Spearman {number(row['spearman'])} {within}", pairs
