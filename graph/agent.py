"""An agent over collections: chooses some, asks each separately, and combines the answers."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Checkpointer, Send

from lexloop import prompts
from lexloop.core.conversation import open_turn
from lexloop.core.errors import (
    BudgetError,
    InputError,
    ModelError,
    ModelReplyError,
    SettingsError,
    tell_loss,
)
from lexloop.core.running import Deadline, computed, computing, seconds_left, within
from lexloop.core.settings import SAMPLE_CORPUS, Settings
from lexloop.core.state import AgentOutput, AgentState, AgentUpdate, InputState, State, summed
from lexloop.core.types import (
    ABSTENTION,
    Citation,
    Degradation,
    Evaluation,
    OpenTurn,
    Turn,
    Usage,
)
from lexloop.graph.build import RECURSION_LIMIT, build_graph
from lexloop.graph.collections import described, route, views_of
from lexloop.graph.combine import Reply, absent, combined, searched, tool_reply, written
from lexloop.graph.compiled import Builder, Lexloop
from lexloop.graph.node import Node, node_of
from lexloop.graph.resources import embedded_only, settings_of
from lexloop.graph.verdict import judged
from lexloop.models.chat import ChatModel
from lexloop.models.request import ChatRequest
from lexloop.nodes.context import TRIAD, Context
from lexloop.nodes.evaluate.node import AttemptRank, lowest_score
from lexloop.nodes.messages import answer_message, structured
from lexloop.nodes.question.parts import parse
from lexloop.nodes.question.small_talk import replied, small_talk
from lexloop.store.view import View

_ASK = "ask "
_MOST_OTHERS = 8
_STATE_KEYS = sorted(State.__annotations__.keys() - {"messages", "question"})
"""The keys of a collection's run that are kept: its working state."""


def collection_of(namespace: Sequence[str]) -> str:
    """Return the collection of an event of a stream with ``subgraphs=True``.

    Args:
        namespace: The namespace of the event, for example ``("ask gdpr:3f0c…",)``.

    Returns:
        The name; "" for an event of the agent itself.
    """
    nodes = (part.rpartition(":")[0] for part in namespace)
    return next((node.removeprefix(_ASK) for node in nodes if node.startswith(_ASK)), "")


class Contexts(Protocol):
    """A maker of the contexts of runs, such as ``Resources``."""

    defaults: Settings

    def __call__(self, brought: Any, snapshot: str | None = None) -> Context:
        """Return the context of a run."""


def build_agent_graph(
    collections: Mapping[str, Settings], resources: Contexts, checkpointer: Checkpointer = None
) -> Lexloop:
    """Build the graph of an agent over collections.

    Its output is the output of the question graph, plus ``collections``: those that were asked.
    Citations, passages and relations have the name of their collection. Each collection is a node,
    ``ask NAME``, which runs the question graph.

    Args:
        collections: The settings of each by its name: its corpus and its access.
        resources: Opens documents and models.
        checkpointer: Keeps threads; a server or a parent graph supplies its own instead.

    Raises:
        SettingsError: There is no collection.
    """
    if not collections:
        raise SettingsError("An agent needs a collection to ask.", "Name at least one.")
    agent = _Agent(collections, resources)
    graph = agent.builder(input_schema=InputState, output_schema=AgentOutput)
    choices = [*agent.asks, "combine"]
    graph.add_node("route", node_of(agent.route, agent.first, first=True))
    graph.add_node("agent", node_of(agent.agent, agent.first))
    graph.add_node("ask_others", node_of(agent.ask_others, agent.first))
    graph.add_node("combine", Node(agent.combine))
    for name, ask in agent.asks.items():
        graph.add_node(name, ask)
        graph.add_edge(name, "ask_others")
    graph.add_edge(START, "route")
    graph.add_conditional_edges("route", Node(_onward), ["agent", *choices])
    graph.add_conditional_edges("agent", Node(_onward), choices)
    graph.add_conditional_edges("ask_others", Node(_to_others), choices)
    graph.add_edge("combine", END)
    return graph.compile(checkpointer, name="lexloop agent")


