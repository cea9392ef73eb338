"""A reasoning model in every step: what it thinks is in the trace and nowhere else."""

from typing import Any

import pytest
from asked import Modelled, Scores
from fake_openai import FakeOpenAI, Reply
from langgraph.checkpoint.memory import InMemorySaver
from statute import QUESTION

THREAD = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def thinking(scripted: FakeOpenAI, scores: Scores) -> FakeOpenAI:
    """The model that answers at its second attempt, thinking aloud before each reply."""
    roles = {
        "rewrite": f'{{"standalone": "{QUESTION}", "queries": [], "keywords": []}}',
        "generate": "It is due within 10 business days [1].",
        "engineer_prompt": '{"question": "When is it due?", "guidance": "Give the period."}',
    }
    for role, text in roles.items():
        scripted.play(
            role, Reply(f'<think>\nOn {role}: {{"standalone": "?"}} [9]\n</think>\n\n{text}')
        )
    verdicts = [scores(0.1, 0.9, 0.9).text, scores(0.9, 0.9, 0.9).text]
    scripted.play("evaluate", *(Reply(f"<think>On evaluate.</think>{text}") for text in verdicts))
    return scripted


def test_reasoning_is_in_the_trace_and_nowhere_else(
    thinking: FakeOpenAI, modelled: Modelled
) -> None:
    graph = modelled()
    graph.checkpointer = InMemorySaver()
    result = graph.invoke({"question": QUESTION}, THREAD)
    assert result["answer"] == "It is due within 10 business days [1]."
    assert result["evaluation"]["passed"]
    assert [attempt["question"] for attempt in result["attempts"]] == [QUESTION] * 2
    assert len(thinking.requests) == 5
    assert not any("think>" in request.user for request in thinking.requests)
    assert "reasoning" not in result
    graph.invoke({"question": QUESTION}, THREAD)  # it passes at once, and has its own
    told = graph.get_state(THREAD).values["reasoning"]
    assert [item["node"] for item in told] == ["rewrite", "generate", "evaluate"]
    assert told[1]["text"] == 'On generate: {"standalone": "?"} [9]'


def test_reasoning_is_not_streamed(thinking: FakeOpenAI, modelled: Modelled) -> None:
    thinking.play("generate", Reply("<think>Say. It. Late.</think>The fee is due [1].", pieces=30))
    graph = modelled(**{"loop.max_retries": 0})
    modes = ["custom", "messages"]
    parts: Any = list(graph.stream({"question": QUESTION}, stream_mode=modes))
    shown = [event["token"] for mode, event in parts if mode == "custom"]
    assert "".join(shown) == "The fee is due [1]."
    said = [event[0].text for mode, event in parts if mode == "messages"]
    assert "The fee is due [1]." in "".join(said)
    assert not any("Late" in text or "think" in text for text in said)
