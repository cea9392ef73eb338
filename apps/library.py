"""Lexloop as a library: the names that ``import lexloop`` offers."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self, cast, get_type_hints

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
from lexloop.graph.build import LAST_OF_RETRIEVAL
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import settings_of
from lexloop.models.embedders import load_embedder
from lexloop.nodes.messages import with_sources
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import verify_index
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
            ``fusion="linear"``; they count more than files and environment.

    Returns:
        The answer with its citations, verdict and passages; see ``OutputState``.

    Raises:
        LexloopError: The question, a setting, the documents or a model cannot be used.
    """
    chosen = chosen_settings(corpus, settings)
    return cast("OutputState", graph.invoke({"question": question}, context=chosen))


async def aask(question: str, corpus: str | Path | None = None, **settings: Any) -> OutputState:
    """Answer a question from documents without blocking the event loop; see ``ask``."""
    chosen = chosen_settings(corpus, settings)
    return cast("OutputState", await graph.ainvoke({"question": question}, context=chosen))


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
    chosen = chosen_settings(corpus, settings)

    def answer(question: str) -> tuple[str, dict[str, Any]]:
        with told_to_an_agent():
            its = _with_the_agents(chosen)
            state = graph.invoke({"question": question}, context=its, output_keys=_STATE)
            return _recorded(state, its)

    async def aanswer(question: str) -> tuple[str, dict[str, Any]]:
        with told_to_an_agent():
            its = _with_the_agents(chosen)
            state = await graph.ainvoke({"question": question}, context=its, output_keys=_STATE)
            return _recorded(state, its)

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


def passages_for(question: str, settings: Settings) -> list[Passage]:
    """Return the passages that an answer would be written from, best first.

    Raises:
        LexloopError: The question, a setting or the documents cannot be used.
    """
    steps = graph.stream({"question": question}, context=settings, stream_mode="updates")
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


def _recorded(state: dict[str, Any], settings: Settings) -> tuple[str, dict[str, Any]]:
    record = answer_record(state, settings, text_hosts(settings, resources.connection))
    return with_sources(record["answer"], record["citations"], record["warning"]), record


class Index:
    """An index on disk, made once for any number of questions.

    Args:
        folder: The folder of the index.

    Raises:
        CorpusError: There is no index in this folder.
    """

    def __init__(self, folder: str | Path) -> None:
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
        chosen = chosen_settings(documents, settings)
        chat = resources.chat(chosen) if chosen.index.triplets == "model" else None
        source = IndexSource(str(Path(documents).expanduser().absolute()))
        write_index(path, [source], resources.tools(chosen, chat))
        return cls(path)

    def update(self) -> IndexUpdate:
        """Bring the index up to date with its documents; only what changed is read again.

        Raises:
            LexloopError: The documents or the index cannot be used.
        """
        manifest = Manifest.read(self.folder)
        chosen = Settings(**manifest.settings)
        chat = resources.chat(chosen) if chosen.index.triplets == "model" else None
        sources: Sequence[IndexSource] = manifest.sources
        return write_index(self.folder, sources, resources.tools(chosen, chat), excluded=None)

    def ask(self, question: str, **settings: Any) -> OutputState:
        """Answer a question from the index; see ``ask``."""
        return ask(question, self.folder, **settings)

    def search(self, question: str, **settings: Any) -> list[Passage]:
        """Return the passages that an answer would be written from, best first.

        Raises:
            LexloopError: The question, a setting or the index cannot be used.
        """
        return passages_for(question, chosen_settings(self.folder, settings))

    def show(self, document: str) -> str:
        """Return the text of a document, given its name or the end of its name.

        Raises:
            InputError: The index has no such document, or several.
        """
        chosen = chosen_settings(self.folder, {})
        view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
        return Source.of(view, document).text

    def verify(self) -> dict[str, int]:
        """Check every file's hash and that all parts agree. Return the counts of checked parts.

        Raises:
            DataError: Something does not agree.
        """
        manifest = Manifest.read(self.folder)
        made_by = str(manifest.settings["index.embedder"])
        return verify_index(self.folder, load_embedder(made_by, resources.connection))


__all__ = [
    "Index",
    "aask",
    "as_tool",
    "ask",
    "build_agent",
]
