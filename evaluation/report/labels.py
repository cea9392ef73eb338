"""The names of the metrics for readers, and which of them belong together."""

from collections.abc import Iterable, Mapping

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
_PLANNED = "Retrieval, at each plan's own k"
_DEEP = "Retrieval, at fixed depths"
_SPANS = "Retrieval of documents and characters"
_WORDS = "Words shared with the reference"
_BY_MODEL = "Judged by a model"
_OTHER = "Other metrics"
_COST = "Cost per question"
_GROUPS: dict[str, tuple[str, ...]] = {
    "Quality": (
        *("correctness", "correct", "similarity", "abstention_accuracy", "wrongly_abstained"),
        *("rightly_abstained", "passed", "abstained", HUMAN),
    ),
    "Grounds": (
        *("faithfulness", "groundedness", "answer_relevance", "context_relevance"),
        *("context_recall", "context_precision", "unverified_citations"),
    ),
    _PLANNED: ("recall@k", "precision@k", "hit@k", "mrr@k", "map@k", "ndcg@k"),
    _COST: COSTS,
}
_BY_PREFIX = {
    "model_": _BY_MODEL,
    **dict.fromkeys(("document_", "span_"), _SPANS),
    **dict.fromkeys(("rouge", "token_", "bleu", "exact_", "words"), _WORDS),
}
_ORDER = ("Quality", "Grounds", _BY_MODEL, _PLANNED, _DEEP, _SPANS, _WORDS, _OTHER, _COST)
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
    """Return the metrics by the table that they stand in, in the order of the tables."""
    present = list(metrics)
    known = [metric for members in _GROUPS.values() for metric in members if metric in present]
    groups: dict[str, list[str]] = {name: [] for name in _ORDER}
    for metric in dict.fromkeys([*known, *present]):
        groups[_group(metric)].append(metric)
    return {name: members for name, members in groups.items() if members}


def main_metrics(figures: Iterable[Mapping[str, Figure]]) -> list[str]:
    """Return the metrics shown by question type and class: those that matter and are there.

    Args:
        figures: The metrics of each variant.
    """
    there = {name: True for row in figures for name, made in row.items() if made["n"]}
    chosen = [name for name in _MAIN if name in there]
    return chosen or [name for name in there if name not in COSTS][:1]


def _group(metric: str) -> str:
    for name, members in _GROUPS.items():
        if metric in members:
            return name
    for prefix, name in _BY_PREFIX.items():
        if metric.startswith(prefix):
            return name
    return _DEEP if "@" in metric else _OTHER
