"""What sets k, from the question to the passages of every attempt."""

from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

QUESTIONS = [
    "What is a bias audit?",
    "Who may not be an independent auditor, and what must the summary of results hold?",
]


def steps(question: str, settings: Settings) -> list[dict[str, Any]]:
    graph = build_graph(Resources())
    events = graph.stream({"question": question}, context=settings, stream_mode="updates")
    return list(events)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_plan_says_how_many_passages_the_scores_took(question: str) -> None:
    settings = Settings(
        **{"plan.k.most": 4, "loop.max_retries": 1, "retrieval.knowledge_graph": "none"}
    )
    reranked = [step["rerank"] for step in steps(question, settings) if "rerank" in step]
    assert reranked
    for update in reranked:
        assert update["plan"]["k"] == len(update["passages"])
        assert 1 <= update["plan"]["k"] <= 4
        assert update["plan"].keys() == {"k", "Q", "K", "S"}


def test_what_passages_hand_on_to_comes_beside_them() -> None:
    found = steps(QUESTIONS[0], Settings(**{"plan.k": 2, "loop.max_retries": 0}))
    taken, by = (
        next(step[node][key] for step in found if node in step)
        for node, key in (("rerank", "passages"), ("kg_retrieve", "handed_on"))
    )
    beside = [passage["id"] for passage in taken[2:]]
    assert 1 <= len(beside) <= 2
    assert {by[name] for name in beside} <= {passage["id"] for passage in taken[:2]}
