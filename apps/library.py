"""Lexloop as a library: the names that ``import lexloop`` offers."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self, cast, get_type_hints

from cachetools import LRUCache
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.runtime import get_runtime
from langgraph.types import Checkpointer

from lexloop.apps.shapes.record import answer_record, text_hosts
from lexloop.core.configuration import configured
from lexloop.core.errors import CorpusError, LexloopError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.state import OutputState, State
from lexloop.core.types import Passage
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import graph, resources
from lexloop.graph.build import LAST_OF_RETRIEVAL, build_graph
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources, settings_of
from lexloop.models.objects import Objects
from lexloop.nodes.messages import with_sources
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import verify_index
from lexloop.store.preparing import Tools
from lexloop.store.provisions import Source
from lexloop.store.writer import IndexUpdate, write_index

_STATE = list(get_type_hints(State))
"""The keys of a record, which are more than the graph's output."""


def ask(question: str, corpus: str | Path | None = None, **settings: Any) -> OutputState:
    """Answer a question from documents.

    Args:
        question: In words.
        corpus: A folder, a file, an index, or ``sample``; None for the one that is configured.
        settings: Any of ``Settings`` by name, for example ``model="openai:gpt-4o-mini"`` or
            ``fusion="linear"``; they count more than files and environment. ``model`` may be a
            LangChain chat model, ``models`` has those of single steps, and ``embeddings`` is a
            LangChain object; see ``build_graph``.

    Returns:
        The answer with its citations, verdict and passages; see ``OutputState``.

    Raises:
        LexloopError: The question, a setting, the documents or a model cannot be used.
    """
    asking = asking_with(corpus, settings)
    found = asking.graph.invoke({"question": question}, context=asking.settings)
    return cast("OutputState", found)


async def aask(question: str, corpus: str | Path | None = None, **settings: Any) -> OutputState:
    """Answer a question from documents without blocking the event loop; see ``ask``."""
    asking = asking_with(corpus, settings)
    found = await asking.graph.ainvoke({"question": question}, context=asking.settings)
    return cast("OutputState", found)


