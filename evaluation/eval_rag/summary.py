"""What the judges say of each system, and how far each judge agrees with people."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lexloop.core.score import Score, Unresolved, from_json
from lexloop.evaluation.eval_rag.correlation import Pair, correlations
from lexloop.evaluation.eval_rag.judging import Judged
from lexloop.evaluation.statistics import estimate

_DIGITS = 6
Row = dict[str, Any]


def summarise(judged: Sequence[Judged], about: Row) -> Row:
    """Flat rows of figures, each with its 95 % interval.

    Args:
        judged: Every answer.
        about: What identifies the run; goes in as it is.

    Returns:
        ``systems``: per system and score its mean; ``agreement``: per score its Pearson, Spearman
        and Kendall correlation with the human scores (Eval-RAG, section 3), questions resampled
        whole; ``unresolved``: per score and reason how many answers have no such score.
    """
    names = list(dict.fromkeys(name for row in judged for name in row["scores"]))
    return {
        **about,
        "answers": len(judged),
        "questions": len({row["question"] for row in judged}),
        "human_scores": sum(row["human"] is not None for row in judged),
        "documents": dict(Counter(_origin(row) for row in judged)),
        "systems": _systems(judged, names),
        "agreement": _agreement(judged, names),
        "unresolved": _unresolved(judged, names),
    }


def _origin(row: Judged) -> str:
    found = row["document"]
    return f"{found['kind']}, {found['origin']}" if found else "none"


def _systems(judged: Sequence[Judged], names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for system in dict.fromkeys(row["system"] for row in judged):
        own = [row for row in judged if row["system"] == system]
        rows += [{"system": system, "score": name, **_figure(_scores(own, name))} for name in names]
        given = [row["human"] for row in own if row["human"] is not None]
        if given:
            rows.append({"system": system, "score": "human", **_figure(given)})
    return rows


def _agreement(judged: Sequence[Judged], names: Sequence[str]) -> list[Row]:
    rated = [row for row in judged if row["human"] is not None]
    return [_agreement_of(name, rated) for name in names] if rated else []


def _agreement_of(name: str, rated: Sequence[Judged]) -> Row:
    pairs: list[Pair] = []
    questions: list[str] = []
    for row, score in zip(rated, _scores(rated, name), strict=True):
        if not isinstance(score, Unresolved) and row["human"] is not None:
            pairs.append((score, row["human"]))
            questions.append(row["question"])
    found: Row = {"score": name, "n": len(pairs), "unresolved": len(rated) - len(pairs)}
    for key, value in correlations(pairs, questions).items():
        if isinstance(value, Unresolved):
            found[key] = None
            found[f"{key}_reason"] = value.reason
        else:
            found[key] = _rounded(value.mean)
            found[f"{key}_low"], found[f"{key}_high"] = _rounded(value.low), _rounded(value.high)
    return found


def _unresolved(judged: Sequence[Judged], names: Sequence[str]) -> list[Row]:
    reasons = Counter(
        (name, score.reason)
        for name in names
        for score in _scores(judged, name)
        if isinstance(score, Unresolved)
    )
    return [
        {"score": name, "reason": reason, "answers": count}
        for (name, reason), count in reasons.items()
    ]


def _scores(rows: Sequence[Judged], name: str) -> list[Score]:
    return [from_json(row["scores"][name]) for row in rows]


def _figure(scores: Sequence[Score]) -> Row:
    found = estimate(scores)
    if isinstance(found, Unresolved):
        return {"mean": None, "reason": found.reason, "n": 0, "unresolved": len(scores)}
    return {
        "mean": _rounded(found.mean),
        "low": _rounded(found.low),
        "high": _rounded(found.high),
        "n": found.n,
        "unresolved": found.unresolved,
    }


def _rounded(value: float) -> float:
    return round(value, _DIGITS)
