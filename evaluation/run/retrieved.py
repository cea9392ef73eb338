"""Metrics of what was retrieved, per chunk, per document and per character."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import Candidate, Passage
from lexloop.evaluation.evidence import Grades, Relevant
from lexloop.evaluation.metrics import retrieval
from lexloop.evaluation.metrics.retrieval import span_precision, span_recall

Metric = Callable[[Sequence[str], Mapping[str, int], int], Score]
_METRICS: dict[str, Metric] = {
    "recall": retrieval.recall,
    "precision": retrieval.precision,
    "hit": retrieval.hit_rate,
    "mrr": retrieval.reciprocal_rank,
    "map": retrieval.average_precision,
    "ndcg": retrieval.ndcg,
}
_DEPTHS = (5, 10)
_DOCUMENTS = 3
"""Sultania et al. return and measure three documents."""


def ranking(state: dict[str, Any]) -> list[Candidate]:
    """The passages, then the other candidates in the order of fusion.

    Where an earlier attempt became the answer its candidates are gone, and the passages are all.
    """
    passages: list[Candidate] = list(state["passages"])
    if state["attempts"][-1]["passages"] != state["passages"]:
        return passages
    chosen = {passage["id"] for passage in passages}
    others = [*state.get("candidates", []), *state.get("graph_candidates", [])]
    rest = {candidate["id"]: candidate for candidate in others if candidate["id"] not in chosen}
    return [*passages, *rest.values()]


def of_retrieval(
    relevant: Relevant, ranked: Sequence[Candidate], passages: Sequence[Passage], k: int
) -> dict[str, Score]:
    """Each ranking metric at k, 5 and 10, of documents at 3, and the characters of the evidence.

    Args:
        relevant: What should have been found.
        ranked: Chunks, best first, the passages before all others.
        passages: What the answer was written from.
        k: How many passages the plan allows.
    """
    ids = [candidate["id"] for candidate in ranked]
    owners = list(dict.fromkeys(candidate["document"] for candidate in ranked))
    found: dict[str, Score] = {}
    for name, metric in _METRICS.items():
        found[f"{name}@k"] = _at(metric, ids[: len(passages)], relevant.chunks, k)
        for depth in _DEPTHS:
            found[f"{name}@{depth}"] = _at(metric, ids, relevant.chunks, depth, least=depth)
        found[f"document_{name}@{_DOCUMENTS}"] = _at(metric, owners, relevant.documents, _DOCUMENTS)
    return {**found, **_spans(relevant, passages)}


def _at(
    metric: Metric, ranked: Sequence[str], grades: Grades | Unresolved, k: int, least: int = 0
) -> Score:
    if isinstance(grades, Unresolved):
        return grades
    if len(ranked) < least:
        return Unresolved(f"fewer than {least} candidates")
    return metric(ranked, grades, k)


def _spans(relevant: Relevant, passages: Sequence[Passage]) -> dict[str, Score]:
    if isinstance(relevant.spans, Unresolved):
        return {"span_recall": relevant.spans, "span_precision": relevant.spans}
    evidence = [(span.document, span.start, span.end) for span in relevant.spans]
    retrieved = [(p["document"], p["start"], p["end"]) for p in passages]
    return {
        "span_recall": span_recall(retrieved, evidence),
        "span_precision": span_precision(retrieved, evidence),
    }
