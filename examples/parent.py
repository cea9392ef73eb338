"""A parent graph with a state, a node and a checkpointer of its own.

Lexloop answers as a node of it, whose steps are nested events, and is a tool of the agent that
comes after. Run it with ``python examples/parent.py openai:gpt-4o-mini "What is a bias audit?"``.
"""

import sys
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import lexloop


class Case(MessagesState):
    """The conversation, and what the first answer rests on."""

    citations: list[dict[str, Any]]
    sources: list[str]


def note_sources(state: Case) -> dict[str, Any]:
    """Keep where the answer stands."""
    return {"sources": [f"{cited['document']} {cited['section']}" for cited in state["citations"]]}


def run(model: str, question: str) -> None:
    """Print every step, Lexloop's among them, and the agent's advice."""
    ask_the_law = lexloop.as_tool("ask_the_law", "Answer a question on Local Law 144.", "sample")
    law, advise = lexloop.build_graph(), create_agent(model, [ask_the_law])
    nodes: Any = [("law", law), note_sources, ("advise", advise)]
    parent = StateGraph(Case).add_sequence(nodes)
    graph = parent.add_edge(START, "law").compile(InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "example"}}
    asked: Any = {"messages": [("user", question)]}
    try:
        for place, update in graph.stream(asked, thread, stream_mode="updates", subgraphs=True):
            print(*(part.partition(":")[0] for part in place), *update)
        print(graph.get_state(thread).values["messages"][-1].text)
    except lexloop.LexloopError as error:
        print(error.what, error.hint)


if __name__ == "__main__":
    run(*sys.argv[1:])
