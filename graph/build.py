"""The state machine: its wiring in flow order, and its three forks."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from langchain_core.runnables import Runnable
from langgraph.graph import END, START
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Checkpointer
from typing_extensions import TypedDict

from lexloop.core.errors import SettingsError
from lexloop.core.running import computed
from lexloop.core.state import InputState, OutputState, State, Update
from lexloop.graph.compiled import Builder, Lexloop
from lexloop.graph.node import Function, Narrow, Node, Resolve, node_of, untimed
from lexloop.nodes.classify import classify
from lexloop.nodes.context import Context
from lexloop.nodes.engineer_prompt import engineer_prompt
from lexloop.nodes.evaluate.approve import approve as ask_approval
from lexloop.nodes.evaluate.node import evaluate, repeats
from lexloop.nodes.generate.ask_back import ask_back
from lexloop.nodes.generate.node import generate
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.kg_retrieve import kg_retrieve
from lexloop.nodes.question.rewrite import rewrite
from lexloop.nodes.rerank import rerank

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

__all__ = ["LAST_OF_RETRIEVAL", "RECURSION_LIMIT", "Lexloop", "build_graph"]

RECURSION_LIMIT = 64
"""7 nodes before the first verdict, 5 more if something is asked back, 8 per retry, at most 5
retries: 52, below 64."""
LAST_OF_RETRIEVAL = "rerank"
"""The node whose update contains the passages for the answer."""
_STEPS: dict[str, Function] = {
    "classify": classify,
    "rewrite": rewrite,
    "hybrid_retrieve": hybrid_retrieve,
    "kg_retrieve": kg_retrieve,
    "rerank": rerank,
    "ask_back": ask_back,
    "generate": generate,
    "evaluate": evaluate,
    "engineer_prompt": engineer_prompt,
}
Own = Callable[..., Any]
"""A node of a caller: a function of the state, or of the state and the runtime, that returns an
update. It may be asynchronous."""


async def after_classify(state: State) -> Literal["rewrite", "__end__"]:
    """End if the question was a greeting, which already has its reply."""
    return "__end__" if state["answer"] else "rewrite"


async def after_rerank(state: State) -> Literal["ask_back", "generate", "evaluate"]:
    """Ask back once, if the settings say so.

    Skip generation if the passages are those of an earlier attempt; the question then ends.
    """
    if state["turn"].get("clarified", {}) is None:
        return "ask_back"
    return "evaluate" if repeats(state) else "generate"


async def after_ask_back(state: State) -> Literal["rewrite", "generate"]:
    """Read the question anew if somebody said what is meant."""
    return "rewrite" if state["turn"].get("clarified") else "generate"


async def after_evaluate(state: State) -> Literal["engineer_prompt", "__end__"]:
    """End if there is an answer, otherwise try again. ``evaluate`` counts the retries."""
    return "__end__" if state["answer"] else "engineer_prompt"


async def after_approve(state: State) -> Literal["generate", "__end__"]:
    """End with the answer as a person left it, or write another from the passages they left."""
    return "__end__" if state["answer"] else "generate"


def build_graph(
    contexts: Resolve | None = None,
    checkpointer: Checkpointer = None,
    *,
    model: "BaseChatModel | str | None" = None,
    models: "Mapping[str, BaseChatModel | str] | None" = None,
    embeddings: "Embeddings | str | None" = None,
    settings: Mapping[str, Any] | None = None,
    nodes: Mapping[str, Own] | None = None,
    before: Mapping[str, Own] | None = None,
    after: Mapping[str, Own] | None = None,
    retriever: "BaseRetriever | None" = None,
    approve: bool = False,
    input_key: str = "question",
    **compiling: Any,
) -> Lexloop:
    """Wire the eight steps, the loop, and the nodes that ask a person.

    Args:
        contexts: Returns the nodes' context for a run's settings and a snapshot of the corpus. None
            for ``Resources`` as files, the environment and the next arguments configure them.
        checkpointer: Keeps threads. A server or a parent graph supplies its own instead.
        model: The chat model of every step: a LangChain object, or ``provider:name``. Objects are
            written to no checkpoint and no trace; runs and records have their names.
        models: The chat models of single steps: ``rewrite``, ``generate``, ``judge`` and
            ``engineer_prompt``.
        embeddings: A LangChain object, or an embedder's name.
        settings: Settings by name, which override files and the environment.
        nodes: Functions that replace steps, by the step's name. One that takes the runtime, too,
            finds what the step works with in ``runtime.context``.
        before: Functions that run before a step, as nodes of their own named ``before_STEP``.
        after: Functions that run after a step, as nodes of their own named ``after_STEP``.
        retriever: A LangChain retriever that takes the place of the search of a corpus; what it
            finds is ranked, quoted and cited as other documents are.
        approve: Whether the run pauses before the answer is returned, for a person to approve it,
            or to edit it or its passages. That needs a checkpointer.
        input_key: The key under which a parent's state has the question.
        compiling: What ``StateGraph.compile`` takes: ``interrupt_before``, ``interrupt_after``,
            ``store``, ``cache``, ``name``, ``debug``.

    Raises:
        SettingsError: There is no such step or setting, or an object is no such model.
    """
    if contexts is None:
        from lexloop.graph.resources import Resources
        from lexloop.models.objects import Objects

        brought = Objects.of(model, models, embeddings)
        contexts = Resources.configured(brought, **(settings or {}))
    among: Narrow | None = None
    state: type[State] = State
    if retriever is not None:
        from lexloop.graph.retrieved import Retrieved, RetrievedState

        searched = Retrieved(retriever, contexts)
        contexts, among, state = searched, searched.among, RetrievedState
        nodes = {"hybrid_retrieve": searched.search, **(nodes or {})}
    own, before, after = nodes or {}, before or {}, after or {}
    for added in (own, before, after):
        _refuse_unusable(added)
    if not input_key or (input_key != "question" and input_key in State.__annotations__):
        raise SettingsError(
            f"input_key is {input_key!r}, which the graph has for itself.", "Name another key."
        )
    graph = Builder(
        contexts,
        RECURSION_LIMIT * (2 if before or after else 1),
        state=_asked_under(input_key, state),
        input_schema=_asked_under(input_key, InputState),
        output_schema=OutputState,
    )
    for step, function in _STEPS.items():
        first = step == "classify"
        chosen = _adapted(step, own[step]) if step in own else function
        asked = _asking_under(input_key, chosen) if first else chosen
        around = [_around(added[step]) if step in added else None for added in (before, after)]
        graph.add_step(step, node_of(asked, contexts, first, among), chosen, *around)
    if approve:
        graph.add_step("approve", untimed(ask_approval, contexts, among), ask_approval)
    _wire(graph, "approve" if approve else END)
    return graph.compile(checkpointer, **{"name": "lexloop", **compiling})


def _wire(graph: Builder, last: str) -> None:
    """Add the edges in flow order; ``last`` is where an answer goes."""
    graph.add_edge(START, "classify")
    graph.add_conditional_edges("classify", Node(after_classify), ["rewrite", END])
    graph.add_edge("rewrite", "hybrid_retrieve")
    graph.add_edge("hybrid_retrieve", "kg_retrieve")
    graph.add_edge("kg_retrieve", "rerank")
    ways = ["generate", "evaluate", "ask_back"]
    graph.add_conditional_edges("rerank", Node(after_rerank), ways)
    graph.add_conditional_edges("ask_back", Node(after_ask_back), ["rewrite", "generate"])
    graph.add_edge("generate", "evaluate")
    ends = {"engineer_prompt": "engineer_prompt", END: last}
    graph.add_conditional_edges("evaluate", Node(after_evaluate), ends)
    graph.add_edge("engineer_prompt", "rewrite")
    if last != END:
        graph.add_conditional_edges(last, Node(after_approve), ["generate", END])


def _refuse_unusable(added: Mapping[str, Own]) -> None:
    for step, function in added.items():
        if not callable(function) and not isinstance(function, Runnable):
            raise SettingsError(
                f"The node for {step!r} is a {type(function).__name__}, not a function.",
                "Give a function of the state.",
            )
        if step not in _STEPS:
            raise SettingsError(
                f"The graph has no step {step!r}.", f"The steps are {', '.join(_STEPS)}."
            )


def _adapted(step: str, own: Own) -> Function:
    """Return a caller's function as the function of a step."""
    takes_runtime = len(inspect.signature(own).parameters) > 1

    async def adapted(state: State, runtime: Runtime[Context]) -> Update:
        given = (state, runtime) if takes_runtime else (state,)
        if inspect.iscoroutinefunction(own):
            update: Update | None = await own(*given)
        else:
            update = await computed(own, *given)
        return update or {}

    adapted.__name__, adapted.__doc__ = step, inspect.getdoc(own)
    return adapted


def _around(own: Own) -> Any:
    """Return a caller's function as a node, for both kinds of callers; other nodes as they are."""
    if isinstance(own, Runnable):
        return own
    adapted = _adapted("", own)
    return Node(lambda state: adapted(state, get_runtime()))


def _asking_under(key: str, function: Function) -> Function:
    """Return the first step so that it finds the question under a parent's key."""
    if key == "question":
        return function

    @wraps(function)
    async def asking(state: Any, runtime: Runtime[Context]) -> Update:
        asked: Update = await function({**state, "question": state.get(key, "")}, runtime)
        return asked

    return asking


def _asked_under(key: str, schema: Any) -> Any:
    """Return a schema that has a parent's key for the question, too."""
    if key == "question":
        return schema
    keys = get_type_hints(schema, include_extras=True)
    keys[key] = keys["question"]
    typed_dict: Any = TypedDict
    return typed_dict(schema.__name__, keys, total=False)