class _Agent:
    """The nodes of an agent over collections.

    ``asks`` has the nodes that ask a collection, by their names.

    Args:
        collections: The settings of each, by its name.
        resources: Opens documents and models.
    """

    def __init__(self, collections: Mapping[str, Settings], resources: Contexts) -> None:
        self._collections, self._resources = dict(collections), resources
        self._questions = build_graph(resources, checkpointer=False)
        self.asks = {
            f"{_ASK}{name}": Node(partial(self._ask, name), f"{_ASK}{name}") for name in collections
        }
        self._alone = {name: self._asking_alone(node) for name, node in self.asks.items()}

    def builder(self, **schemas: Any) -> Builder:
        """Return a builder of a graph of these nodes."""
        return Builder(self.first, RECURSION_LIMIT, state=AgentState, **schemas)

    def first(self, brought: Any, snapshot: str | None) -> Context:
        """Return the context of the first collection, for everything that all have in common."""
        return self._resources(self._any_settings(brought), snapshot)

    def _any_settings(self, brought: Any) -> Settings:
        return next(iter(self._settings(brought).values()))

    def _settings(self, brought: Any) -> dict[str, Settings]:
        """Return the settings of each collection. A run's settings override all but the corpus.

        Raises:
            SettingsError: The run has an unknown setting, or a corpus of no collection.
        """
        if brought is None:
            return self._collections
        each = {name: settings_of(brought, own) for name, own in self._collections.items()}
        corpora = {own.corpus for own in self._collections.values()}
        # `Settings` always have a corpus: without a choice, the sample or the configured one
        unchosen = {SAMPLE_CORPUS, self._resources.defaults.corpus}
        for chosen in each.values():
            known = corpora | unchosen if isinstance(brought, Settings) else corpora
            if chosen.corpus not in known:
                raise SettingsError(
                    f"The run names the corpus {chosen.corpus!r}, and the agent asks "
                    f"{', '.join(self._collections)} alone.",
                    "Leave corpus out, ask the question graph, or build an agent over it "
                    "(LEXLOOP_COLLECTIONS for a served one).",
                )
        return {
            name: chosen.changed(corpus=self._collections[name].corpus)
            for name, chosen in each.items()
        }

    def _contexts(self, brought: Any) -> dict[str, Context]:
        """Return the context of each collection."""
        return {name: self._resources(own) for name, own in self._settings(brought).items()}

    @computing
    def route(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Open the turn, and choose collections if there is no model to choose."""
        contexts = self._contexts(get_runtime().context)
        each = [context.settings for context in contexts.values()]
        tags = sorted({tag for settings in each for tag in settings.access.tags})
        turn = open_turn(state, tags, runtime.context.settings.max_question_chars)
        reply = small_talk(turn["asked"], "collections", list(contexts))
        by_model = runtime.context.chat is not None and not reply
        opened: AgentUpdate = {
            **turn,
            "parsed": parse(turn["asked"]),
            "collections": [],
            "reply": reply,
            "ways": {},
            "routed": [],
            "found": None,
            "by_model": by_model,
        }
        return opened if reply or by_model else {**opened, **_routed(opened, contexts)}

    async def ask_others(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Ask the other collections, once, if all chosen ones abstain.

        If any of their answers pass, only these count. An answer with a low score was tried again
        in its own collection; another one's that passes in its place is more often wrong.
        """
        ways, replies = state["ways"], state.get("found") or {}
        if routed := state["routed"]:
            passing = {
                n: "" for n in ways if n not in routed and replies[n]["evaluation"]["passed"]
            }
            return {"ways": passing or {name: ways[name] for name in routed}}
        others = [name for name in self._collections if name not in ways]
        if len(others) > _MOST_OTHERS or any(not replies[name]["abstained"] for name in ways):
            others = []
        return {"ways": {**ways, **dict.fromkeys(others, "")}, "routed": [*ways]}

    async def agent(self, state: AgentState, runtime: Runtime[Context]) -> AgentUpdate:
        """Let the model ask and answer; without one, the router chooses."""
        each = await computed(self._settings, get_runtime().context)
        contexts = await computed(self._contexts, get_runtime().context)
        chat = runtime.context.chat
        if chat is None:
            return {**await computed(_routed, state, contexts), "by_model": False}

        async def ask(name: str, question: str) -> State:
            left: OpenTurn = {**state["turn"], "seconds_left": seconds_left()}
            turn: Any = {**state, "ways": {name: question}, "turn": left}
            asked = self._alone[f"{_ASK}{name}"]
            output = await asked.ainvoke(turn, context=each[name], output_keys=["found"])
            answered: State = output["found"][name]
            return answered

        chooser = _Chooser(chat, await computed(_descriptions, (*views_of(contexts).items(),)), ask)
        lost: list[Degradation] = []
        try:
            update = await self._answered(chooser, state, runtime.context, contexts)
        except (ModelError, BudgetError) as error:
            if not any(reply.answers for reply in chooser.replies):
                raise
            wanted, used = "the model's answer", "the answers of the collections"
            lost = [Degradation(node="agent", wanted=wanted, used=used, reason=error.what)]
            update = combined(chooser.replies)
        if not update["abstained"]:
            get_stream_writer()({"node": "agent", "token": update["answer"], "restart": True})
        cost = summed(state["usage"], *(reply.state["usage"] for reply in chooser.replies))
        # the seconds of the collections are within those of this step
        usage: Usage = {**cost, "seconds": state["usage"]["seconds"]}
        return {
            **update,
            "parsed": searched(state["parsed"], chooser.replies),
            "usage": usage,
            "degraded": [*update.get("degraded", []), *lost],
        }

    async def _answered(
        self,
        chooser: "_Chooser",
        state: AgentState,
        context: Context,
        contexts: Mapping[str, Context],
    ) -> AgentUpdate:
        """Return the model's judged answer; one that does not pass goes back to the model once.

        The second counts only if it is better. An abstention stands if every collection abstained.
        """
        views = views_of(contexts)

        async def verdict(text: str) -> AgentUpdate:
            update = await computed(_checked, text, chooser, state["asked"], contexts)
            try:
                return await judged(update, state["parsed"], context, views)
            except (ModelError, BudgetError) as error:
                tell_loss("a verdict", "the answer unjudged", error.what)
                return {**update, "warning": f"{_UNJUDGED} {update['warning']}".strip()}

        first = await verdict(await chooser.answer(state["asked"], state["history"]))
        reasons = _reasons(first["evaluation"])
        nothing = first["abstained"] and not any(reply.answers for reply in chooser.replies)
        may_retry = context.judge is not None and context.settings.loop.max_retries > 0
        if first["evaluation"]["passed"] or nothing or not may_retry or not reasons:
            return first
        try:
            second = await verdict(await chooser.again(reasons))
        except (ModelError, BudgetError) as error:
            tell_loss("another attempt", "the first answer", error.what)
            return first
        return second if _rank(second).beats(_rank(first)) else first

    async def _ask(self, collection: str, state: AgentState) -> AgentUpdate:
        """Run the question graph over a collection."""
        settings = self._settings(get_runtime().context)[collection]
        if state["degraded"]:  # the model failed, so do not wait for it again
            settings = embedded_only(settings)
        part = state["ways"][collection]
        if settings.answer.ask_back:  # each collection would ask for itself
            settings = settings.changed(**{"answer.ask_back": False})
        asked: InputState = {"messages": [HumanMessage(part)] if part else state["messages"]}
        with within(
            Deadline(time.monotonic() + state["turn"]["seconds_left"], settings.deadline_s)
        ):
            output: Any = await self._questions.ainvoke(
                asked, context=settings, output_keys=_STATE_KEYS
            )
        return {"found": {collection: output}}

    async def combine(self, state: AgentState) -> AgentUpdate:
        """Write the answer unless the model did, and its message."""
        states = state.get("found") or {}
        replies = [Reply(name, part, states[name]) for name, part in state["ways"].items()]
        update: AgentUpdate = {}
        if not state["answer"]:
            spoken = cast("AgentUpdate", replied(state["reply"])) if state["reply"] else absent()
            update = combined(replies) if replies else spoken
            update["parsed"] = searched(state["parsed"], replies)
            update["degraded"] = [*state["degraded"], *update.get("degraded", [])]
            update["usage"] = summed(state["usage"], *(reply.state["usage"] for reply in replies))
        update["turn"] = {**state["turn"], **update.get("turn", {})}
        whole: AgentState = {**state, **update}
        sources = self._any_settings(get_runtime().context).answer.sources
        return {
            **update,
            "structured_response": structured(whole),
            "found": None,
            "messages": [answer_message(whole, sources)],
        }

    def _asking_alone(self, ask: Node) -> Lexloop:
        """Build a graph of one collection's node, for a tool that asks it."""
        graph = self.builder()
        graph.add_node(ask.get_name(), ask)
        graph.add_edge(START, ask.get_name())
        graph.add_edge(ask.get_name(), END)
        return graph.compile(False)


async def _onward(state: AgentState) -> list[Send] | str:
    if state["answer"] or not (state["ways"] or state["by_model"]):
        return "combine"
    if state["by_model"]:
        return "agent"
    return [Send(f"{_ASK}{name}", state) for name in state["ways"]]


async def _to_others(state: AgentState) -> list[Send] | str:
    replies = state.get("found") or {}
    others = [name for name in state["ways"] if name not in replies]
    return [Send(f"{_ASK}{name}", state) for name in others] or "combine"


def _checked(
    text: str, chooser: "_Chooser", asked: str, contexts: Mapping[str, Context]
) -> AgentUpdate:
    """Return the model's answer, or the abstention if it recites its instructions."""
    guard = next(iter(contexts.values())).guard
    if guard.withholds(text, chooser.instructions, asked):
        text = ABSTENTION
    views = views_of(contexts)
    return written(text, chooser.replies, lambda name, document: views[name].text_of(document))


def _reasons(evaluation: Evaluation) -> list[str]:
    """Return why an answer did not pass, with its scores; nothing of one that was not judged."""
    scores = {name: evaluation[name] for name in TRIAD}
    shown = (f"{name.replace('_', ' ')} {s:.2f}" for name, s in scores.items() if s is not None)
    return [*evaluation["reasons"], *shown]


def _rank(update: AgentUpdate) -> AttemptRank:
    evaluation = update["evaluation"]
    verified, score = evaluation["citations_verified"], lowest_score(evaluation)
    return AttemptRank(evaluation["passed"], verified, update["abstained"], score)


@lru_cache(maxsize=4)
def _descriptions(views: tuple[tuple[str, View], ...]) -> dict[str, str]:
    return {name: described(name, dict(views)) for name, _ in views}


def _routed(state: AgentState, contexts: Mapping[str, Context]) -> AgentUpdate:
    routing = route(state["asked"], state["history"], contexts)
    return {"parsed": parse(routing.standalone), "ways": routing.ways}


Ask = Callable[[str, str], Awaitable[State]]
"""Asks a collection a question."""
MOST_CALLS, _MOST_ROUNDS = 8, 5
"""The most questions that a model may ask collections, and the most replies with questions."""
_TURNS, _TURN_CHARS = 24, 4000
_TOOL_CHARS = 60
_UNJUDGED = "This answer was not evaluated."
_NO_MORE = "No further question can be asked: answer from what was found."


class _Chooser:
    """The model with its tools, for one question.

    ``replies`` has the collections' replies so far, and ``instructions`` the model's instructions.

    Args:
        chat: The model.
        descriptions: A description of each collection by its name, for the model.
        ask: Asks a collection.
    """

    def __init__(self, chat: ChatModel, descriptions: Mapping[str, str], ask: Ask) -> None:
        self.replies: list[Reply] = []
        self.instructions = ""
        self._messages: list[BaseMessage] = []
        self._chat, self._ask, self._calls = chat, ask, 0
        self._last_asked: asyncio.Event | None = None
        self._prompt = prompts.load("agent", {"history", "question"})
        names = _tool_names(list(descriptions))
        self._tools = [
            self._tool(names[name], name, description) for name, description in descriptions.items()
        ]

    async def answer(self, question: str, history: Sequence[Turn]) -> str:
        """Return the model's answer after its questions.

        Raises:
            ModelError: The model's reply is unusable, or a collection cannot be asked.
        """
        turns = [prompts.Data(t["role"], t["content"][:_TURN_CHARS]) for t in history[-_TURNS:]]
        self.instructions, user = self._prompt.render(history=turns, question=question)
        return await self._said(user)

    async def again(self, reasons: Sequence[str]) -> str:
        """Return another answer, after why the last one did not pass.

        Raises:
            ModelError: The model's reply is unusable, or a collection cannot be asked.
        """
        told = [prompts.Data("reason", reason) for reason in reasons]
        return await self._said(prompts.load("agent_again", {"reasons"}).render(reasons=told)[1])

    async def _said(self, user: str) -> str:
        """Return what the model says next in this question's conversation."""
        agent = await computed(self._agent)
        config: RunnableConfig = {"recursion_limit": 4 * (_MOST_ROUNDS + MOST_CALLS)}
        state = await agent.ainvoke({"messages": [*self._messages, HumanMessage(user)]}, config)
        self._messages = state["messages"]
        return str(self._messages[-1].text)

    def _agent(self) -> Any:
        from langchain.agents import create_agent  # half a second that only models need

        return create_agent(
            _ChatOfNode(chat=self._chat),
            self._tools,
            system_prompt=self.instructions,
            checkpointer=False,
        )

    def _tool(self, called: str, collection: str, description: str) -> BaseTool:
        async def ask(question: str) -> tuple[str, list[Citation]]:
            return await self._replied(collection, question)

        return StructuredTool.from_function(
            coroutine=ask,
            name=called,
            description=description,
            response_format="content_and_artifact",
        )

    async def _replied(self, collection: str, question: str) -> tuple[str, list[Citation]]:
        """Ask a collection; a question that cannot be asked gives the model the reason."""
        if self._calls >= MOST_CALLS:
            return _NO_MORE, []
        self._calls += 1
        # replies keep the order of the questions, so that sources always get the same numbers
        earlier, self._last_asked = self._last_asked, asyncio.Event()
        mine = self._last_asked
        try:
            state = await self._ask(collection, question)
            if earlier is not None:
                await earlier.wait()
            reply = Reply(collection, "", state)
            content, citations = tool_reply(reply, self.replies)
            self.replies.append(reply)
        except InputError as error:
            return f"This was not asked. {error}", []
        finally:
            mine.set()
        return content, citations


def _tool_names(collections: Sequence[str]) -> dict[str, str]:
    """Return a name for each collection's tool, in the characters that hosts allow."""
    names: dict[str, str] = {}
    for collection in collections:
        plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", f"ask_{collection}")[:_TOOL_CHARS]
        numbered = (f"{plain}_{n}" for n in range(2, len(collections) + 2))
        names[collection] = next(n for n in (plain, *numbered) if n not in names.values())
    return names


class _ChatOfNode(BaseChatModel):
    """A chat model for LangChain's agent that uses the calls of the surrounding node.

    It has the deadline, retries, usage and typed errors of every other node. LangChain's callbacks
    are not called: they would forward text before it is checked.
    """

    chat: Any
    tools: tuple[dict[str, Any], ...] = ()

    @property
    def _llm_type(self) -> str:
        return "lexloop"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools."""
        return self.model_copy(update={"tools": tuple(map(convert_to_openai_tool, tools))})

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Return the model's reply to the messages; after too many, it gets no tools."""
        replies = sum(isinstance(message, AIMessage) for message in input)
        tools = self.tools if replies < _MOST_ROUNDS else ()
        request = ChatRequest("agent", "", "", turns=tuple(input), tools=tools)
        reply = await self.chat.ask(request)
        if not tools and reply.calls:
            raise ModelReplyError("The model asked on and on.", "Use another model.")
        return AIMessage(reply.text, tool_calls=list(reply.calls))

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        raise NotImplementedError("It is asked by `ainvoke` alone.")
