"""Figures with intervals, what metrics are called, and the tables that show them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from statistics import stdev
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from lexloop_eval.record import Record
from lexloop_eval.score import Score, Unresolved, from_json, resolved
from lexloop_eval.statistics import Estimate, estimates

_DECIMALS = 6
DOLLARS = "usd_per_1000"
COSTS = ("context_tokens", "model_calls", "tokens_in", "tokens_out", DOLLARS, "retries")
"""The costs of a question, known even if it failed."""
SECONDS = "seconds"
_OWN = ("passed", "abstained")


Figures = dict[str, Any]
"""Figures as a JSON object."""


class Figure(TypedDict):
    """A mean with its 95 % bootstrap interval. All three are None if nothing is resolved.

    ``sd`` is the standard deviation of the scores of a mean over questions, with n - 1, or None if
    there are fewer than two. ``n`` counts the resolved scores and ``unresolved`` the others.
    ``reasons`` counts these by reason, except in the groups of a variant, which would only repeat
    it. ``difference`` and ``p`` compare a variant with the run's first: the mean difference over
    the questions that both resolved, and its paired randomisation test.
    """

    mean: float | None
    low: float | None
    high: float | None
    sd: NotRequired[float | None]
    n: int
    unresolved: int
    reasons: NotRequired[dict[str, int]]
    difference: NotRequired[float | None]
    p: NotRequired[float | None]


def figure(scores: Sequence[Score]) -> Figure:
    """Return the mean of scores with its interval, and why some are unresolved."""
    return figures({"": scores})[""]


def figures(columns: Mapping[str, Sequence[Score]]) -> dict[str, Figure]:
    """Return the ``figure`` of every column, under its name."""
    by_name: dict[str, Figure] = {}
    results = estimates(list(columns.values()))
    for (name, scores), estimate in zip(columns.items(), results, strict=True):
        reasons = Counter(score.reason for score in scores if isinstance(score, Unresolved))
        values = resolved(scores)
        by_name[name] = of_estimate(estimate)
        by_name[name]["sd"] = rounded(stdev(values)) if len(values) > 1 else None
        by_name[name]["unresolved"] = reasons.total()
        by_name[name]["reasons"] = dict(sorted(reasons.items()))
    return by_name


def of_estimate(estimated: Estimate | Unresolved) -> Figure:
    """Return an estimate as a figure; one without a value keeps its reason."""
    if isinstance(estimated, Unresolved):
        nothing: Figure = {"mean": None, "low": None, "high": None, "n": 0, "unresolved": 0}
        return {**nothing, "reasons": {estimated.reason: 1}}
    return {
        "mean": rounded(estimated.mean),
        "low": rounded(estimated.low),
        "high": rounded(estimated.high),
        "n": estimated.n,
        "unresolved": estimated.unresolved,
        "reasons": {},
    }


def of_score(value: Estimate | Score) -> Figure | float:
    """Return an estimate or an unresolved score as a figure, and a plain number rounded."""
    if isinstance(value, Estimate | Unresolved):
        return of_estimate(value)
    return value if isinstance(value, int) else rounded(value)


def score_of(record: Record, name: str) -> Score:
    """Return one metric of a record, its seconds, or its cost.

    A failed question has only costs.
    """
    if name in COSTS:
        return float(costs(record)[name])
    if record.get("error"):
        return Unresolved("the question failed")
    if name in record["metrics"]:
        return from_json(record["metrics"][name])
    if name in (*_OWN, SECONDS):
        return float(cast("dict[str, Any]", record)[name])
    return Unresolved("not measured")


def costs(record: Record) -> dict[str, float]:
    """Return the costs of a question, known even if it failed, without wall time."""
    return {
        "context_tokens": record["context_tokens"],
        "model_calls": record["model_calls"],
        "tokens_in": record["tokens_in"],
        "tokens_out": record["tokens_out"],
        DOLLARS: 1000 * record.get("cost_usd", 0.0),
        "retries": max(0, len(record["attempts"]) - 1),
    }


def metric_names(records: Iterable[Record]) -> list[str]:
    """Return every metric that some record has, in the order of their first appearance."""
    all_records = [*records]
    names = [name for record in all_records for name in record["metrics"]]
    priced = any("cost_usd" in record for record in all_records)
    costs_known = [name for name in COSTS if name != DOLLARS or priced]
    return list(dict.fromkeys([*names, *_OWN, *costs_known]))


def rounded(value: float) -> float:
    """Return six decimals: more would differ between machines, by the order of their additions."""
    # adding 0 turns a negative zero into zero
    return round(float(value), _DECIMALS) + 0.0


NOTE = "Mean [95 % bootstrap interval] (unresolved scores)."
NO_VALUE = "–"
_PLAIN = str.maketrans({"|": r"\|", "<": "&lt;", "`": "'"})
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#$~&!])")


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Args:
        text: The value.
        interval: Its 95 % interval, if it has one.
        unresolved: The number of scores without a value, or None if there are none to count.
        p: The p value of the difference from the first variant.
    """

    text: str
    interval: str = ""
    unresolved: int | None = None
    p: str = ""

    def __str__(self) -> str:
        """Return all of it on one line."""
        missing = "" if self.unresolved is None else f"({self.unresolved})"
        return " ".join(filter(None, (self.text, self.interval, missing, self.p)))


Value = str | int | float | Figure | Cell | None


