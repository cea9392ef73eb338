"""What Lexloop costs the graph that embeds it, and what crosses the boundary.

    python benchmarks/embedding.py

The first table sends a question of the sample across six boundaries and counts the answers that
arrive without a source, and the messages that another one overwrote. Then come what is asked back
(see ``ask_back.py``), what the base installation takes (see ``house.py``), and the lines of the
smallest parent with a model, a step and an approval of its own. The last table asks two questions
in a thread of LangGraph's ``SqliteSaver``, which keeps the whole state at each step, and besides it
what each node wrote.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import ask_back
import house
from _shared import ROOT, options, table
from kept_threads import turn_kept
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

import lexloop

_ASKED = ("What is a bias audit?", "And who conducts it?")
_QUESTION: Any = {"messages": [HumanMessage(_ASKED[0])]}
_THREAD: Any = {"configurable": {"thread_id": "1"}}
_SOURCE = "law.txt"


def main() -> None:
    """Measure, and print tables."""
    options(__doc__).parse_args()
    rows = [
        [name, messages, _SOURCE in sources]
        for name, (messages, sources) in ((n, cross()) for n, cross in CROSSINGS.items())
    ]
    print(table(["boundary", "answers of those asked", "with their source"], rows) + "\n")
    print(table(["what", "figure"], [*_figures()]) + "\n")
    head = ["a turn of a thread", "checkpoints", "bytes each", "at most", "all", "and written"]
    print(table(head, kept()))


def _asked(*nodes: str, parallel: bool = False, **settings: str) -> dict[str, Any]:
    """Return the state of a parent that shares only messages, after Lexloop at these nodes."""
    parent = StateGraph(MessagesState, context_schema=lexloop.Settings)
    for before, name in zip((START, *nodes), nodes, strict=False):
        parent.add_node(name, lexloop.build_graph())
        parent.add_edge(START if parallel else before, name)
    state: dict[str, Any] = parent.compile().invoke(_QUESTION, context=lexloop.Settings(**settings))
    return state


def _annotated(*nodes: str, parallel: bool = False) -> tuple[str, str]:
    """Return how many answers arrived, and the titles in the annotations of the last one."""
    answers = [m for m in _asked(*nodes, parallel=parallel)["messages"] if m.type == "ai"]
    (block,) = answers[-1].content_blocks
    titles = " ".join(note["title"] for note in block["annotations"])
    return f"{len(answers)} of {len(nodes)}", titles


def _as_text() -> tuple[str, str]:
    return "1 of 1", _asked("law", **{"answer.sources": "text"})["messages"][-1].text


def _structured() -> tuple[str, str]:
    state = lexloop.build_graph().invoke(_QUESTION)
    return "1 of 1", str(state["structured_response"])


def _tool() -> tuple[str, str]:
    tool = lexloop.as_tool("law", "Answers questions on a law.", "sample")
    return "1 of 1", str(tool.invoke({"question": _ASKED[0]}))


CROSSINGS: dict[str, Callable[[], tuple[str, str]]] = {
    "a parent's messages, as annotations": lambda: _annotated("law"),
    "a parent's messages, as text": _as_text,
    "two in series": lambda: _annotated("one", "other"),
    "two in parallel": lambda: _annotated("one", "other", parallel=True),
    "a structured response": _structured,
    "a tool's reply": _tool,
}


def _figures() -> Iterator[tuple[str, object]]:
    graph = lexloop.build_graph(
        checkpointer=InMemorySaver(), settings={"answer.ask_back": True, "loop.evaluator": "none"}
    )
    for kind, asked in ask_back.own(graph):
        right = sum(rightly for _, rightly in asked)
        yield f"{kind} questions asked back", f"{sum(back for back, _ in asked)} of {len(asked)}"
        if right:
            yield f"{kind} questions with the right choices", f"{right} of {len(asked)}"
    names, size = house.installed("lexloop")
    yield "packages of the base installation", len(names)
    yield "megabytes of these", f"{size / 1e6:,.0f}"
    for example in ("parent", "approval"):
        code = (ROOT / "examples" / f"{example}.py").read_text("utf-8").split('"""', 2)[2]
        lines = [line for line in code.splitlines() if line.strip()]
        yield f"lines of examples/{example}.py", len(lines)


def kept() -> Iterator[tuple[object, ...]]:
    """What a thread keeps of each turn: checkpoints, and besides them what nodes wrote."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as file:
        graph, last = lexloop.build_graph(checkpointer=SqliteSaver(file)), ""
        for question in _ASKED:
            graph.invoke({"question": question}, _THREAD, context={"corpus": "sample"})
            turn = turn_kept(file, last)
            sizes = turn.checkpoints
            figures = (turn.mean, max(sizes), sum(sizes), turn.writes)
            yield question, len(sizes), *(f"{figure:,.0f}" for figure in figures)
            state: Any = graph.get_state(_THREAD)
            last = state.config["configurable"]["checkpoint_id"]


if __name__ == "__main__":
    main()
