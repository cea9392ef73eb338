"""The agent over collections: which are asked, each asked as if alone, one answer of them all."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.core.state import AgentOutput, AgentState, InputState
from lexloop.graph.agent_nodes import (
    COMBINE,
    ONWARD,
    TO_OTHERS,
    AskCollection,
    ChoosingNodes,
    OpenedCollections,
    collection_of,
    node_of,
)
from lexloop.graph.build import RECURSION_LIMIT, build_graph
from lexloop.graph.compiled import Lexloop
from lexloop.graph.node import NodeRunnable
from lexloop.graph.resources import Resources

__all__ = ["build_agent_graph", "collection_of", "node_of"]


def build_agent_graph(
    collections: Mapping[str, Settings], resources: Resources, checkpointer: Checkpointer = None
) -> Lexloop:
    """Wire an agent over collections.

    Its output is that of the question graph with ``collections``, those that were asked; citations,
    passages and relations name theirs. Each collection is a node, ``ask NAME``, in which the
    question graph runs.

    Args:
        collections: The settings of each by its name: its corpus, and what the asker may see.
        resources: Open documents and models.
        checkpointer: Keeps threads; a server or a parent graph supplies its own instead.

    Raises:
        SettingsError: There is no collection.
    """
    if not collections:
        raise SettingsError("An agent needs a collection to ask.", "Name at least one.")
    opened = OpenedCollections(collections, resources)
    questions = build_graph(resources, checkpointer=False)
    asks = {name: AskCollection(name, questions, opened) for name in collections}
    steps = ChoosingNodes(opened, {name: _alone(ask, opened) for name, ask in asks.items()})
    graph = StateGraph(
        AgentState, context_schema=Settings, input_schema=InputState, output_schema=AgentOutput
    )
    choices = [*map(node_of, collections), "combine"]
    graph.add_node("route", NodeRunnable(steps.route, opened.first, first=True))
    graph.add_node("agent", NodeRunnable(steps.agent, opened.first))
    graph.add_node("ask_others", NodeRunnable(steps.ask_others, opened.first))
    graph.add_node("combine", COMBINE)
    for name, ask in asks.items():
        graph.add_node(node_of(name), ask)
        graph.add_edge(node_of(name), "ask_others")
    graph.add_edge(START, "route")
    graph.add_conditional_edges("route", ONWARD, ["agent", *choices])
    graph.add_conditional_edges("agent", ONWARD, choices)
    graph.add_conditional_edges("ask_others", TO_OTHERS, choices)
    graph.add_edge("combine", END)
    return _compiled(graph, opened, checkpointer)


def _alone(ask: AskCollection, opened: OpenedCollections) -> Lexloop:
    """Wire the node of one collection alone, for a tool that asks it."""
    graph = StateGraph(AgentState, context_schema=Settings)
    name = node_of(ask.collection)
    graph.add_node(name, ask)
    graph.add_edge(START, name)
    graph.add_edge(name, END)
    return _compiled(graph, opened, False)


def _compiled(graph: Any, opened: OpenedCollections, checkpointer: Checkpointer) -> Lexloop:
    compiled = Lexloop.of(graph.compile(checkpointer, name="lexloop agent"), opened.first)
    return compiled.with_config(recursion_limit=RECURSION_LIMIT)
