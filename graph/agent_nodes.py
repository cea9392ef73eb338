"""The nodes of the agent over collections."""

import time
import uuid
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Send

from lexloop.core.conversation import (
    checked_question,
    history_turns,
    message_text,
    tags_of_thread,
)
from lexloop.core.deadline import Deadline, seconds_left, within
from lexloop.core.errors import ModelError
from lexloop.core.running import computed, computing
from lexloop.core.settings import Settings
from lexloop.core.state import AgentState, AgentUpdate, InputState, State
from lexloop.core.types import ABSTENTION, Degradation, Usage
from lexloop.graph.collections import described
from lexloop.graph.combine import Said, combined, nothing_asked, replied, searched, total, written
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources, embedded_only, settings_of
from lexloop.graph.router import route, small_talk, views_of
from lexloop.graph.tool_agent import Chooser
from lexloop.nodes.classify.node import open_turn
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.node import answer_message
from lexloop.nodes.question import parse
from lexloop.store.view import View

_ASK = "ask "
_MOST_OTHERS = 8
_KEPT = sorted(State.__annotations__.keys() - {"messages", "question"})
"""What is kept of a collection's run: its working state."""


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


class OpenedCollections:
    """The collections of an agent, opened for a run.

    Args:
        collections: The settings of each, by its name.
        resources: Open documents and models.
    """

    def __init__(self, collections: Mapping[str, Settings], resources: Resources) -> None:
        self.collections, self._resources = dict(collections), resources

    def settings(self, brought: Any) -> dict[str, Settings]:
        """Return the settings of each; those that a run brings stand for all but the corpus."""
        if brought is None:
            return self.collections
        chosen = settings_of(brought, next(iter(self.collections.values())))
        return {name: chosen.changed(corpus=own.corpus) for name, own in self.collections.items()}

    def contexts(self, brought: Any) -> dict[str, Context]:
        """Return the context of the nodes over each."""
        return {name: self._resources(own) for name, own in self.settings(brought).items()}

    def first(self, brought: Any, snapshot: str | None) -> Context:
        """Return the context over the first, for what is the same in all."""
        return self._resources(next(iter(self.settings(brought).values())), snapshot)


