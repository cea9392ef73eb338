"""Lexloop inside other graphs: as a node, and called in a node."""

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Settings
from lexloop.graph.app import graph as lexloop

QUESTION = "What is a bias audit?"
Example = Callable[[str], ModuleType]


def parent_of(state: Any = MessagesState, context: Any = None, **node: Any) -> Any:
    """A parent whose only node is Lexloop."""
    graph = StateGraph(state, context_schema=context)
    graph.add_node("law", lexloop, **node)
    graph.add_edge(START, "law")
    graph.add_edge("law", END)
    return graph


def asking(text: str) -> dict[str, list[AnyMessage]]:
    return {"messages": [HumanMessage(text)]}


def test_the_parent_gets_one_message_and_the_results_that_it_has_keys_for() -> None:
    class Busy(MessagesState):
        plan: str
        history: str
        answer: str
        citations: list[dict[str, Any]]

    own = {"plan": "mine", "history": "mine"}  # of the working state, which stays inside
    state = parent_of(Busy).compile().invoke({**asking(QUESTION), **own})
    assert set(state) == {"messages", "answer", "citations", *own}
    assert {name: state[name] for name in own} == own
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert "independent auditor" in state["answer"]
    assert state["answer"] == state["messages"][-1].text
    assert {f"[{cited['n']}]" in state["answer"] for cited in state["citations"]} == {True}


def test_a_parents_checkpointer_carries_the_follow_up(example: Example) -> None:
    graph = example("shared_messages").graph
    thread = {"configurable": {"thread_id": "one"}}
    graph.invoke(asking("I would like to know about bias audits."), thread)
    state = graph.invoke(asking("What is it?"), thread)
    assert [message.type for message in state["messages"]] == ["human", "ai"] * 2
    assert "independent auditor" in state["messages"][-1].text
    assert set(graph.get_state(thread).values) == {"messages"}


@dataclass
class Office:
    """A context of the parent's own; ``model`` and ``temperature`` are for its own use."""

    user: str = "someone"
    model: str = "gpt-4o"
    temperature: str = "warm"
    lexloop: Any = None


@pytest.mark.parametrize(
    ("schema", "context"),
    [
        (Office, Office(lexloop=Settings(variant="fixed", **{"plan.k": 1}))),
        (Settings, {"plan.k": 1, "variant": "fixed"}),
    ],
)
def test_settings_passed_on(schema: Any, context: Any) -> None:
    class Shown(MessagesState):
        passages: list[dict[str, Any]]

    graph = parent_of(Shown, context=schema).compile()
    assert len(graph.invoke(asking(QUESTION), context=context)["passages"]) == 1


def test_a_parents_retry_policy_does_not_repeat_errors() -> None:
    policy = RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=3)
    parent = parent_of(retry_policy=policy).compile()
    tried: list[str] = []
    steps = parent.stream(asking(" "), stream_mode=["tasks"], subgraphs=True)
    with pytest.raises(LexloopError):
        tried.extend(event["name"] for _, _, event in steps if "input" in event)
    assert tried == ["law", "classify"]


def test_examples_run_as_scripts(
    embedded_example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(embedded_example), run_name="__main__")
    assert "[1]" in capsys.readouterr().out
