"""What Lexloop costs the graph that embeds it, and what crosses the boundary.

Usage: python benchmarks/embedding.py

``kept`` asks the sample two questions in a thread of LangGraph's ``SqliteSaver``, which keeps the
whole state at each step, and besides it what each node wrote.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from _shared import options, table
from kept_threads import turn_kept
from langgraph.checkpoint.sqlite import SqliteSaver

import lexloop

_ASKED = ("What is a bias audit?", "And who conducts it?")
_THREAD: Any = {"configurable": {"thread_id": "1"}}


def main() -> None:
    """Measure, and print tables."""
    options(__doc__).parse_args()
    head = ["a turn of a thread", "checkpoints", "bytes each", "at most", "all", "and written"]
    print(table(head, kept()))


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
