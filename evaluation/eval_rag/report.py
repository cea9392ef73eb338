"""The judges' scores of each system and their agreement with people: figures, Markdown, a page."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

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
from lexloop.evaluation.statistics import Estimate, estimate, kendall, pearson, spearman

Array = NDArray[np.float64]
Pair = tuple[float, float]
_SEED, _RESAMPLES = 7, 1000
_PERCENTILES = (2.5, 97.5)
_MOST_CASES = 3000
"""Kendall's tau looks at every two cases; of more than this many it has no interval."""
_SPREAD = 1e-12
_COEFFICIENTS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlations(
    pairs: Sequence[Pair], clusters: Sequence[Hashable]
) -> dict[str, Estimate | Unresolved]:
    """Return Pearson, Spearman and Kendall of two scores (Eval-RAG, table 3) with 95 % intervals.

    Args:
        pairs: A judge's score and a person's, for each answer.
        clusters: The question of each answer. Whole clusters are resampled.

    Returns:
        Under ``pearson``, ``spearman`` and ``kendall``; unresolved where a series is constant, or
        is on half of the resamples.
    """
    values = np.array(pairs, np.float64).reshape(-1, 2)
    x, y = values[:, 0], values[:, 1]
    found: dict[str, Estimate | Unresolved] = {}
    weights = _counts(clusters)
    for name, coefficient in _COEFFICIENTS.items():
        value = coefficient(x.tolist(), y.tolist())
        if isinstance(value, Unresolved):
            found[name] = value
        elif name == "kendall" and len(pairs) > _MOST_CASES:
            found[name] = Unresolved(f"{value:.3f}, of too many answers for an interval")
        else:
            found[name] = _estimate(value, weighted(name, x, y, weights), len(pairs))
    return found


def weighted(name: str, x: Array, y: Array, weights: Array) -> Array:
    """Return one correlation under many sets of weights, NaN where a series has no spread.

    Args:
        name: ``pearson``, ``spearman`` or ``kendall``.
        x: Scores of one judge, shape (cases,).
        y: Those of the other.
        weights: The times that each case counts, shape (resamples, cases).

    Returns:
        Shape (resamples,).
    """
    if name == "pearson":
        shape = weights.shape
        return _pearson(np.broadcast_to(x, shape), np.broadcast_to(y, shape), weights)
    if name == "spearman":
        return _pearson(_ranks(x, weights), _ranks(y, weights), weights)
    return _kendall(x, y, weights)


def _counts(clusters: Sequence[Hashable]) -> Array:
    """The times that each case is drawn in each resample, shape (resamples, cases)."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    if not places:
        return np.zeros((_RESAMPLES, 0))
    random = np.random.default_rng(_SEED)
    even = np.full(len(places), 1 / len(places))
    drawn = random.multinomial(len(places), even, size=_RESAMPLES).astype(np.float64)
    counted: Array = drawn[:, [places[cluster] for cluster in clusters]]
    return counted


def _pearson(x: Array, y: Array, weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = (weights * dx * dx).sum(axis=1) * (weights * dy * dy).sum(axis=1)
    return _quotient((weights * dx * dy).sum(axis=1), np.sqrt(spread))


def _ranks(values: Array, weights: Array) -> Array:
    """The rank of each case in each resample; ties share the mean of their ranks."""
    distinct, places = np.unique(values, return_inverse=True)
    counted = np.zeros((len(weights), len(distinct)))
    np.add.at(counted.T, places, weights.T)
    below = np.cumsum(counted, axis=1) - counted
    ranks: Array = (below + (counted + 1) / 2)[:, places]
    return ranks


def _kendall(x: Array, y: Array, weights: Array) -> Array:
    sx, sy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)

    def over_pairs(matrix: Array) -> Array:
        summed: Array = ((weights @ matrix) * weights).sum(axis=1)
        return summed

    untied = over_pairs(np.abs(sx)) * over_pairs(np.abs(sy))
    return _quotient(over_pairs(sx * sy), np.sqrt(untied))


def _quotient(above: Array, below: Array) -> Array:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > _SPREAD)
    clipped: Array = np.clip(found, -1.0, 1.0)
    return clipped


def _estimate(value: float, resampled: Array, n: int) -> Estimate | Unresolved:
    known = resampled[~np.isnan(resampled)]
    if len(known) * 2 <= len(resampled):
        return Unresolved("on most resamples the correlation has no value: too few cases")
    low, high = np.percentile(known, _PERCENTILES)
    return Estimate(value, min(float(low), value), max(float(high), value), n, 0)


Figures = dict[str, Any]
"""A flat JSON object."""
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
