"""The graph as measuring and training ask it: a case, up to its passages or its answer."""

from collections.abc import Callable
from typing import Any

from lexloop.core.settings import Settings
from lexloop.core.types import Passage
from lexloop.graph.build import LAST_OF_RETRIEVAL, Lexloop, build_graph
from lexloop.graph.resources import build_context
from lexloop.store.view import Collection
from lexloop_eval.case import Case

Retrieve = Callable[[Case], list[Passage]]


def state_after(graph: Lexloop, case: Case, last: str = "") -> dict[str, Any]:
    """Return the working state after a case was put: at the end, or after the node ``last``."""
    state: dict[str, Any] = {}
    for step in graph.stream({"messages": case.messages}, stream_mode="updates"):
        for node, update in step.items():
            state |= update or {}
            if node == last:
                return state
    return state


def retriever(collection: Collection, settings: Settings, k: int) -> Retrieve:
    """Return a function from a case to the best ``k`` passages, best first."""
    plain = settings.changed(model=None, **{"plan.k": k, "loop.evaluator": "none"})
    parts = build_context(plain, collection)
    graph = build_graph(lambda *_: parts)

    def retrieve(case: Case) -> list[Passage]:
        passages: list[Passage] = state_after(graph, case, LAST_OF_RETRIEVAL).get("passages", [])
        return passages

    return retrieve
