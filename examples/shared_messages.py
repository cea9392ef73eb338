"""Lexloop as a node of a parent graph that shares its ``messages``.

The parent's checkpointer keeps the conversation, so the second question may lean on the first.
Run it with ``python examples/shared_messages.py``.
"""

from typing import Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from lexloop import Settings
from lexloop.graph.app import graph as lexloop

SAID = ("Hello!", "I would like to know about bias audits.", "What is it?")


def route(state: MessagesState) -> Literal["greet", "lexloop"]:
    """Keep small talk away from the law."""
    said = state["messages"][-1].text.lower()
    return "greet" if said.startswith(("hello", "good morning", "thank")) else "lexloop"


def greet(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Answer without the law."""
    return {"messages": [AIMessage("Hello. What would you like to know?")]}


parent = StateGraph(MessagesState, context_schema=Settings)
parent.add_node("greet", greet)
parent.add_node("lexloop", lexloop)
parent.add_conditional_edges(START, route)
parent.add_edge("greet", END)
parent.add_edge("lexloop", END)
graph = parent.compile(InMemorySaver())


if __name__ == "__main__":
    for said in SAID:
        state = graph.invoke(
            {"messages": [HumanMessage(said)]},
            {"configurable": {"thread_id": "example"}},
            context=Settings(**{"loop.max_retries": 1}),
        )
        print(f"> {said}\n{state['messages'][-1].text}\n")
