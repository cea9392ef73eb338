"""Lexloop as the tool of agents whose model is played on loopback: LangChain's, and a deep one."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from fake_openai import FakeOpenAI, Reply
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from tool_calls import calls

import lexloop

TENANCY = Path(__file__).parents[1] / "support" / "routing" / "tenancy"
QUESTION = "What is a bias audit?"
ASKED: Any = {"messages": [HumanMessage("Who makes a bias audit?")]}
Example = Callable[[str], ModuleType]


def told_to(state: dict[str, Any]) -> list[Any]:
    """What the tools of an agent said."""
    return [message for message in state["messages"] if message.type == "tool"]


def test_an_agent_asks_and_answers(agents_model: FakeOpenAI, example: Example) -> None:
    agents_model.script(calls(("ask_the_law", QUESTION)), Reply("By an independent auditor. [1]"))
    state = example("agent_tool").build_agent("openai:scripted").invoke(ASKED)
    (told,) = [message.text for message in told_to(state)]
    assert "independent auditor" in told
    assert "[1] law.txt, § 20-870" in told
    assert agents_model.requests[1].messages[-1]["content"] == told
    assert state["messages"][-1].text == "By an independent auditor. [1]"


def test_a_deep_agent_leaves_a_question_to_it(agents_model: FakeOpenAI, example: Example) -> None:
    task = {"description": QUESTION, "subagent_type": "law-clerk"}
    agents_model.script(calls(("task", task)), Reply("By an independent auditor. [1]"))
    collections = {"sample": "sample", "tenancy": str(TENANCY)}
    model = ChatOpenAI(model="scripted", use_responses_api=False)
    state = example("collections_agent").build_deep_agent(collections, model).invoke(ASKED)
    (told,) = [message.text for message in told_to(state)]
    assert "made impartially by an independent auditor. [1]" in told
    assert '"document": "law.txt"' in told
    assert state["messages"][-1].text == "By an independent auditor. [1]"


def test_an_agent_goes_on_after_what_a_tool_cannot_answer(agents_model: FakeOpenAI) -> None:
    embedded = {"generator": "embedded"}
    tools = [
        lexloop.as_tool("ask_hiring", "Answer on hiring tools.", answer=embedded),
        lexloop.as_tool("ask_nothing", "Its folder is gone.", "no-such-folder", answer=embedded),
        lexloop.as_tool("ask_model", "Its model is gone.", model="openai:gone"),
    ]
    agents_model.script(
        calls(("ask_hiring", " "), ("ask_nothing", QUESTION), ("ask_model", QUESTION)),
        Reply(status=404),
        calls(("ask_hiring", QUESTION)),
        Reply("It is an evaluation. [1]"),
    )
    state = create_agent("openai:scripted", tools).invoke(ASKED)
    told = told_to(state)
    assert [message.status for message in told] == ["error", "error", "error", "success"]
    assert "The question is empty." in told[0].text
    assert "no-such-folder does not exist" in told[1].text
    assert "gone" in told[2].text
    assert told[3].artifact["finding"] == "answers"
    assert state["messages"][-1].text == "It is an evaluation. [1]"
