"""Lexloop as the tool of an agent whose model is played on loopback."""

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Script
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from tool_calls import calls

QUESTION = "What is a bias audit?"
Example = Callable[[str], ModuleType]


def asking(text: str) -> dict[str, list[AnyMessage]]:
    return {"messages": [HumanMessage(text)]}


def asks(*questions: str) -> Script:
    """What a model sends that wants the tool called."""
    return calls(*(("ask_the_law", question) for question in questions))


@pytest.fixture
def agents_model(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return server


def test_an_agent_asks_and_answers(agents_model: FakeOpenAI, example: Example) -> None:
    agents_model.script(asks(QUESTION), Reply("By an independent auditor. [1]"))
    agent = example("agent_tool").build_agent("openai:scripted")
    state = agent.invoke(asking("Who makes a bias audit?"))
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    told = state["messages"][2].text
    assert "independent auditor" in told
    assert "[1] law.txt, § 20-870" in told
    assert agents_model.requests[1].messages[-1]["content"] == told
    (offered,) = agents_model.requests[0].body["tools"]
    assert offered["function"]["name"] == "ask_the_law"


def test_two_questions_at_once_on_a_saved_thread(
    agents_model: FakeOpenAI, example: Example
) -> None:
    agents_model.script(asks(QUESTION, "What is the penalty for a first violation?"))
    agents_model.otherwise = Reply("Done.")
    agent = example("agent_tool").build_agent("openai:scripted", InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    state = asyncio.run(agent.ainvoke(asking("Tell me of audits and penalties."), thread))
    told = [message.text for message in state["messages"] if message.type == "tool"]
    assert "independent auditor" in told[0]
    assert "$500" in told[1]
    agents_model.script(asks(QUESTION), Reply("Again."))
    state = agent.invoke(asking("Once more."), thread)
    assert state["messages"][-1].text == "Again."


def test_an_unusable_question_is_told_and_the_agent_goes_on(
    agents_model: FakeOpenAI, example: Example
) -> None:
    agents_model.script(asks("  "), asks(QUESTION), Reply("By an auditor. [1]"))
    state = example("agent_tool").build_agent("openai:scripted").invoke(asking("?"))
    told = [message for message in state["messages"] if message.type == "tool"]
    assert [message.status for message in told] == ["error", "success"]
    assert told[0].text.startswith("The question is empty.")
    assert state["messages"][-1].text == "By an auditor. [1]"
