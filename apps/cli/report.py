"""The answer as one JSON object with flat keys."""

from typing import Any

from lexloop.apps.cli.session import Session

_SCORES = ("answer_relevance", "context_relevance", "groundedness")


def as_report(state: dict[str, Any], session: Session, candidates: bool = False) -> dict[str, Any]:
    """What ``--json`` prints.

    Args:
        state: The working state after the question.
        session: Whose settings are reported.
        candidates: Whether all candidates of the last attempt are listed, with their signals, and
            what the model thought before its replies.
    """
    evaluation, settings = state["evaluation"], session.settings
    report = {
        "question": state["asked"],
        "answer": state["answer"],
        "abstained": state["abstained"],
        "finding": state["finding"],
        "near": state["near"],
        "answers": evaluation.get("answers"),
        "passed": evaluation["passed"],
        "warning": state["warning"],
        "read_as": state["read_as"],
        "citations": state["citations"],
        "citations_verified": evaluation["citations_verified"],
        "scores": {name: evaluation[name] for name in _SCORES},
        "reasons": evaluation["reasons"],
        "retries": len(state["attempts"]) - 1,
        "complexity": state["complexity"],
        "probabilities": state["probabilities"],
        "plan": state["plan"],
        "standalone": state["standalone"],
        "queries": state["queries"],
        "keywords": state["keywords"],
        "passages": state["passages"],
        "triplets": state["triplets"],
        "attempts": state["attempts"],
        "degraded": state["degraded"],
        "usage": state["usage"],
        "variant": settings.variant,
        "corpus": settings.corpus,
        "model": settings.model.name,
        "hosts": session.hosts,
    }
    if candidates:
        report["candidates"] = state["candidates"]
        report["graph_candidates"] = state["graph_candidates"]
        report["reasoning"] = state["reasoning"]
    return report
