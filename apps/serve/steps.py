"""What a reader may like to know of a step of the graph when it has ended."""

from collections.abc import Callable, Mapping
from typing import Any


def _classified(update: Mapping[str, Any]) -> dict[str, Any]:
    return {"class": update["complexity"], "plan": update["plan"]}


def _rewritten(update: Mapping[str, Any]) -> dict[str, Any]:
    return {name: update[name] for name in ("standalone", "queries", "keywords", "read_as")}


def _retrieved(update: Mapping[str, Any]) -> dict[str, Any]:
    return {"candidates": len(update["candidates"])}


def _walked(update: Mapping[str, Any]) -> dict[str, Any]:
    return {"candidates": len(update["graph_candidates"]), "triplets": len(update["triplets"])}


def _reranked(update: Mapping[str, Any]) -> dict[str, Any]:
    return {"passages": len(update["passages"])}


def _evaluated(update: Mapping[str, Any]) -> dict[str, Any]:
    evaluation = update["attempts"][-1]["evaluation"]
    score = evaluation.get("answers", evaluation["answer_relevance"])
    return {"score": score, "passed": evaluation["passed"], "reasons": evaluation["reasons"]}


def _advised(update: Mapping[str, Any]) -> dict[str, Any]:
    return {name: update["advice"][name] for name in ("strategy", "guidance", "question")}


def _routed(update: Mapping[str, Any]) -> dict[str, Any]:
    return {"collections": list(update["ways"])}


_TOLD: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "route": _routed,
    "classify": _classified,
    "rewrite": _rewritten,
    "hybrid_retrieve": _retrieved,
    "kg_retrieve": _walked,
    "rerank": _reranked,
    "evaluate": _evaluated,
    "engineer_prompt": _advised,
}


def step_of(node: str, update: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a node that wrote ``update``."""
    told = _TOLD.get(node)
    try:
        return told(update) if told else {}
    except (KeyError, IndexError, TypeError):
        return {}  # the node ended the question early, and wrote less than it does
