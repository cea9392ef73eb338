"""What readers call the metrics, and which belong together."""

from collections.abc import Iterable, Mapping

from lexloop.evaluation.report.figures import COSTS, Figure

HUMAN = "human"
"""The metric under which a person's score of an answer is kept, where there is one."""
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
_GROUPS = {
    "Quality": (
        "correctness",
        "correct",
        "similarity",
        "abstention_accuracy",
        "wrongly_abstained",
        "rightly_abstained",
        "passed",
        "abstained",
        HUMAN,
    ),
    "Grounds": (
        "faithfulness",
        "groundedness",
        "answer_relevance",
        "context_relevance",
        "context_recall",
        "context_precision",
        "unverified_citations",
    ),
    "Retrieval, at each plan's own k": tuple(
        f"{name}@k" for name in ("recall", "precision", "hit", "mrr", "map", "ndcg")
    ),
    "Cost per question": COSTS,
}
_BY_PREFIX = (
    ("model_", "Judged by a model"),
    ("document_", "Retrieval of documents and characters"),
    ("span_", "Retrieval of documents and characters"),
    ("rouge", "Words shared with the reference"),
    ("token_", "Words shared with the reference"),
    ("bleu", "Words shared with the reference"),
    ("exact_", "Words shared with the reference"),
    ("words", "Words shared with the reference"),
)
_DEEP = "Retrieval, at fixed depths"
_OTHER = "Other metrics"
ORDER = (
    "Quality",
    "Grounds",
    "Judged by a model",
    "Retrieval, at each plan's own k",
    _DEEP,
    "Retrieval of documents and characters",
    "Words shared with the reference",
    _OTHER,
    "Cost per question",
)
_MAIN = ("correctness", "model_correctness_examples", "similarity", "recall@k")


def label(metric: str) -> str:
    """What tables call a metric."""
    if metric in _LABELS:
        return _LABELS[metric]
    plain = metric.removeprefix("model_").replace("_", " ")
    return f"{plain}, by a model" if metric.startswith("model_") else plain


def grouped(metrics: Iterable[str]) -> dict[str, list[str]]:
    """The metrics by the table that they stand in, in the order of the tables."""
    present = list(metrics)
    groups: dict[str, list[str]] = {name: [] for name in ORDER}
    for name, members in _GROUPS.items():
        groups[name] = [metric for metric in members if metric in present]
    for metric in present:
        name = _group(metric)
        if metric not in groups[name]:
            groups[name].append(metric)
    return {name: members for name, members in groups.items() if members}


def main_metrics(figures: Iterable[Mapping[str, Figure]]) -> list[str]:
    """The metrics that are shown by question type and class: those that matter and are there.

    Args:
        figures: The metrics of each row.
    """
    there = {name: True for row in figures for name, made in row.items() if made["n"]}
    chosen = [name for name in _MAIN if name in there]
    return chosen or [name for name in there if name not in COSTS][:1]


def scale(metric: str) -> tuple[float, float] | None:
    """The least and greatest value of a metric; None where it has no bounds."""
    if metric == HUMAN or metric in COSTS or metric in ("words", "unverified_citations"):
        return None
    return (1.0, 5.0) if "correctness" in metric else (0.0, 1.0)


def _group(metric: str) -> str:
    for name, members in _GROUPS.items():
        if metric in members:
            return name
    for prefix, name in _BY_PREFIX:
        if metric.startswith(prefix):
            return name
    return _DEEP if "@" in metric else _OTHER
