"""The judges' scores of each system and their agreement with people: figures, Markdown, a page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

from lexloop.core.score import Score, Unresolved, from_json, is_resolved
from lexloop.evaluation.eval_rag.correlation import correlations
from lexloop.evaluation.eval_rag.judging import AnswerRecord
from lexloop.evaluation.report.drawing import Panel, judges_against_human
from lexloop.evaluation.report.figures import Figure, rounded
from lexloop.evaluation.report.page import Section, render
from lexloop.evaluation.report.tables import (
    NO_VALUE,
    NOTE,
    Cell,
    Table,
    Value,
    interval,
    markdown_line,
    number,
)
from lexloop.evaluation.statistics import Estimate, estimate

Figures = dict[str, Any]
"""A flat JSON object."""
_COEFFICIENTS = ("pearson", "spearman", "kendall")
_MOST_PLOTS = 12
_ESCAPED = str.maketrans({"|": r"\|", "<": "&lt;", "`": "'"})


def summarise(records: Sequence[AnswerRecord], about: Figures) -> Figures:
    """Return figures, each with its 95 % interval.

    Args:
        records: Every answer.
        about: What identifies the run; goes in as it is.

    Returns:
        ``systems``: per system and score its mean; ``agreement``: per score its Pearson, Spearman
        and Kendall correlation with the human scores (Eval-RAG, section 3), questions resampled
        whole; ``unresolved``: per score and reason how many answers have no such score.
    """
    names = list(dict.fromkeys(name for one in records for name in one["scores"]))
    rated = [one for one in records if one["human"] is not None]
    given = [one["document"] for one in records]
    kinds = (f"{one['kind']}, {one['origin']}" if one else "none" for one in given)
    return {
        **about,
        "answers": len(records),
        "questions": len({one["question"] for one in records}),
        "human_scores": len(rated),
        "documents": dict(Counter(kinds)),
        "systems": _systems(records, names),
        "agreement": [_agreement(name, rated) for name in (names if rated else ())],
        "unresolved": _unresolved(records, names),
    }


def _systems(records: Sequence[AnswerRecord], names: Sequence[str]) -> list[Figures]:
    rows: list[Figures] = []
    for system in dict.fromkeys(one["system"] for one in records):
        own = [one for one in records if one["system"] == system]
        columns: dict[str, Sequence[Score]] = {name: _scores(own, name) for name in names}
        if given := [one["human"] for one in own if one["human"] is not None]:
            columns["human"] = given
        for name, scores in columns.items():
            rows.append({"system": system, "score": name, **_mean(scores)})
    return rows


def _mean(scores: Sequence[Score]) -> Figures:
    found = estimate(scores)
    if isinstance(found, Unresolved):
        return {"mean": None, "reason": found.reason, "n": 0, "unresolved": len(scores)}
    made = {name: rounded(getattr(found, name)) for name in ("mean", "low", "high")}
    return {**made, "n": found.n, "unresolved": found.unresolved}


def _agreement(name: str, rated: Sequence[AnswerRecord]) -> Figures:
    known = [
        (score, one["human"], one["question"])
        for one, score in zip(rated, _scores(rated, name), strict=True)
        if is_resolved(score) and one["human"] is not None
    ]
    pairs, questions = [(ours, human) for ours, human, _ in known], [asked for *_, asked in known]
    made: Figures = {"score": name, "n": len(known), "unresolved": len(rated) - len(known)}
    for key, value in correlations(pairs, questions).items():
        if isinstance(value, Estimate):
            made[key] = rounded(value.mean)
            made[f"{key}_low"], made[f"{key}_high"] = rounded(value.low), rounded(value.high)
        else:
            made[key], made[f"{key}_reason"] = None, value.reason
    return made


def _unresolved(records: Sequence[AnswerRecord], names: Sequence[str]) -> list[Figures]:
    reasons = Counter(
        (name, score.reason)
        for name in names
        for score in _scores(records, name)
        if isinstance(score, Unresolved)
    )
    return [
        {"score": name, "reason": reason, "answers": count}
        for (name, reason), count in reasons.items()
    ]


def _scores(records: Sequence[AnswerRecord], name: str) -> list[Score]:
    return [from_json(one["scores"][name]) for one in records]


def to_markdown(summary: Figures) -> str:
    """Return tables of scores and agreement, fit for a terminal, and what is unresolved, why."""
    model = _escaped(summary["model"] or "no model")
    lines = [
        f"# {_escaped(summary['answers_file'])}, judged\n",
        f"{summary['answers']} answers to {summary['questions']} questions; "
        f"{summary['human_scores']} with a human score; judged by {model} and on this machine.\n",
    ]
    if known := summary["known_questions"]:
        given = ", ".join(f"{_escaped(name)}: {n}" for name, n in summary["documents"].items())
        lines.append(f"Documents from an index of {known} questions ({given}).\n")
    return "\n".join([*lines, *_scores_written(summary), *_rest_written(summary)])


def _scores_written(summary: Figures) -> Iterator[str]:
    systems, rows = _by_score(summary)
    yield "## Scores\n"
    yield from _ruled("score", *(_escaped(name) or "answers" for name in systems))
    for name, row in rows.items():
        cells = (_written(found, "mean", "", found["unresolved"]) if found else NO_VALUE
                 for found in row)  # fmt: skip
        yield markdown_line([name, *cells])
    yield "\nMean [95 % interval] and, in brackets, how many are unresolved.\n"


def _rest_written(summary: Figures) -> Iterator[str]:
    if summary["agreement"]:
        yield f"## Agreement with `{_escaped(summary['human'])}`\n"
        yield from _ruled("score", *map(str.capitalize, _COEFFICIENTS), "answers")
        for row in summary["agreement"]:
            cells = (_written(row, name, f"{name}_", 0) for name in _COEFFICIENTS)
            yield markdown_line([row["score"], *cells, str(row["n"])])
        yield "\nCorrelation [95 % interval, questions resampled whole].\n"
    if summary["unresolved"]:
        yield "## Unresolved\n"
        yield from _ruled("score", "answers", "why")
        for row in summary["unresolved"]:
            yield markdown_line([row["score"], str(row["answers"]), _escaped(row["reason"])])
        yield ""


def _written(row: Figures, name: str, prefix: str, missing: int) -> str:
    if row[name] is None:
        return "unresolved"
    within = f"[{row[f'{prefix}low']:.3f}, {row[f'{prefix}high']:.3f}]"
    return f"{row[name]:.3f} {within}{f' ({missing})' if missing else ''}"


def _ruled(*head: str) -> tuple[str, str]:
    return markdown_line(head), f"|{'---|' * len(head)}"


def _escaped(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())


def _by_score(summary: Figures) -> tuple[list[str], dict[str, list[Figures | None]]]:
    """The systems, and of each score the figures of every system."""
    rows = summary["systems"]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    found = {(row["score"], row["system"]): row for row in rows}
    names = dict.fromkeys(row["score"] for row in rows)
    return systems, {name: [found.get((name, system)) for system in systems] for name in names}


def to_html(summary: Figures, records: Sequence[AnswerRecord]) -> str:
    """Return the page of a summary, in which everything that others wrote is escaped.

    Args:
        summary: By ``summarise``.
        records: The answers that it sums up, for what is plotted one by one.
    """
    facts = [
        f"{summary['answers']} answers to {summary['questions']} questions, "
        f"{summary['human_scores']} with a person's score",
        f"Judging model: {summary['model'] or 'none'}",
        f"Code: Lexloop {summary['version']}",
    ]
    sections = [
        Section("Scores", "What each judge says of each system.", tables=[_system_table(summary)]),
        Section(
            "Judges and people",
            "Each judge's scores against a person's, of the same answers.",
            _plots(summary, records),
            _agreement_tables(summary),
        ),
        Section("What is missing", "Scores without a value.", tables=_unresolved_tables(summary)),
    ]
    return render(f"{summary['answers_file']}, judged", facts, sections)


def _system_table(summary: Figures) -> Table:
    systems, rows = _by_score(summary)
    lines = [[name, *map(_mean_value, row)] for name, row in rows.items()]
    head = ["Score", *(name or "answers" for name in systems)]
    return Table("Scores by system", NOTE, head, lines)


def _mean_value(row: Figures | None) -> Value:
    return None if row is None else cast("Figure", {"low": None, "high": None, **row})


def _agreement_tables(summary: Figures) -> list[Table]:
    head = ["Score", *map(str.capitalize, _COEFFICIENTS), "Answers"]
    note = "Correlation [95 % bootstrap interval, questions resampled whole]."
    lines = [
        [row["score"], *(_coefficient(row, name) for name in _COEFFICIENTS), row["n"]]
        for row in summary["agreement"]
    ]
    return [Table(f"Agreement with {summary['human']}", note, head, lines)] if lines else []


def _coefficient(row: Figures, name: str) -> Cell | None:
    if row[name] is None:
        return None
    return Cell(number(row[name]), interval(row[f"{name}_low"], row[f"{name}_high"]))


def _unresolved_tables(summary: Figures) -> list[Table]:
    rows = summary["unresolved"]
    lines = [[row["score"], row["answers"], row["reason"]] for row in rows]
    return [Table("Unresolved", "", ["Score", "Answers", "Why"], lines)] if lines else []


def _plots(summary: Figures, records: Sequence[AnswerRecord]) -> list[str]:
    """The judges that agree best with people first; a judge that has no correlation is left out."""
    known = [row for row in summary["agreement"] if row["spearman"] is not None]
    best = sorted(known, key=lambda row: -row["spearman"])[:_MOST_PLOTS]
    panels = [_panel(row, records) for row in best]
    return [judges_against_human(panels)] if panels else []


def _panel(row: Figures, records: Sequence[AnswerRecord]) -> Panel:
    scores = zip(records, _scores(records, row["score"]), strict=True)
    pairs = [
        (score, one["human"])
        for one, score in scores
        if one["human"] is not None and is_resolved(score)
    ]
    agreement = _coefficient(row, "spearman")
    return row["score"], f"Spearman {agreement}", pairs
