"""Records of an evaluation, made by hand."""

from typing import Any, cast

from lexloop.evaluation.record import AttemptSeen, Record


def attempt(score: float | None, **fields: Any) -> AttemptSeen:
    """An attempt whose three scores are the one given."""
    seen: dict[str, Any] = {
        "answer_relevance": score,
        "context_relevance": score,
        "groundedness": score,
        "passed": False,
        "abstained": False,
        "correctness": None,
    }
    return cast("AttemptSeen", seen | fields)


def record(**fields: Any) -> Record:
    """A question that was answered at no cost, but for the fields given."""
    plain: dict[str, Any] = {
        "row": "fixed",
        "id": "q1",
        "question_type": "simple",
        "question": "Who pays?",
        "complexity": 0,
        "answer": "The owner pays. [1]",
        "abstained": False,
        "passed": True,
        "warning": "",
        "citations": [],
        "passages": [],
        "attempts": [],
        "degraded": [],
        "metrics": {},
        "model_calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "context_tokens": 0,
        "seconds": 0.0,
    }
    return cast("Record", plain | fields)
