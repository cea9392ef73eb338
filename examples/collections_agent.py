"""An agent over collections, and as a subagent of deepagents.

Run it with ``python examples/collections_agent.py law=sample,lease=contracts "When is rent due?"``;
with a model as the third argument, such as ``openai:gpt-4o-mini``, that model delegates.
"""

import sys
from typing import Any

from deepagents import CompiledSubAgent, create_deep_agent
from langchain_core.messages import HumanMessage
from langgraph.graph.state import CompiledStateGraph

import lexloop
from lexloop.graph.collections import named_collections


def build_deep_agent(collections: dict[str, str], model: Any) -> CompiledStateGraph[Any, Any]:
    """A deep agent that leaves questions of law to Lexloop.

    Args:
        collections: The documents of each by its name.
        model: Any chat model that can call tools; Lexloop itself stays on this machine.
    """
    clerk = CompiledSubAgent(
        name="law-clerk",
        description=f"Answers questions of law from {', '.join(collections)}, with [n] sources.",
        runnable=lexloop.build_agent(collections),
    )
    return create_deep_agent(
        model,
        subagents=[clerk],
        system_prompt="Leave questions of law to the law-clerk, and keep its [n] markers.",
    )


if __name__ == "__main__":
    named, question, *models = sys.argv[1:]
    asked: Any = {"messages": [HumanMessage(question)]}
    if models:
        state = build_deep_agent(named_collections(named), models[0]).invoke(asked)
        print(state["messages"][-1].text)
    else:
        found = lexloop.build_agent(named_collections(named)).invoke(asked)
        print(found["answer"])
        for citation in found["citations"]:
            print(f"[{citation['n']}] {citation['collection']}: {citation['document']}")
