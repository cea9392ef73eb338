"""Lexloop as the tool of an agent whose model is played on loopback."""

import asyncio
import json
import runpy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request, Script
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

QUESTION = "What is a bias audit?"
Example = Callable[[str], ModuleType]


def asking(text: str) -> dict[str, list[AnyMessage]]:
    return {"messages": [HumanMessage(text)]}


def calls(*questions: str) -> Script:
    """What a model sends that wants the tool called, whole or streamed."""
    wanted = [
        {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "ask_the_law", "arguments": json.dumps({"question": question})},
        }
        for number, question in enumerate(questions)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": wanted}
    common = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}

    def reply(request: Request) -> Reply:
        part = "delta" if request.body.get("stream") else "message"
        choice = {"index": 0, part: message, "finish_reason": "tool_calls"}
        body = json.dumps({**common, "choices": [choice]})
        if part == "delta":
            body = f"data: {body}\n\ndata: [DONE]\n\n"
            return Reply(body=body.encode(), headers={"Content-Type": "text/event-stream"})
        return Reply(body=body.encode())

    return reply


@pytest.fixture
def agents_model(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return server


def test_an_agent_asks_and_answers(agents_model: FakeOpenAI, example: Example) -> None:
    agents_model.script(calls(QUESTION), Reply("By an independent auditor. [1]"))
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
    agents_model.script(calls(QUESTION, "What is the penalty for a first violation?"))
    agents_model.otherwise = Reply("Done.")
    agent = example("agent_tool").build_agent("openai:scripted", InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    state = asyncio.run(agent.ainvoke(asking("Tell me of audits and penalties."), thread))
    told = [message.text for message in state["messages"] if message.type == "tool"]
    assert "independent auditor" in told[0]
    assert "$500" in told[1]
    agents_model.script(calls(QUESTION), Reply("Again."))
    state = agent.invoke(asking("Once more."), thread)
    assert state["messages"][-1].text == "Again."


def test_only_the_agents_words_are_streamed(agents_model: FakeOpenAI, example: Example) -> None:
    agents_model.script(calls(QUESTION), Reply("Made by an auditor. [1]"))
    agent = example("agent_tool").build_agent("openai:scripted")
    parts: Any = agent.stream(asking("Who makes a bias audit?"), stream_mode="messages")
    said = "".join(part.text for part, _ in parts if part.type.startswith("AI"))
    assert said == "Made by an auditor. [1]"


def test_an_unusable_question_is_told_and_the_agent_goes_on(
    agents_model: FakeOpenAI, example: Example
) -> None:
    agents_model.script(calls("  "), calls(QUESTION), Reply("By an auditor. [1]"))
    state = example("agent_tool").build_agent("openai:scripted").invoke(asking("?"))
    told = [message for message in state["messages"] if message.type == "tool"]
    assert [message.status for message in told] == ["error", "success"]
    assert told[0].text.startswith("The question is empty.")
    assert state["messages"][-1].text == "By an auditor. [1]"


def test_the_agent_takes_its_model_from_the_command_line(
    agents_model: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    example: Example,
) -> None:
    agents_model.script(calls(QUESTION), Reply("An auditor does. [1]"))
    script = example("agent_tool").__file__
    monkeypatch.setattr("sys.argv", [script, "openai:scripted", "Who makes a bias audit?"])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == "An auditor does. [1]\n"
    assert agents_model.requests[0].body["model"] == "scripted"
