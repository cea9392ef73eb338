"""The names of the metrics for readers, and which of them belong together."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from lexloop.evaluation.report.figures import COSTS, Figure

HUMAN = "human"
"""The metric that holds a person's score of an answer, where there is one."""
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
    "model_calls": "model calls",
    "words": "words in the answer",
    "passed": "passed the evaluation",
    "context_tokens": "tokens of context",
    "tokens_in": "tokens to the model",
    "tokens_out": "tokens from the model",
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
"""The tables in their order, each with the metrics that stand in it."""
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
    """Return the metrics by the table that they stand in, both in the order of the tables."""
    groups: dict[str, list[str]] = {}
    for metric in sorted(dict.fromkeys(metrics), key=_place):
        groups.setdefault([*_GROUPS][_place(metric)[0]], []).append(metric)
    return groups


def main_metrics(figures: Iterable[Mapping[str, Figure]]) -> list[str]:
    """Return the metrics shown by question type and class: those that matter and are there.

    Args:
        figures: The metrics of each variant.
    """
    there = {name: True for row in figures for name, made in row.items() if made["n"]}
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
