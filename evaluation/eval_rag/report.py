"""The judges' scores of each system and their agreement with people: figures, Markdown, a page."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lexloop.evaluation.eval_rag.judging import AnswerRecord
from lexloop.evaluation.report.drawing import Panel, judges_against_human
from lexloop.evaluation.report.page import Section, render
from lexloop.evaluation.report.tables import (
    NOTE,
    Figure,
    Figures,
    Table,
    as_markdown,
    cell,
    figures,
    rounded,
)
from lexloop.evaluation.score import Score, Unresolved, from_json, is_resolved
from lexloop.evaluation.statistics import Estimate, kendall, pearson, spearman

Array = NDArray[np.float64]
Pair = tuple[float, float]
_SEED, _RESAMPLES = 7, 1000
_PERCENTILES = (2.5, 97.5)
_MOST_CASES = 3000
"""Kendall's tau looks at every two cases; of more than this many it has no interval."""
_SPREAD = 1e-12


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
    x, y = np.array(pairs, np.float64).reshape(-1, 2).T
    found: dict[str, Estimate | Unresolved] = {}
    weights = _counts(clusters)
    for name, (coefficient, weighted) in COEFFICIENTS.items():
        value = coefficient(x.tolist(), y.tolist())
        if isinstance(value, Unresolved):
            found[name] = value
        elif name == "kendall" and len(pairs) > _MOST_CASES:
            found[name] = Unresolved(f"{value:.3f}, of too many answers for an interval")
        else:
            found[name] = _estimate(value, weighted(x, y, weights), len(pairs))
    return found


