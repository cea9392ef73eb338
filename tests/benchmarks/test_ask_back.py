"""What ``benchmarks/ask_back.py`` counts: every ambiguous question of our own, and no clear one."""

import ask_back
from langgraph.checkpoint.memory import InMemorySaver

from lexloop.graph.build import build_graph


def test_what_is_ambiguous_is_asked_back_with_the_right_choices_and_nothing_else() -> None:
    graph = build_graph(checkpointer=InMemorySaver(), settings={"answer.ask_back": True})
    found = dict(ask_back.own(graph))
    assert found == {"ambiguous": [(True, True)] * 20, "clear": [(False, False)] * 20}