def as_tool(
    name: str, description: str, corpus: str | Path | None = None, **settings: Any
) -> BaseTool:
    """Make a tool for agents that answers from documents.

    Args:
        name: The tool's name.
        description: What the documents are about, so that the agent can choose the tool.
        corpus: See ``ask``.
        settings: See ``ask``.

    Returns:
        A tool with one argument, ``question``. What the agent's run has in its context under
        ``lexloop``, or as ``Settings``, changes these settings. The tool's content is the answer
        with its sources, and its artifact the answer's whole record, as ``lexloop ask --json``
        prints it. An error of the question, the documents or a model is returned as a message whose
        status is ``error``, so that the agent can go on.

    Raises:
        LexloopError: A setting cannot be used.
    """
    asking = asking_with(corpus, settings)
    chosen, graph = asking.settings, asking.graph

    def answer(question: str) -> tuple[str, dict[str, Any]]:
        with told_to_an_agent():
            its = _with_the_agents(chosen)
            state = graph.invoke({"question": question}, context=its, output_keys=_STATE)
            return _recorded(state, its, asking.resources)

    async def aanswer(question: str) -> tuple[str, dict[str, Any]]:
        with told_to_an_agent():
            its = _with_the_agents(chosen)
            state = await graph.ainvoke({"question": question}, context=its, output_keys=_STATE)
            return _recorded(state, its, asking.resources)

    return StructuredTool.from_function(
        answer,
        aanswer,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def build_agent(
    collections: Mapping[str, str | Path],
    model: str | None = None,
    checkpointer: Checkpointer = None,
    **settings: Any,
) -> Lexloop:
    """Build an agent that chooses among collections and asks the chosen ones.

    Args:
        collections: The documents of each by its name: a folder, a file, an index, or ``sample``.
        model: The chat model that chooses and answers, as ``provider:name``, or None for the
            configured one. If none is configured, a router chooses and the answers are extracted.
        checkpointer: Keeps threads. A server or a parent graph supplies its own instead.
        settings: See ``ask``.

    Returns:
        A LangGraph graph whose input is ``question`` or ``messages``. Its output is that of
        ``ask``, plus ``collections``, the names of those that were asked. Citations, passages and
        relations name their ``collection``, and the sources of all are numbered as one list.

    Raises:
        LexloopError: A setting cannot be used, or there is no collection.
    """
    if model is not None:
        settings = {**settings, "model": model}
    chosen = {name: chosen_settings(corpus, settings) for name, corpus in collections.items()}
    return build_agent_graph(chosen, resources, checkpointer)


class Asking(NamedTuple):
    """What a call asks with."""

    graph: Lexloop
    resources: Resources
    settings: Settings


_OPENED: LRUCache[Any, tuple[Objects, Resources, Lexloop]] = LRUCache(8)
"""The graphs of objects that callers brought, by the objects."""


def asking_with(corpus: str | Path | None, settings: Mapping[str, Any]) -> Asking:
    """Return what a call asks with: what this process has, or the objects that the call brings.

    Raises:
        SettingsError: A setting cannot be used, or an object is no model.
    """
    given = dict(settings)
    model = given.pop("model", None)
    named = isinstance(model, str | Mapping)
    parts = given.pop("models", None), given.pop("embeddings", None)
    objects = Objects.of(None if named else model, *parts)
    own = {**given, **({"model": model} if named else {}), **objects.settings}
    chosen = chosen_settings(corpus, own)
    brought = [*objects.chats.items(), *objects.embeddings.items()]
    if not brought:
        return Asking(graph, resources, chosen)
    key = tuple((name, id(one)) for name, one in brought)
    if key not in _OPENED:
        opened = Resources.configured(objects)
        _OPENED[key] = objects, opened, build_graph(opened)
    _, opened, asked = _OPENED[key]
    return Asking(asked, opened, chosen)


def passages_for(question: str, asking: Asking) -> list[Passage]:
    """Return the passages that an answer would be written from, best first.

    Raises:
        LexloopError: The question, a setting or the documents cannot be used.
    """
    asked = {"question": question}
    steps = asking.graph.stream(asked, context=asking.settings, stream_mode="updates")
    with closing(cast("Generator[dict[str, Any]]", steps)) as updates:
        for step in updates:
            if update := step.get(LAST_OF_RETRIEVAL):
                return cast("list[Passage]", update["passages"])
    return []


def chosen_settings(corpus: str | Path | None, settings: dict[str, Any]) -> Settings:
    """Return the settings of a call: its own, then files and environment."""
    return configured({} if corpus is None else {"corpus": str(corpus)}, settings)


@contextmanager
def told_to_an_agent() -> Iterator[None]:
    """Raise errors that an agent is told about, instead of errors that would end its run."""
    try:
        yield
    except LexloopError as error:
        raise ToolException(str(error)) from error


def _with_the_agents(chosen: Settings) -> Settings:
    """Return a tool's settings, changed by those in the context of the agent that calls it."""
    try:
        runtime: Any = get_runtime()
    except RuntimeError:  # called outside of any run
        return chosen
    context = getattr(runtime, "context", None)  # there is no runtime outside of a graph's run
    if isinstance(context, Settings):
        return chosen.changed(**context.differing(Settings()))
    return settings_of(context, chosen)


def _recorded(
    state: dict[str, Any], settings: Settings, resources: Resources
) -> tuple[str, dict[str, Any]]:
    record = answer_record(state, settings, text_hosts(settings, resources.connection))
    return with_sources(record["answer"], record["citations"], record["warning"]), record


def _tools(asking: Asking) -> Tools:
    """Return what an index is written with."""
    by_model = asking.settings.index.triplets == "model"
    chat = asking.resources.chat(asking.settings) if by_model else None
    return asking.resources.tools(asking.settings, chat)


_OBJECTS = ("model", "models", "embeddings")


class Index:
    """An index on disk, made once for any number of questions.

    Args:
        folder: The folder of the index.
        settings: What it is asked with, unless a call says otherwise; see ``ask``. An index made
            with LangChain ``embeddings`` needs the same here.

    Raises:
        CorpusError: There is no index in this folder.
    """

    def __init__(self, folder: str | Path, **settings: Any) -> None:
        self._settings = settings
        self.folder = Path(folder).expanduser()
        if not is_index(self.folder):
            raise CorpusError(
                f"{self.folder} is not an index.", "Make one with `Index.build(documents, folder)`."
            )

    @classmethod
    def build(cls, documents: str | Path, folder: str | Path, **settings: Any) -> Self:
        """Make the index of a folder of documents, or of one file.

        Raises:
            LexloopError: There is something at ``folder``, or the documents cannot be used.
        """
        path = Path(folder).expanduser()
        if path.exists():
            raise CorpusError(f"{path} already exists.", "Name another folder, or update it.")
        asking = asking_with(documents, settings)
        source = IndexSource(str(Path(documents).expanduser().absolute()))
        write_index(path, [source], _tools(asking))
        return cls(path, **{name: settings[name] for name in _OBJECTS if name in settings})

    def update(self) -> IndexUpdate:
        """Bring the index up to date with its documents; only what changed is read again.

        Raises:
            LexloopError: The documents or the index cannot be used.
        """
        manifest = Manifest.read(self.folder)
        asking = self._asking({})._replace(settings=Settings(**manifest.settings))
        sources: Sequence[IndexSource] = manifest.sources
        return write_index(self.folder, sources, _tools(asking), excluded=None)

    def ask(self, question: str, **settings: Any) -> OutputState:
        """Answer a question from the index; see ``ask``."""
        return ask(question, self.folder, **{**self._settings, **settings})

    def search(self, question: str, **settings: Any) -> list[Passage]:
        """Return the passages that an answer would be written from, best first.

        Raises:
            LexloopError: The question, a setting or the index cannot be used.
        """
        return passages_for(question, self._asking(settings))

    def show(self, document: str) -> str:
        """Return the text of a document, given its name or the end of its name.

        Raises:
            InputError: The index has no such document, or several.
        """
        _, resources, chosen = self._asking({})
        view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
        return Source.of(view, document).text

    def verify(self) -> dict[str, int]:
        """Check every file's hash and that all parts agree. Return the counts of checked parts.

        Raises:
            DataError: Something does not agree.
        """
        manifest = Manifest.read(self.folder)
        asking = self._asking({"index.embedder": str(manifest.settings["index.embedder"])})
        return verify_index(self.folder, asking.resources.embedder(asking.settings))

    def _asking(self, settings: Mapping[str, Any]) -> Asking:
        return asking_with(self.folder, {**self._settings, **settings})


__all__ = [
    "Index",
    "aask",
    "as_tool",
    "ask",
    "build_agent",
]
