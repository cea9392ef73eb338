"""The summary of judged answers as tables."""

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_COEFFICIENTS = ("pearson", "spearman", "kendall")
_ESCAPED = str.maketrans({"|": r"\|", "\n": " ", "\r": " ", "<": "&lt;", "`": "'"})


def to_markdown(summary: Row) -> str:
    """Tables of scores and agreement with their 95 % intervals, and what is unresolved, why."""
    return "\n".join([*_head(summary), *_systems(summary), *_agreement(summary), *_gaps(summary)])


def _head(summary: Row) -> Iterator[str]:
    yield f"# {_cell(summary['answers_file'])}, judged\n"
    yield (
        f"{summary['answers']} answers to {summary['questions']} questions; "
        f"{summary['human_scores']} with a human score; judged by "
        f"{_cell(summary['model'] or 'no model')} and on this machine.\n"
    )
    if summary["known_questions"]:
        given = ", ".join(f"{_cell(name)}: {n}" for name, n in summary["documents"].items())
        yield f"Documents from an index of {summary['known_questions']} questions ({given}).\n"


def _systems(summary: Row) -> Iterator[str]:
    rows = summary["systems"]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    cells = {(row["score"], row["system"]): _mean(row) for row in rows}
    yield "## Scores\n"
    yield _line("score", *(_cell(name) or "answers" for name in systems))
    yield _rule(1 + len(systems))
    for name in dict.fromkeys(row["score"] for row in rows):
        yield _line(name, *(cells.get((name, system), "–") for system in systems))
    yield "\nMean [95 % interval] and, in brackets, how many are unresolved.\n"


def _agreement(summary: Row) -> Iterator[str]:
    if not summary["agreement"]:
        return
    yield f"## Agreement with `{_cell(summary['human'])}`\n"
    yield _line("score", *(name.capitalize() for name in _COEFFICIENTS), "answers")
    yield _rule(2 + len(_COEFFICIENTS))
    for row in summary["agreement"]:
        yield _line(row["score"], *(_coefficient(row, key) for key in _COEFFICIENTS), str(row["n"]))
    yield "\nCorrelation [95 % interval, questions resampled whole].\n"


def _gaps(summary: Row) -> Iterator[str]:
    if not summary["unresolved"]:
        return
    yield "## Unresolved\n"
    yield _line("score", "answers", "why")
    yield _rule(3)
    for row in summary["unresolved"]:
        yield _line(row["score"], str(row["answers"]), _cell(row["reason"]))
    yield ""


def _mean(row: Row) -> str:
    if row["mean"] is None:
        return "unresolved"
    missing = f" ({row['unresolved']})" if row["unresolved"] else ""
    return f"{row['mean']:.3f} [{row['low']:.3f}, {row['high']:.3f}]{missing}"


def _coefficient(row: Row, key: str) -> str:
    if row[key] is None:
        return "unresolved"
    return f"{row[key]:.3f} [{row[f'{key}_low']:.3f}, {row[f'{key}_high']:.3f}]"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return f"|{'---|' * columns}"


def _cell(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())