def _counts(clusters: Sequence[Hashable]) -> Array:
    """The times that each case is drawn in each resample, shape (resamples, cases)."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    if not places:
        return np.zeros((_RESAMPLES, 0))
    even = np.full(len(places), 1 / len(places))
    drawn = np.random.default_rng(_SEED).multinomial(len(places), even, size=_RESAMPLES)
    counted: Array = drawn.astype(np.float64)[:, [places[cluster] for cluster in clusters]]
    return counted


def _pearson(x: Array, y: Array, weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread = (weights * dx * dx).sum(axis=1) * (weights * dy * dy).sum(axis=1)
    return _quotient((weights * dx * dy).sum(axis=1), np.sqrt(spread))


def _spearman(x: Array, y: Array, weights: Array) -> Array:
    return _pearson(_ranks(x, weights), _ranks(y, weights), weights)


def _ranks(values: Array, weights: Array) -> Array:
    """The rank of each case in each resample; ties share the mean of their ranks."""
    distinct, places = np.unique(values, return_inverse=True)
    counted = np.zeros((len(weights), len(distinct)))
    np.add.at(counted.T, places, weights.T)
    ranks: Array = (np.cumsum(counted, axis=1) - (counted - 1) / 2)[:, places]
    return ranks


def _kendall(x: Array, y: Array, weights: Array) -> Array:
    sx, sy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both, one, other = (
        ((weights @ matrix) * weights).sum(axis=1) for matrix in (sx * sy, np.abs(sx), np.abs(sy))
    )
    return _quotient(both, np.sqrt(one * other))


def _quotient(above: Array, below: Array) -> Array:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > _SPREAD)
    clipped: Array = np.clip(found, -1.0, 1.0)
    return clipped


Weighted = Callable[[Array, Array, Array], Array]
COEFFICIENTS: dict[str, tuple[Callable[..., Score], Weighted]] = {
    "pearson": (pearson, _pearson),
    "spearman": (spearman, _spearman),
    "kendall": (kendall, _kendall),
}
"""Each correlation, and the same under many sets of weights at once, which scipy does not have: of
two scores, shape (cases,), and the times that each case counts, shape (resamples, cases); NaN where
a series has no spread."""


def _estimate(value: float, resampled: Array, n: int) -> Estimate | Unresolved:
    known = resampled[~np.isnan(resampled)]
    if len(known) * 2 <= len(resampled):
        return Unresolved("on most resamples the correlation has no value: too few cases")
    low, high = np.percentile(known, _PERCENTILES)
    return Estimate(value, min(float(low), value), max(float(high), value), n, 0)


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
    scores = [(name, score) for name in names for score in _scores(records, name)]
    missing = Counter((name, s.reason) for name, s in scores if isinstance(s, Unresolved))
    return {
        **about,
        "answers": len(records),
        "questions": len({one["question"] for one in records}),
        "human_scores": len(rated),
        "documents": dict(Counter(kinds)),
        "systems": _systems(records, names),
        "agreement": [_agreement(name, rated) for name in (names if rated else ())],
        "unresolved": [
            {"score": name, "reason": reason, "answers": count}
            for (name, reason), count in missing.items()
        ],
    }


def _systems(records: Sequence[AnswerRecord], names: Sequence[str]) -> list[Figures]:
    rows: list[Figures] = []
    for system in dict.fromkeys(one["system"] for one in records):
        own = [one for one in records if one["system"] == system]
        columns: dict[str, Sequence[Score]] = {name: _scores(own, name) for name in names}
        if given := [one["human"] for one in own if one["human"] is not None]:
            columns["human"] = given
        rows += [{"system": system, "score": name, **f} for name, f in figures(columns).items()]
    return rows


def _agreement(name: str, rated: Sequence[AnswerRecord]) -> Figures:
    known = _paired(name, rated)
    made: Figures = {"score": name, "n": len(known), "unresolved": len(rated) - len(known)}
    pairs, questions = [pair for pair, _ in known], [question for _, question in known]
    for key, value in correlations(pairs, questions).items():
        if isinstance(value, Estimate):
            made[key] = rounded(value.mean)
            made[f"{key}_low"], made[f"{key}_high"] = rounded(value.low), rounded(value.high)
        else:
            made[key], made[f"{key}_reason"] = None, value.reason
    return made


def _paired(name: str, records: Sequence[AnswerRecord]) -> list[tuple[Pair, str]]:
    """A judge's score with a person's, and the question, of each answer that has both."""
    return [
        ((score, one["human"]), one["question"])
        for one, score in zip(records, _scores(records, name), strict=True)
        if is_resolved(score) and one["human"] is not None
    ]


def _scores(records: Sequence[AnswerRecord], name: str) -> list[Score]:
    return [from_json(one["scores"][name]) for one in records]


def to_markdown(summary: Figures) -> str:
    """Return tables of scores and agreement, fit for a terminal, and what is unresolved, why."""
    title, *facts = map(_escaped, (f"{summary['answers_file']}, judged", *_facts(summary)))
    heading = "\n".join([f"# {title}", "", *(f"- {fact}" for fact in facts)])
    shown = (as_markdown(table, _escaped) for table in _tables(summary) if table.rows)
    return "\n\n".join([heading, *shown])


def _escaped(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())


def to_html(summary: Figures, records: Sequence[AnswerRecord]) -> str:
    """Return the page of a summary, in which everything that others wrote is escaped.

    Args:
        summary: By ``summarise``.
        records: The answers that it sums up, for what is plotted one by one.
    """
    systems, agreement, missing = ([table] if table.rows else [] for table in _tables(summary))
    about = "Each judge's scores against a person's, of the same answers."
    sections = [
        Section("Scores", "What each judge says of each system.", (), systems),
        Section("Judges and people", about, _plots(summary, records), agreement),
        Section("What is missing", "Scores without a value.", (), missing),
    ]
    return render(f"{summary['answers_file']}, judged", _facts(summary), sections)


def _facts(summary: Figures) -> list[str]:
    given = ", ".join(f"{name}: {count}" for name, count in summary["documents"].items())
    known = summary["known_questions"]
    return [
        f"{summary['answers']} answers to {summary['questions']} questions, "
        f"{summary['human_scores']} with a person's score",
        f"Judging model: {summary['model'] or 'none'}",
        *([f"Documents from an index of {known} questions ({given})"] if known else []),
        f"Code: Lexloop {summary['version']}",
    ]


def _tables(summary: Figures) -> tuple[Table, Table, Table]:
    """The scores of each system, the agreement with people, and the unresolved scores."""
    given = summary["systems"]
    names = list(dict.fromkeys(row["system"] for row in given))
    found = {(row["score"], row["system"]): row for row in given}
    scores = dict.fromkeys(row["score"] for row in given)
    lines = [[name, *(found.get((name, system)) for system in names)] for name in scores]
    agreement = [
        [row["score"], *(_coefficient(row, name) for name in COEFFICIENTS), row["n"]]
        for row in summary["agreement"]
    ]
    missing = [[row["score"], row["answers"], row["reason"]] for row in summary["unresolved"]]
    note = "Correlation [95 % bootstrap interval, questions resampled whole]."
    named = [*map(str.capitalize, COEFFICIENTS)]
    return (
        Table("Scores", NOTE, ["Score", *(name or "answers" for name in names)], lines),
        Table(f"Agreement with {summary['human']}", note, ["Score", *named, "Answers"], agreement),
        Table("Unresolved", "", ["Score", "Answers", "Why"], missing),
    )


def _coefficient(row: Figures, name: str) -> Figure:
    ends = {end: row.get(f"{name}_{end}") for end in ("low", "high")}
    return cast("Figure", {"mean": row[name], **ends, "n": row["n"]})


def _plots(summary: Figures, records: Sequence[AnswerRecord]) -> list[str]:
    """The judges that agree best with people first; a judge that has no correlation is left out."""
    known = [row for row in summary["agreement"] if row["spearman"] is not None]
    best = sorted(known, key=lambda row: -row["spearman"])[:_MOST_PLOTS]
    panels: list[Panel] = []
    for row in best:
        pairs = [pair for pair, _ in _paired(row["score"], records)]
        panels.append((row["score"], f"Spearman {cell(_coefficient(row, 'spearman'))}", pairs))
    return [judges_against_human(panels)] if panels else []
