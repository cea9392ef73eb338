"""The agent over collections: which are asked, each asked as if alone, one answer of them all."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Checkpointer, Send

from lexloop.core.conversation import (
    checked_question,
    history_turns,
    message_text,
    tags_of_thread,
)
from lexloop.core.deadline import Deadline, within
from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.core.state import AgentOutput, AgentState, AgentUpdate, InputState, State
from lexloop.graph.build import RECURSION_LIMIT, build_graph
from lexloop.graph.combine import combined, replied
from lexloop.graph.compiled import Lexloop
from lexloop.graph.node import in_thread
from lexloop.graph.resources import Resources, settings_of
from lexloop.graph.router import route
from lexloop.nodes.classify.node import open_turn
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.node import answer_message

_ASK = "ask "
_KEPT = sorted(State.__annotations__.keys() - {"messages", "question"})
"""What is kept of a collection's run: its working state."""


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
    opened = _Opened(collections, resources)
    graph = StateGraph(
        AgentState, context_schema=Settings, input_schema=InputState, output_schema=AgentOutput
    )
    graph.add_node("route", _Route(opened))
    graph.add_node("combine", _COMBINE)
    questions = build_graph(resources, checkpointer=False)
    for name in collections:
        graph.add_node(node_of(name), _AskCollection(name, questions, opened))
        graph.add_edge(node_of(name), "combine")
    graph.add_edge(START, "route")
    graph.add_conditional_edges("route", _AFTER_ROUTE, [*map(node_of, collections), "combine"])
    graph.add_edge("combine", END)
    wired: Any = graph.compile(checkpointer, name="lexloop agent")
    compiled = Lexloop.of(wired, opened.first)
    return compiled.with_config(recursion_limit=RECURSION_LIMIT)


def node_of(collection: str) -> str:
    """Return the name of the node that asks a collection."""
    return f"{_ASK}{collection}"


def collection_of(namespace: Sequence[str]) -> str:
    """Return the collection that an event of a stream with ``subgraphs=True`` is about.

    Args:
        namespace: The event's, for example ``("ask gdpr:3f0c…",)``.

    Returns:
        The name; "" for an event of the agent itself.
    """
    nodes = (part.rpartition(":")[0] for part in namespace)
    return next((node.removeprefix(_ASK) for node in nodes if node.startswith(_ASK)), "")


class _Opened:
    """The collections of an agent, opened for a run.

    Args:
        collections: The settings of each, by its name.
        resources: Open documents and models.
    """

    def __init__(self, collections: Mapping[str, Settings], resources: Resources) -> None:
        self._collections, self._resources = dict(collections), resources

    def settings(self, brought: Any) -> dict[str, Settings]:
        """Return the settings of each; those that a run brings stand for all but the corpus."""
        if brought is None:
            return self._collections
        chosen = settings_of(brought, next(iter(self._collections.values())))
        return {name: chosen.changed(corpus=own.corpus) for name, own in self._collections.items()}

    def contexts(self, brought: Any) -> dict[str, Context]:
        """Return the context of the nodes over each."""
        return {name: self._resources(own) for name, own in self.settings(brought).items()}

    def first(self, brought: Any, snapshot: str | None) -> Context:
        """Return the context over the first, for what is the same in all."""
        return self._resources(next(iter(self.settings(brought).values())), snapshot)


class _Node(Runnable[AgentState, AgentUpdate]):
    """A node of the agent that takes the processor, for both kinds of callers."""

    def invoke(
        self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AgentUpdate:
        """Run the node in the caller's thread."""
        return self._updated(input)

    async def ainvoke(
        self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AgentUpdate:
        """Run the node without blocking the event loop."""
        return await in_thread(partial(self._updated, input))

    def _updated(self, state: AgentState) -> AgentUpdate:
        raise NotImplementedError


class _Route(_Node):
    """The node ``route``: opens the turn, and chooses whom to ask what."""

    def __init__(self, opened: _Opened) -> None:
        self.name, self._opened = "route", opened

    def _updated(self, state: AgentState) -> AgentUpdate:
        brought = get_runtime().context
        contexts = self._opened.contexts(brought)
        began = time.monotonic()
        each = [context.settings for context in contexts.values()]
        tags = sorted({tag for settings in each for tag in settings.access.tags})
        limit, deadline_s = each[0].max_question_chars, each[0].deadline_s
        message, earlier = open_turn(state, limit)
        asked = checked_question(message_text(message), limit)
        with within(Deadline(began + deadline_s, deadline_s)):
            routing = route(asked, history_turns(earlier), contexts)
        return {
            "allowed_tags": tags_of_thread(state.get("allowed_tags", []), tags),
            "messages": [message],
            "turn_id": str(message.id),
            "asked": asked,
            "standalone": routing.standalone,
            "ways": routing.ways,
            "reply": routing.reply,
            "found": None,
            "seconds_left": deadline_s - (time.monotonic() - began),
        }


class _AskCollection(Runnable[AgentState, AgentUpdate]):
    """The node of a collection, in which the question graph runs.

    Args:
        collection: Its name.
        graph: The question graph, without threads of its own.
        opened: Knows its settings.
    """

    def __init__(self, collection: str, graph: Lexloop, opened: _Opened) -> None:
        self.name = node_of(collection)
        self._collection, self._graph, self._opened = collection, graph, opened

    def invoke(
        self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AgentUpdate:
        """Ask the collection, blocking."""
        settings, deadline = self._terms(input)
        with within(deadline):
            found = self._graph.invoke(self._asked(input), context=settings, output_keys=_KEPT)
        return self._update(found)

    async def ainvoke(
        self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AgentUpdate:
        """Ask the collection without blocking the event loop."""
        settings, deadline = self._terms(input)
        with within(deadline):
            found = await self._graph.ainvoke(
                self._asked(input), context=settings, output_keys=_KEPT
            )
        return self._update(found)

    def _terms(self, state: AgentState) -> tuple[Settings, Deadline]:
        settings = self._opened.settings(get_runtime().context)[self._collection]
        at = time.monotonic() + state["seconds_left"]
        return settings, Deadline(at, settings.deadline_s)

    def _asked(self, state: AgentState) -> InputState:
        if part := state["ways"][self._collection]:
            return {"messages": [HumanMessage(part)]}
        return {"messages": state["messages"]}

    def _update(self, found: Any) -> AgentUpdate:
        return {"found": {self._collection: found}}


def _after_route(state: AgentState) -> "list[Send] | str":
    return [Send(node_of(name), state) for name in state["ways"]] or "combine"


async def _aafter_route(state: AgentState) -> "list[Send] | str":
    return _after_route(state)


def _combine(state: AgentState) -> AgentUpdate:
    ways, found = state["ways"], state.get("found") or {}
    in_order = {name: found[name] for name in ways}
    parts = {name: part for name, part in ways.items() if part}
    update = combined(in_order, parts) if in_order else replied(state["reply"])
    said: AgentState = {**state, "read_as": update["read_as"]}
    message = answer_message(update["answer"], said, update["warning"])
    return {**update, "found": None, "messages": [message]}


async def _acombine(state: AgentState) -> AgentUpdate:
    return _combine(state)


# LangGraph would call a plain function on a thread of the event loop's (see graph/node.py)
_AFTER_ROUTE = RunnableLambda(_after_route, _aafter_route)
_COMBINE = RunnableLambda(_combine, _acombine)
