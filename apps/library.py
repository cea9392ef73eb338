"""Lexloop as a library: the names that ``import lexloop`` offers."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any, Self, cast, get_type_hints

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import Checkpointer
from pydantic import BaseModel, RootModel

from lexloop.apps.describing import described
from lexloop.apps.shapes.record import answer_record, text_hosts
from lexloop.apps.shapes.text import shortened
from lexloop.apps.tables import absolute, local_table
from lexloop.core.configuration import configured
from lexloop.core.errors import CorpusError, LexloopError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.state import OutputState, State
from lexloop.core.types import Passage
from lexloop.documents.reading.workers import Progress as Told
from lexloop.documents.reading.workers import silent
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import graph, resources
from lexloop.graph.build import LAST_OF_RETRIEVAL
from lexloop.graph.combine import with_sources
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources
from lexloop.models.embedders import load_embedder
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import verify_index
from lexloop.store.writer import IndexUpdate, write_index
from lexloop.workbench.diff import Comparison, Version
from lexloop.workbench.profile import Profile
from lexloop.workbench.provisions import Source
from lexloop.workbench.register import Register, Wanted
from lexloop.workbench.register import register as register_of
from lexloop.workbench.search import Asked, Found
from lexloop.workbench.search import search as find
from lexloop.workbench.table.cell import TableAsker
from lexloop.workbench.table.checklist import Checklist, shipped
from lexloop.workbench.table.run import fill
from lexloop.workbench.table.store import Progress, ShownRow, TableStore
from lexloop.workbench.touched import Report, cited_in, read_cited

_TOOL_CHARS = 20_000
"""The most characters that an agent is told of a record; its artifact has all."""
_STATE = list(get_type_hints(State))
"""The keys that a record is made of: more than the graph gives to whoever asks."""


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
    chosen = _chosen(corpus, settings)
    return cast("OutputState", graph.invoke({"question": question}, context=chosen))


async def aask(question: str, corpus: str | Path | None = None, **settings: Any) -> OutputState:
    """Answer a question from documents without blocking the event loop; see ``ask``."""
    chosen = _chosen(corpus, settings)
    return cast("OutputState", await graph.ainvoke({"question": question}, context=chosen))


def as_tool(
    name: str, description: str, corpus: str | Path | None = None, **settings: Any
) -> BaseTool:
    """Make a tool for agents that answers from documents.

    Args:
        name: What the agent calls it.
        description: What its documents are about, for the agent to choose by.
        corpus: See ``ask``.
        settings: See ``ask``.

    Returns:
        A tool of one argument, ``question``. Its content is the answer with its sources, its
        artifact the answer's whole record, as ``lexloop ask --json`` prints it. What is wrong with
        a question, the documents or a model is told in a message whose status is ``error``, for
        the agent to go on with.

    Raises:
        LexloopError: A setting cannot be used.
    """
    chosen = _chosen(corpus, settings)

    def answer(question: str) -> tuple[str, dict[str, Any]]:
        with _told_to_an_agent():
            found = graph.invoke({"question": question}, context=chosen, output_keys=_STATE)
            return _recorded(found, chosen)

    async def aanswer(question: str) -> tuple[str, dict[str, Any]]:
        with _told_to_an_agent():
            found = await graph.ainvoke({"question": question}, context=chosen, output_keys=_STATE)
            return _recorded(found, chosen)

    return StructuredTool.from_function(
        answer,
        aanswer,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def diff(
    old: str | Path,
    new: str | Path,
    corpus: str | Path | None = None,
    answers: Iterable[str | Path | Mapping[str, Any]] = (),
    **settings: Any,
) -> Report:
    """Compare two versions of a document, provision by provision.

    Args:
        old: The earlier version: a file, or with ``corpus`` the name of a document in it.
        new: The later one.
        corpus: See ``ask``; None where files are named.
        answers: Files of answers as ``lexloop ask --json`` prints them, or such records: the quotes
            of theirs that lie in what changed are told as well.
        settings: See ``ask``.

    Raises:
        LexloopError: A file, a document or a setting cannot be used.
    """
    comparison = _compared(old, new, corpus, settings)
    cited = [
        one
        for given in answers
        for one in (cited_in(given) if isinstance(given, Mapping) else read_cited(Path(given)))
    ]
    return Report.of(comparison, cited)


def _compared(
    old: str | Path, new: str | Path, corpus: str | Path | None, settings: dict[str, Any]
) -> Comparison:
    if corpus is None:
        return Comparison(Version.read(old), Version.read(new))
    # a version that was replaced is in force on no day that others are
    chosen = _chosen(corpus, settings).changed(**{"access.as_of": "any"})
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    return Comparison(Version.of(view, str(old)), Version.of(view, str(new)))


def as_tools(corpus: str | Path, **settings: Any) -> list[BaseTool]:
    """Make tools for agents of the work with documents beside questions.

    Args:
        corpus: See ``ask``.
        settings: See ``ask``.

    Returns:
        ``search``, ``diff``, ``register``, ``describe`` and ``table``, with the arguments that the
        functions of these names take of an agent. A tool's artifact is the function's whole record,
        its content the beginning of that as JSON; what cannot be done is told as by ``as_tool``.

    Raises:
        LexloopError: A setting cannot be used.
    """
    _chosen(corpus, settings)

    def find_words(words: str) -> Found:
        """Find exact words, "a phrase", or a provision in all documents, each in its context."""
        return search(words, corpus, **settings)

    def compare(old: str, new: str) -> Report:
        """Tell what changed from one version of a document to another; both by their names."""
        return diff(old, new, corpus, **settings)

    def list_duties(document: str | None = None, actor: str = "") -> Register:
        """List who must, may or must not do what, by when, unless what, with quotes."""
        return register(corpus, document=document, actor=actor, **settings)

    def profile(document: str) -> Profile:
        """Tell what a document is: kind, parties, dates, law, outline, terms, good questions."""
        return describe(document, corpus, **settings)

    def ask_each(questions: list[str]) -> _Rows:
        """Ask every document the same questions; a row for each, with quotes."""
        return _Rows(table(corpus, questions, **settings))

    return [
        _work_tool(name, function)
        for name, function in (
            *(("search", find_words), ("diff", compare), ("register", list_duties)),
            *(("describe", profile), ("table", ask_each)),
        )
    ]


class _Rows(RootModel[list[ShownRow]]):
    """The rows of a table, as one record."""


def _work_tool(name: str, function: Callable[..., BaseModel]) -> BaseTool:
    @wraps(function)
    def call(*args: Any, **named: Any) -> tuple[str, Any]:
        with _told_to_an_agent():
            found = function(*args, **named)
        return shortened(found.model_dump_json(), _TOOL_CHARS), found.model_dump(mode="json")

    return StructuredTool.from_function(
        call,
        name=name,
        description=function.__doc__,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def build_agent(
    collections: Mapping[str, str | Path],
    model: str | None = None,
    checkpointer: Checkpointer = None,
    **settings: Any,
) -> Lexloop:
    """Build an agent that chooses among collections, and asks the chosen ones.

    Args:
        collections: The documents of each by its name: a folder, a file, an index, or ``sample``.
        model: The chat model that chooses and answers, as ``provider:name``; None for the one that
            is configured, and where there is none a router chooses and the answers are extracted.
        checkpointer: Keeps threads; a server or a parent graph supplies its own instead.
        settings: See ``ask``.

    Returns:
        A LangGraph graph whose input is ``question`` or ``messages``. Its output is that of ``ask``
        with ``collections``, the names of those that were asked; citations, passages and relations
        name their ``collection``, and the sources of all are numbered as one list.

    Raises:
        LexloopError: A setting cannot be used, or there is no collection.
    """
    if model is not None:
        settings = {**settings, "model": model}
    chosen = {name: _chosen(corpus, settings) for name, corpus in collections.items()}
    return build_agent_graph(chosen, resources, checkpointer)


def table(
    corpus: str | Path,
    questions: Sequence[str] = (),
    checklist: str | Path | None = None,
    **settings: Any,
) -> list[ShownRow]:
    """Ask questions of each document; what was asked before is not asked again.

    Args:
        corpus: See ``ask``.
        questions: In words.
        checklist: The name of one that comes with Lexloop, such as ``nda``, or a file.
        settings: See ``ask``.

    Returns:
        A row for each document, in order: its cells by the ids of their questions.

    Raises:
        LexloopError: A question, a setting, the documents or a model cannot be used.
    """
    from lexloop.workbench.table.checklist import checklist_of, read_checklist, shipped_checklist

    lists = []
    if checklist is not None:
        known = isinstance(checklist, str) and checklist in shipped()
        lists = [shipped_checklist(str(checklist)) if known else read_checklist(Path(checklist))]
    asked, chosen = checklist_of(questions, *lists), _chosen(corpus, settings)
    with closing(TableStore(local_table(chosen))) as store:
        filled(store, chosen, asked, resources.connection)
        return [*store.rows()]


def filled(
    store: TableStore,
    settings: Settings,
    asked: Checklist,
    connection: Connection,
    *,
    report: Told = silent,
    stop: Event | None = None,
) -> Progress:
    """Fill a table of this machine, made where there is none, and return how far it is.

    Args:
        store: The table.
        settings: Those that questions are answered with.
        asked: The questions.
        connection: Where models are reached.
        report: Told of a stage, how much of it is done, and of how much.
        stop: Once set, nothing more is asked.

    Raises:
        LexloopError: The documents, a model or the file cannot be used.
    """
    with closing(Resources(connection, settings, report)) as opened:
        asker = TableAsker(opened, settings)
        if not store.file.exists():
            store.make(asked.title, absolute(settings.corpus), asked)
        return fill(
            store,
            asker,
            checklist=asked,
            count=lambda done, total: report("asking", done, total),
            stop=stop,
        )


def evaluate(
    gold: str | Path,
    corpus: str | Path | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Ask gold questions, and measure the answers.

    Args:
        gold: A file of questions as ``lexloop eval`` reads them, one JSON object a line.
        corpus: See ``ask``.
        out: The run's folder, with its records, tables and page; one that was interrupted is gone
            on with. None for one named after the gold file and the settings.
        settings: See ``ask``.

    Returns:
        The summary: every metric with its mean and interval, and under ``failures`` how many
        questions were not answered.

    Raises:
        LexloopError: The questions, a setting, the documents, a model or the folder cannot be used.
    """
    from lexloop.evaluation.run.prepare import RunRequest, prepare
    from lexloop.evaluation.run.runner import run, workers_for
    from lexloop.evaluation.run.variants import of_setting

    base = _chosen(corpus, settings)
    variants = of_setting([base.variant])
    wanted = RunRequest(Path(gold), base, variants, out=Path(out) if out else None)
    return run(prepare(wanted, resources.connection), workers_for(base))


