"""The judges' scores of each system and their agreement with people: figures, Markdown, a page."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from lexloop.evaluation.eval_rag.correlation import correlations
from lexloop.evaluation.eval_rag.judging import AnswerRecord
from lexloop.evaluation.report.drawing import Panel, judges_against_human
from lexloop.evaluation.report.figures import Figure, rounded
from lexloop.evaluation.report.page import Section, render
from lexloop.evaluation.report.tables import (
    NO_VALUE,
    NOTE,
    Table,
    Value,
    cell,
    markdown_line,
)
from lexloop.evaluation.score import Score, Unresolved, from_json, is_resolved
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
    for table in _tables(summary, page=False):
        lines += [f"## {table.title}\n", markdown_line([*map(_escaped, table.head)])]
        lines.append(f"|{'---|' * len(table.head)}")
        lines += [markdown_line([*map(_written, row)]) for row in table.rows]
        lines.append(f"\n{table.note}\n" if table.note else "")
    return "\n".join(lines)


def _written(value: Value) -> str:
    if not isinstance(value, dict):
        return NO_VALUE if value is None else _escaped(str(value))
    if value["mean"] is None:
        return "unresolved"
    missing = f" ({count})" if (count := value.get("unresolved")) else ""
    return f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]{missing}"


def _escaped(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())


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
    systems, *others = _tables(summary, page=True)
    agreement = [table for table in others if table.note]
    missing = [table for table in others if not table.note]
    about = "Each judge's scores against a person's, of the same answers."
    sections = [
        Section("Scores", "What each judge says of each system.", (), [systems]),
        Section("Judges and people", about, _plots(summary, records), agreement),
        Section("What is missing", "Scores without a value.", (), missing),
    ]
    return render(f"{summary['answers_file']}, judged", facts, sections)


def _tables(summary: Figures, page: bool) -> list[Table]:
    """The scores of each system, the agreement with people, and the unresolved scores, if any."""
    score, answers, why = ("Score", "Answers", "Why") if page else ("score", "answers", "why")
    given = summary["systems"]
    names = list(dict.fromkeys(row["system"] for row in given))
    found = {(row["score"], row["system"]): row for row in given}
    by_score = dict.fromkeys(row["score"] for row in given)
    lines = [[name, *(found.get((name, system)) for system in names)] for name in by_score]
    agreement = [
        [row["score"], *(_coefficient(row, name) for name in _COEFFICIENTS), row["n"]]
        for row in summary["agreement"]
    ]
    human = summary["human"] if page else f"`{_escaped(summary['human'])}`"
    missing = [[row["score"], row["answers"], row["reason"]] for row in summary["unresolved"]]
    tables = [
        Table(
            "Scores by system" if page else "Scores",
            NOTE if page else "Mean [95 % interval] and, in brackets, how many are unresolved.",
            [score, *(name or "answers" for name in names)],
            lines,
        ),
        Table(
            f"Agreement with {human}",
            f"Correlation [95 % {'bootstrap ' * page}interval, questions resampled whole].",
            [score, *map(str.capitalize, _COEFFICIENTS), answers],
            agreement,
        ),
        Table("Unresolved", "", [score, answers, why], missing),
    ]
    return [tables[0], *(table for table in tables[1:] if table.rows)]


def _coefficient(row: Figures, name: str) -> Figures:
    ends = {end: row.get(f"{name}_{end}") for end in ("low", "high")}
    return {"mean": row[name], **ends, "n": row["n"]}


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
    made = cast("Figure", _coefficient(row, "spearman"))
    return row["score"], f"Spearman {cell(made)}", pairs
