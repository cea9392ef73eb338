"""Records of answers, as the command line and the server make them."""

from typing import Any


def citation(n: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a citation; or a passage, which has these keys as well."""
    return {
        "collection": "laws",
        "n": n,
        "document": "dogs.txt",
        "title": "Dog ordinance",
        "section": "§ 1",
        "page": 3,
        "start": 17,
        "end": 53,
        "quote": "A dog licence costs 40 euros a year.",
        **changes,
    }


def record(**changes: Any) -> dict[str, Any]:
    """Return the record of an answer with one source, asked without a model."""
    return {
        "id": "7f3a",
        "thread": "9c1d",
        "at": "2026-11-23T04:55:12+00:00",
        "collections": ["laws"],
        "as_of": "2025-06-30",
        "question": "What does a dog licence cost?",
        "answer": "A dog licence costs 40 euros a year. [1]",
        "abstained": False,
        "finding": "answers",
        "near": [],
        "answers": 0.93,
        "passed": True,
        "warning": "",
        "read_as": [],
        "citations": [citation()],
        "citations_verified": True,
        "scores": {"answer_relevance": 0.9, "context_relevance": 0.8, "groundedness": 1.0},
        "reasons": [],
        "verdict": {
            "head": "Passed",
            "words": ["The documents answer this question."],
            "probability": 0.93,
            "checked": ["The one quote was found word for word at the place that is cited."],
        },
        "retries": 0,
        "complexity": 0,
        "probabilities": [0.8, 0.1, 0.1],
        "plan": {"k": 3, "Q": 3, "K": 3, "S": 1},
        "standalone": "What does a dog licence cost?",
        "inside": [],
        "queries": ["What does a dog licence cost?"],
        "keywords": ["dog licence"],
        "passages": [citation(end=99)],
        "triplets": [],
        "attempts": [],
        "degraded": [],
        "usage": {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.12},
        "variant": "hypa",
        "corpus": "laws",
        "model": None,
        "hosts": [],
        **changes,
    }