def register(
    corpus: str | Path | None = None,
    *,
    document: str | None = None,
    kinds: Sequence[str] = (),
    actor: str = "",
    since: Mapping[str, date] | None = None,
    **settings: Any,
) -> Register:
    """List who must, may or must not do what, by when, unless what, and where documents say so.

    Args:
        corpus: See ``ask``.
        document: One of them, by its name or the end of it; None for all.
        kinds: Any of duty, right, prohibition, deadline, sum and penalty; none for all.
        actor: Words that who acts is named with.
        since: The day of events that periods count from, by their names in the documents.
        settings: See ``ask``.

    Raises:
        LexloopError: A setting or the documents cannot be used, or there is no such document.
    """
    chosen = _chosen(corpus, settings)
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    events = [f"{name}={day.isoformat()}" for name, day in (since or {}).items()]
    names = [] if document is None else [document]
    return register_of(view, names, Wanted.of(kinds, actor, events))


def describe(document: str, corpus: str | Path | None = None, **settings: Any) -> Profile:
    """Return what a document says that it is, and questions that it was found to answer.

    Args:
        document: Its name, or the end of it.
        corpus: See ``ask``.
        settings: See ``ask``.

    Raises:
        LexloopError: A setting or the documents cannot be used, or there is no such document.
    """
    chosen = _chosen(corpus, settings)
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    return described(graph, chosen, view, document)


