"""Lexloop called inside a node of a parent graph whose state is quite another.

Run it with ``python examples/inside_a_node.py``.
"""

from dataclasses import dataclass, field

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from lexloop import Settings
from lexloop.graph.app import graph as lexloop


class Ticket(TypedDict, total=False):
    """A letter to an office and what it answers."""

    sender: str
    letter: str
    reply: str
    sources: list[str]


@dataclass
class Office:
    """The parent's context; Lexloop reads nothing of it but ``lexloop``."""

    signature: str = "The office"
    lexloop: Settings = field(default_factory=Settings)


def advise(state: Ticket, runtime: Runtime[Office]) -> Ticket:
    """Answer the letter and list what the answer rests on."""
    found = lexloop.invoke({"question": state["letter"]}, context=runtime.context.lexloop)
    sources = [f"[{c['n']}] {c['document']} {c['section']}" for c in found["citations"]]
    return {
        "reply": f"Dear {state['sender']},\n{found['answer']}\n{runtime.context.signature}",
        "sources": list(dict.fromkeys(sources)),
    }


parent = StateGraph(Ticket, context_schema=Office)
parent.add_node("advise", advise)
parent.add_edge(START, "advise")
parent.add_edge("advise", END)
graph = parent.compile()


if __name__ == "__main__":
    ticket = graph.invoke(
        {"sender": "Ms Ortiz", "letter": "What is the penalty for a first violation?"},
        context=Office(lexloop=Settings(variant="pa")),
    )
    print(ticket["reply"], *ticket["sources"], sep="\n")
