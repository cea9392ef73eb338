"""The agent over collections in the hands of others: a deep agent, and LangChain's with tools."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from tool_calls import calls

import lexloop

ROUTING = Path(__file__).parents[1] / "support" / "routing"
QUESTION = "What is a bias audit?"
TENANCY = "What is a periodic tenancy?"
NAMED = f"sample,tenancy={ROUTING / 'tenancy'}"
Example = Callable[[str], ModuleType]


@pytest.fixture
def agents_model(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return server


def delegates(request: Request) -> Reply:
    """The call of deepagents' tool that hands a task to a subagent."""
    task = {"description": QUESTION, "subagent_type": "law-clerk"}
    call = {"name": "task", "arguments": json.dumps(task)}
    wanted = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": wanted}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    common = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
    return Reply(body=json.dumps({**common, "choices": [choice]}).encode())


def test_a_deep_agent_leaves_a_question_to_it(agents_model: FakeOpenAI, example: Example) -> None:
    agents_model.script(delegates, Reply("By an independent auditor. [1]"))
    collections = {"sample": "sample", "tenancy": str(ROUTING / "tenancy")}
    model = ChatOpenAI(model="scripted", use_responses_api=False)
    agent = example("collections_agent").build_deep_agent(collections, model)
    asked: Any = {"messages": [HumanMessage("Who makes a bias audit?")]}
    state = agent.invoke(asked)
    (told,) = [message.text for message in state["messages"] if message.type == "tool"]
    assert (
        told
        == "A bias audit is an evaluation of an AEDT, made impartially by an independent "
        + ("auditor. [1]")
    )
    assert state["messages"][-1].text == "By an independent auditor. [1]"


def test_the_example_asks_without_a_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], example: Example
) -> None:
    script = str(example("collections_agent").__file__)
    monkeypatch.setattr("sys.argv", [script, NAMED, TENANCY])
    runpy.run_path(script, run_name="__main__")
    assert "[1] tenancy: act.txt" in capsys.readouterr().out


def test_an_agent_goes_on_after_a_question_that_a_tool_cannot_answer(
    agents_model: FakeOpenAI,
) -> None:
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
    asked: Any = {"messages": [HumanMessage("What is it?")]}
    state = create_agent("openai:scripted", tools).invoke(asked)
    told = [message for message in state["messages"] if message.type == "tool"]
    assert [message.status for message in told] == ["error", "error", "error", "success"]
    assert "The question is empty." in told[0].text
    assert "no-such-folder does not exist" in told[1].text
    assert "gone" in told[2].text
    assert [message.artifact for message in told[:3]] == [None, None, None]
    assert told[3].artifact["finding"] == "answers"
    assert state["messages"][-1].text == "It is an evaluation. [1]"
