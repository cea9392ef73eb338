"""Lexloop as a tool of an agent. The agent runs on a model of yours, Lexloop on this machine.

Run it with ``python examples/agent_tool.py openai:gpt-4o-mini "When is a bias audit needed?"``.
"""

import sys
from typing import Any

from langchain.agents import create_agent
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

import lexloop

ask_the_law = lexloop.as_tool(
    "ask_the_law", "Answer a question on New York City's Local Law 144 from its text, with sources."
)


def build_agent(
    model: str, checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """An agent that looks the law up instead of remembering it.

    Args:
        model: A chat model that can call tools, as ``provider:name``.
        checkpointer: Keeps the agent's threads.
    """
    return create_agent(
        model,
        tools=[ask_the_law],
        system_prompt="Ask the law before you answer, and keep the [n] markers of its answer.",
        checkpointer=checkpointer,
    )


if __name__ == "__main__":
    model, question = sys.argv[1:]
    state = build_agent(model).invoke({"messages": [("user", question)]})
    print(state["messages"][-1].text)