def search(
    words: str,
    corpus: str | Path | None = None,
    *,
    documents: Sequence[str] = (),
    any_form: bool = False,
    first: int = 0,
    limit: int = 20,
    passages: int = 3,
    **settings: Any,
) -> Found:
    """Find exact words, phrases and provisions, each place in its context.

    Args:
        words: All of them must be there: words, ``"a phrase"``, ``section 4.2``, and ``-word`` for
            what must not be there.
        corpus: See ``ask``.
        documents: The only ones that are searched, by name; none for all.
        any_form: Whether a word is found in its other forms, too.
        first: How many documents are left out before those that are given.
        limit: The most documents.
        passages: The most passages of each.
        settings: See ``ask``; those of ``access`` say whose documents, and of which day.

    Raises:
        LexloopError: Nothing is sought, or a setting or the documents cannot be used.
    """
    asked = Asked.of(words, any_form)
    chosen = _chosen(corpus, settings)
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    return find({"": view}, asked, documents=documents, first=first, limit=limit, passages=passages)


def _chosen(corpus: str | Path | None, settings: dict[str, Any]) -> Settings:
    return configured({} if corpus is None else {"corpus": str(corpus)}, settings)


@contextmanager
def _told_to_an_agent() -> Iterator[None]:
    """Raise what an agent is told, instead of what would end its run."""
    try:
        yield
    except LexloopError as error:
        raise ToolException(str(error)) from error