class ChoosingNodes:
    """The nodes of the agent that choose.

    Args:
        opened: The collections.
        asking: From the name of a collection to the graph of its node alone.
    """

    def __init__(self, opened: OpenedCollections, asking: Mapping[str, Lexloop]) -> None:
        self._opened, self._asking = opened, asking

    @computing
    def route(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Open the turn, and reset what the last one left; choose, where no model is to."""
        contexts = self._opened.contexts(get_runtime().context)
        each = [context.settings for context in contexts.values()]
        tags = sorted({tag for settings in each for tag in settings.access.tags})
        limit = runtime.context.settings.max_question_chars
        message, earlier = open_turn(state, limit)
        asked = checked_question(message_text(message), limit)
        reply = small_talk(asked, list(contexts))
        by_model = runtime.context.chat is not None and not reply
        opened: AgentUpdate = {
            **nothing_asked(),
            "allowed_tags": tags_of_thread(state.get("allowed_tags", []), tags),
            "messages": [message],
            "turn_id": message.id or uuid.uuid4().hex,
            "asked": asked,
            "parsed": parse(asked),
            "history": history_turns(earlier),
            "reply": reply,
            "ways": {},
            "routed": [],
            "found": None,
            "by_model": by_model,
        }
        return opened if reply or by_model else {**opened, **_routed(opened, contexts)}

    async def ask_others(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Ask the collections that were not, once, where all that were asked abstain.

        Of what they say only answers that pass count, and then they alone.
        """
        ways, found = state["ways"], state.get("found") or {}
        if routed := state["routed"]:
            passing = {n: "" for n in ways if n not in routed and found[n]["evaluation"]["passed"]}
            return {"ways": passing or {name: ways[name] for name in routed}}
        others = [name for name in self._opened.collections if name not in ways]
        if len(others) > _MOST_OTHERS or any(not found[name]["abstained"] for name in ways):
            others = []
        return {"ways": {**ways, **dict.fromkeys(others, "")}, "routed": [*ways]}

    async def agent(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Have the model ask and answer; where it fails, the router chooses in its place."""
        brought = get_runtime().context
        contexts = await computed(self._opened.contexts, brought)
        chat = runtime.context.chat
        if chat is None:
            return {**await computed(_routed, state, contexts), "by_model": False}
        descriptions = await computed(_descriptions, tuple(views_of(contexts).items()))

        async def ask(name: str, question: str) -> State:
            turn: Any = {**state, "ways": {name: question}, "seconds_left": seconds_left()}
            found = await self._asking[name].ainvoke(turn, context=brought, output_keys=["found"])
            answered: State = found["found"][name]
            return answered

        chooser = Chooser(chat, descriptions, ask)
        lost: list[Degradation] = []
        try:
            text = await chooser.answer(state["asked"], state["history"])
        except ModelError as error:
            if not any(said.answers for said in chooser.said):
                raise
            lost = [_lost(error)]
            update = combined(chooser.said)
        else:
            update = await computed(_checked, text, chooser, state["asked"], contexts)
        if not update["abstained"]:
            get_stream_writer()({"node": "agent", "token": update["answer"], "restart": True})
        cost = total([state["usage"], *(said.state["usage"] for said in chooser.said)])
        # the seconds of the collections are within those of this step
        usage: Usage = {**cost, "seconds": state["usage"]["seconds"]}
        return {
            **update,
            "parsed": searched(state["parsed"], chooser.said),
            "usage": usage,
            "degraded": [*update.get("degraded", []), *lost],
        }


def _checked(
    text: str, chooser: Chooser, asked: str, contexts: Mapping[str, Context]
) -> AgentUpdate:
    """Return what the model wrote as the answer, unless it gives its instructions away."""
    guard = next(iter(contexts.values())).guard
    if guard.withholds(text, chooser.instructions, asked):
        text = ABSTENTION
    return written(text, chooser.said, partial(_text_in, contexts))


@lru_cache(maxsize=4)
def _descriptions(views: tuple[tuple[str, View], ...]) -> dict[str, str]:
    return {name: described(name, dict(views)) for name, _ in views}


def _routed(state: AgentState, contexts: Mapping[str, Context]) -> AgentUpdate:
    routing = route(state["asked"], state["history"], contexts)
    return {"parsed": parse(routing.standalone), "ways": routing.ways}


def _text_in(contexts: Mapping[str, Context], collection: str, document: str) -> str | None:
    text_of = contexts[collection].text_of
    return None if text_of is None else text_of(document)


def _lost(error: ModelError) -> Degradation:
    used = "the answers of the collections"
    return {"node": "agent", "wanted": "the model's answer", "used": used, "reason": error.what}


class AskCollection(Runnable[AgentState, AgentUpdate]):
    """The node of a collection, in which the question graph runs.

    Args:
        collection: Its name.
        graph: The question graph, without threads of its own.
        opened: Knows its settings.
    """

    def __init__(self, collection: str, graph: Lexloop, opened: OpenedCollections) -> None:
        self.name = node_of(collection)
        self.collection, self._graph, self._opened = collection, graph, opened

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
        settings = self._opened.settings(get_runtime().context)[self.collection]
        if state["degraded"]:  # the model failed: nobody is to wait for it once more
            settings = embedded_only(settings)
        at = time.monotonic() + state["seconds_left"]
        return settings, Deadline(at, settings.deadline_s)

    def _asked(self, state: AgentState) -> InputState:
        if part := state["ways"][self.collection]:
            return {"messages": [HumanMessage(part)]}
        return {"messages": state["messages"]}

    def _update(self, found: Any) -> AgentUpdate:
        return {"found": {self.collection: found}}


def _onward(state: AgentState) -> list[Send] | str:
    if state["answer"] or not (state["ways"] or state["by_model"]):
        return "combine"
    if state["by_model"]:
        return "agent"
    return [Send(node_of(name), state) for name in state["ways"]]


async def _aonward(state: AgentState) -> list[Send] | str:
    return _onward(state)


def _to_others(state: AgentState) -> list[Send] | str:
    found = state.get("found") or {}
    return [Send(node_of(name), state) for name in state["ways"] if name not in found] or "combine"


async def _ato_others(state: AgentState) -> list[Send] | str:
    return _to_others(state)


def _combine(state: AgentState) -> AgentUpdate:
    """Write one answer, where the model did not, and the message that it is."""
    found = state.get("found") or {}
    said = [Said(name, part, found[name]) for name, part in state["ways"].items()]
    update: AgentUpdate = {}
    if not state["answer"]:
        update = combined(said) if said else replied(state["reply"])
        update["parsed"] = searched(state["parsed"], said)
        update["degraded"] = [*state["degraded"], *update.get("degraded", [])]
        update["usage"] = total([state["usage"], *(one.state["usage"] for one in said)])
    whole: AgentState = {**state, **update}
    message = answer_message(whole["answer"], whole, whole["warning"])
    return {**update, "found": None, "messages": [message]}


async def _acombine(state: AgentState) -> AgentUpdate:
    return _combine(state)


# LangGraph would call a plain function on a thread of the event loop's (see graph/node.py)
ONWARD = RunnableLambda(_onward, _aonward)
TO_OTHERS = RunnableLambda(_to_others, _ato_others)
COMBINE = RunnableLambda(_combine, _acombine)