@dataclass(frozen=True)
class Table:
    """A table; ``note`` says what its cells mean."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Value]]

    @property
    def cells(self) -> list[list[Cell]]:
        """Return the rows as they are shown."""
        return [[cell(value) for value in row] for row in self.rows]


def cell(value: Value) -> Cell:
    """Return the cell of a figure or of a text. None and empty values are a dash."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, float):
        return Cell(number(value))
    if value is None or isinstance(value, str | int):
        return Cell(NO_VALUE if value is None or value == "" else str(value))
    mean, low, high = value["mean"], value.get("low"), value.get("high")
    missing = value.get("unresolved")
    if mean is None or low is None or high is None:
        return Cell(NO_VALUE, unresolved=missing)
    # a single score has no spread for an interval
    within = interval(low, high) if value["n"] > 1 else "[one score]"
    p = value.get("p")
    p_text = "" if p is None else f"p {probability(p)}"
    return Cell(number(mean), within, missing, p_text)


def spread(made: Figure | None) -> Cell:
    """Return a figure as in ``cell``, in place of its p the standard deviation, by the mean."""
    shown, sd = replace(cell(made), p=""), made and made.get("sd")
    return shown if sd is None else replace(shown, text=f"{shown.text} ± {number(sd)}")


def number(value: float) -> str:
    """Return three decimals, or fewer for large values."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def interval(low: float, high: float) -> str:
    """Return both ends in brackets."""
    return f"[{number(low)}, {number(high)}]"


def probability(p: float) -> str:
    """Return a p value; 10,000 draws tell no smaller ones apart."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table, with unchanged cells."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, cells))} |" for cells in lines]


def as_markdown(table: Table, escape: Callable[[str], str] | None = None) -> str:
    """Return a table with its title and note, everything escaped, by ``escaped`` unless told."""
    plain = escape or escaped
    note = [plain(table.note), ""] if table.note else []
    rows = [[plain(str(cell)) for cell in row] for row in table.cells]
    lines = markdown_table([plain(name) for name in table.head], rows)
    return "\n".join([f"## {plain(table.title)}", "", *note, *lines])


def plain_cell(text: str) -> str:
    """Return text that others wrote for a table that is read on a terminal."""
    return " ".join(text.translate(_PLAIN).split())


def escaped(text: str) -> str:
    """Return text that others wrote as text: no markup, no line breaks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


HUMAN = "human"
"""The metric for a person's score of an answer."""
_LABELS = {
    "correctness": "correctness (1–5)",
    "correct": "correct (≥ 4)",
    "similarity": "similarity to the reference",
    "abstention_accuracy": "answered or abstained rightly",
    "rouge1_recall": "ROUGE-1 recall",
    "rouge1_precision": "ROUGE-1 precision",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "token_f1": "token F1",
    "bleu": "BLEU",
    "model_correctness_general": "correctness (1–5), general prompt, by a model",
    "model_correctness_criteria": "correctness (1–5), criteria, by a model",
    "model_correctness_examples": "correctness (1–5), criteria and examples, by a model",
    "model_correct_or_not": "correct or not, by a model",
    "model_calls": "model calls",
    "words": "words in the answer",
    "passed": "passed the evaluation",
    "context_tokens": "tokens of context",
    "tokens_in": "tokens to the model",
    "tokens_out": "tokens from the model",
    DOLLARS: "US dollars for 1,000 questions",
}
_GROUPS: dict[str, tuple[str, ...]] = {
    "Quality": (
        *("correctness", "correct", "similarity", "abstention_accuracy", "wrongly_abstained"),
        *("rightly_abstained", "passed", "abstained", HUMAN),
    ),
    "Grounds": (
        *("faithfulness", "groundedness", "answer_relevance", "context_relevance"),
        *("context_recall", "context_precision", "unverified_citations"),
    ),
    "Judged by a model": ("model_*",),
    "Retrieval, at each plan's own k": (
        *("recall@k", "precision@k", "hit@k", "mrr@k", "map@k", "ndcg@k"),
    ),
    "Retrieval, at fixed depths": ("*@5", "*@10"),
    "Retrieval of documents and characters": ("document_*", "span_*"),
    "Words shared with the reference": ("rouge*", "token_f1", "bleu", "exact_match", "words"),
    "Other metrics": ("*",),
    "Cost per question": COSTS,
}
"""The tables in order, each with its metrics."""
_MAIN = ("correctness", "model_correctness_examples", "similarity", "recall@k")


def label(metric: str) -> str:
    """Return the name of a metric in tables."""
    if metric in _LABELS:
        return _LABELS[metric]
    plain = metric.removeprefix("model_").replace("_", " ")
    return f"{plain}, by a model" if metric.startswith("model_") else plain


def title(metric: str) -> str:
    """Return the name of a metric as it begins a title."""
    name = label(metric)
    return name[:1].upper() + name[1:]


def grouped(metrics: Iterable[str]) -> dict[str, list[str]]:
    """Return the metrics by their table, both in the order of the tables."""
    groups: dict[str, list[str]] = {}
    for metric in sorted(dict.fromkeys(metrics), key=_place):
        groups.setdefault([*_GROUPS][_place(metric)[0]], []).append(metric)
    return groups


def main_metrics(figures: Iterable[Mapping[str, Figure]]) -> list[str]:
    """Return the metrics shown by question type and class: those that matter and are there.

    Args:
        figures: The metrics of each variant.
    """
    there = {name: True for row in figures for name, estimate in row.items() if estimate["n"]}
    chosen = [name for name in _MAIN if name in there]
    return chosen or [name for name in there if name not in COSTS][:1]


def _place(metric: str) -> tuple[int, int]:
    """The first table that a metric fits into, and its column there."""
    return min(
        (table, column)
        for table, patterns in enumerate(_GROUPS.values())
        for column, pattern in enumerate(patterns)
        if fnmatchcase(metric, pattern) and (pattern in COSTS or metric not in COSTS)
    )