def _recorded(state: dict[str, Any], settings: Settings) -> tuple[str, dict[str, Any]]:
    record = answer_record(state, settings, text_hosts(settings, resources.connection))
    return with_sources(record["answer"], record["citations"], record["warning"]), record


class Index:
    """An index on disk, made once for any number of questions.

    Args:
        folder: Where it lies.

    Raises:
        CorpusError: There is none.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        if not is_index(self.folder):
            raise CorpusError(
                f"{self.folder} is no index.", "Make one with `Index.build(documents, folder)`."
            )

    @classmethod
    def build(cls, documents: str | Path, folder: str | Path, **settings: Any) -> Self:
        """Make the index of a folder of documents, or of one file.

        Raises:
            LexloopError: There is something at ``folder``, or the documents cannot be used.
        """
        made = Path(folder).expanduser()
        if made.exists():
            raise CorpusError(f"{made} already exists.", "Name another folder, or update it.")
        chosen = _chosen(documents, settings)
        chat = resources.chat(chosen) if chosen.index.triplets == "model" else None
        source = IndexSource(str(Path(documents).expanduser().absolute()))
        write_index(made, [source], resources.tools(chosen, chat))
        return cls(made)

    def update(self) -> IndexUpdate:
        """Bring the index up to date with its documents; only what changed is read again.

        Raises:
            LexloopError: The documents or the index cannot be used.
        """
        held = Manifest.read(self.folder)
        chosen = Settings(**held.settings)
        chat = resources.chat(chosen) if chosen.index.triplets == "model" else None
        sources: Sequence[IndexSource] = held.sources
        return write_index(self.folder, sources, resources.tools(chosen, chat), excluded=None)

    def ask(self, question: str, **settings: Any) -> OutputState:
        """Answer a question from the index; see ``ask``."""
        return ask(question, self.folder, **settings)

    def search(self, question: str, **settings: Any) -> list[Passage]:
        """Return the passages that an answer would be written from, best first.

        Raises:
            LexloopError: The question, a setting or the index cannot be used.
        """
        chosen = _chosen(self.folder, settings)
        asked = graph.stream({"question": question}, context=chosen, stream_mode="updates")
        steps = cast("Generator[dict[str, Any]]", asked)
        with closing(steps):
            for step in steps:
                if found := step.get(LAST_OF_RETRIEVAL):
                    return cast("list[Passage]", found["passages"])
        return []

    def show(self, document: str) -> str:
        """Return the text of a document, which is named or the end of its name given.

        Raises:
            InputError: The index has no such document, or several.
        """
        chosen = _chosen(self.folder, {})
        view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
        return Source.of(view, document).text

    def verify(self) -> dict[str, int]:
        """Check every file's hash and that all parts agree; return the numbers of what was checked.

        Raises:
            DataError: Something does not agree.
        """
        held = Manifest.read(self.folder)
        made_by = str(held.settings["index.embedder"])
        return verify_index(self.folder, load_embedder(made_by, resources.connection))


__all__ = [
    "Index",
    "aask",
    "as_tool",
    "as_tools",
    "ask",
    "build_agent",
    "describe",
    "diff",
    "evaluate",
    "register",
    "search",
    "table",
]
