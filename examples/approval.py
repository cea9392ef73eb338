"""The smallest parent graph with a model, a step and an approval of one's own.

Run it with ``python examples/approval.py openai:gpt-4o-mini "What is a bias audit?"``.
"""

import sys
from typing import Any

from langchain.chat_models import init_chat_model
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from lexloop import build_graph


def of_the_law(state: dict[str, Any]) -> dict[str, Any]:
    """Answer from the law itself if it is among the passages."""
    law = [passage for passage in state["passages"] if passage["document"] == "law.txt"]
    return {"passages": law or state["passages"]}


def build(model: Any) -> Any:
    """A parent whose answers the model writes, and a person approves."""
    law = build_graph(models={"generate": model}, before={"generate": of_the_law}, approve=True)
    parent = StateGraph(MessagesState).add_node("law", law).add_edge(START, "law")
    return parent.compile(InMemorySaver())


if __name__ == "__main__":
    graph, thread = build(init_chat_model(sys.argv[1])), {"configurable": {"thread_id": "1"}}
    found = graph.invoke({"messages": [("user", sys.argv[2])]}, thread)
    print(found["__interrupt__"][0].value["answer"])
    edited = input("Another answer, or Enter to approve: ")
    decision = {"answer": edited} if edited else {"approve": True}
    print(graph.invoke(Command(resume=decision), thread)["messages"][-1].text)
