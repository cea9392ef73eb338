"""Lexloop inside other graphs: as a node, and called in a node."""

import ast
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy
from tool_calls import calls

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Settings
from lexloop.graph.app import graph as lexloop

QUESTION = "What is a bias audit?"
EXAMPLES = Path(__file__).parents[2] / "examples"
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


@pytest.mark.parametrize("name", ["parent", "approval"])
def test_a_first_parent_graph_takes_thirty_lines(name: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text("utf-8")
    told = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    strings = [one for one in told if isinstance(one.value, ast.Constant)]
    docstrings = {n for one in strings for n in range(one.lineno, (one.end_lineno or 0) + 1)}
    lines = enumerate(source.splitlines(), 1)
    assert len([n for n, line in lines if line.strip() and n not in docstrings]) <= 30


def test_a_parent_shows_its_steps_and_asks_again_by_a_tool(
    agents_model: FakeOpenAI, example: Example, capsys: pytest.CaptureFixture[str]
) -> None:
    agents_model.script(calls(("ask_the_law", QUESTION)), Reply("By an independent auditor. [1]"))
    parent = example("parent")
    parent.run("openai:scripted", QUESTION)
    *steps, said = capsys.readouterr().out.splitlines()
    assert steps[:2] == ["law classify", "law rewrite"]
    assert {"law", "note_sources", "advise tools"} <= {*steps}
    assert said == "By an independent auditor. [1]"
    parent.run("openai:scripted", " ")
    assert capsys.readouterr().out.startswith("The question is empty.")


def test_a_person_approves_what_a_model_of_the_parents_wrote(example: Example) -> None:
    model = FakeListChatModel(responses=["A bias audit is an impartial evaluation. [1]"])
    graph, thread = example("approval").build(model), {"configurable": {"thread_id": "one"}}
    shown = graph.invoke(asking(QUESTION), thread)["__interrupt__"][0].value
    assert shown["answer"] == "A bias audit is an impartial evaluation. [1]"
    assert {passage["document"] for passage in shown["passages"]} == {"law.txt"}
    found = graph.invoke(Command(resume={"answer": "It is impartial. [1]"}), thread)
    assert found["messages"][-1].text == "It is impartial. [1]"


def test_examples_run_as_scripts(
    embedded_example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(embedded_example), run_name="__main__")
    assert "[1]" in capsys.readouterr().out
