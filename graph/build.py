"""The state machine: its wiring in flow order, and its three forks."""

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from lexloop.core.settings import Settings
from lexloop.core.state import InputState, OutputState, State
from lexloop.graph.compiled import Lexloop
from lexloop.graph.node import Node, Resolve, node_of
from lexloop.nodes.classify import classify
from lexloop.nodes.engineer_prompt import engineer_prompt
from lexloop.nodes.evaluate.node import evaluate, repeats
from lexloop.nodes.generate.node import generate
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.kg_retrieve import kg_retrieve
from lexloop.nodes.rerank import rerank
from lexloop.nodes.rewrite import rewrite

__all__ = ["LAST_OF_RETRIEVAL", "RECURSION_LIMIT", "Lexloop", "build_graph"]

RECURSION_LIMIT = 64
"""7 nodes before the first verdict, 8 per retry, at most 5 retries: 47, below 64."""
LAST_OF_RETRIEVAL = "rerank"
"""The node whose update contains the passages for the answer."""


async def after_classify(state: State) -> Literal["rewrite", "__end__"]:
    """End if the question was a greeting, which already has its reply."""
    return "__end__" if state["answer"] else "rewrite"


async def after_rerank(state: State) -> Literal["generate", "evaluate"]:
    """Skip generation if the passages are those of an earlier attempt; the question then ends."""
    return "evaluate" if repeats(state) else "generate"


async def after_evaluate(state: State) -> Literal["engineer_prompt", "__end__"]:
    """End if there is an answer, otherwise try again. ``evaluate`` counts the retries."""
    return "__end__" if state["answer"] else "engineer_prompt"


def build_graph(contexts: Resolve | None = None, checkpointer: Checkpointer = None) -> Lexloop:
    """Wire the eight nodes and the loop.

    Args:
        contexts: Returns the nodes' context for a run's settings and a snapshot of the corpus. None
            for ``Resources`` as files and the environment configure them.
        checkpointer: Keeps threads. A server or a parent graph supplies its own instead.
    """
    if contexts is None:
        from lexloop.graph.resources import Resources

        contexts = Resources.configured()
    graph = StateGraph(
        State, context_schema=Settings, input_schema=InputState, output_schema=OutputState
    )
    for function in (
        classify,
        rewrite,
        hybrid_retrieve,
        kg_retrieve,
        rerank,
        generate,
        evaluate,
        engineer_prompt,
    ):
        first = function is classify
        graph.add_node(function.__name__, node_of(function, contexts, first))
    graph.add_edge(START, "classify")
    graph.add_conditional_edges("classify", Node(after_classify), ["rewrite", END])
    graph.add_edge("rewrite", "hybrid_retrieve")
    graph.add_edge("hybrid_retrieve", "kg_retrieve")
    graph.add_edge("kg_retrieve", "rerank")
    graph.add_conditional_edges("rerank", Node(after_rerank), ["generate", "evaluate"])
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", Node(after_evaluate), ["engineer_prompt", END])
    graph.add_edge("engineer_prompt", "rewrite")
    compiled = Lexloop.of(graph.compile(checkpointer, name="lexloop"), contexts)
    return compiled.with_config(recursion_limit=RECURSION_LIMIT)
