"""The functions of the workbench that ``import lexloop`` offers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import date
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, RootModel

from lexloop.apps.library import chosen_settings, told_to_an_agent
from lexloop.apps.shapes.text import shortened
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.documents.reading.workers import Progress as Told
from lexloop.documents.reading.workers import silent
from lexloop.graph.app import graph, resources
from lexloop.graph.resources import Resources
from lexloop.store.address import absolute
from lexloop_workbench.describing import described
from lexloop_workbench.diff import Comparison, Version
from lexloop_workbench.profile import Profile
from lexloop_workbench.register import Register, Wanted
from lexloop_workbench.register import register as register_of
from lexloop_workbench.search import Asked, Found
from lexloop_workbench.search import search as find
from lexloop_workbench.table.cell import TableAsker
from lexloop_workbench.table.checklist import (
    Checklist,
    checklist_of,
    read_checklist,
    shipped,
    shipped_checklist,
)
from lexloop_workbench.table.run import fill
from lexloop_workbench.table.store import Progress, ShownRow, TableStore
from lexloop_workbench.tables import local_table
from lexloop_workbench.touched import Report, cited_in, read_cited

_TOOL_CHARS = 20_000
"""The maximum characters of a record in an agent's message. The artifact has all of it."""


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
        corpus: See ``ask``; None if files are named.
        answers: Files of answers as ``lexloop ask --json`` prints them, or such records. Their
            quotes from changed provisions are reported as well.
        settings: See ``ask``.

    Raises:
        LexloopError: A file, a document or a setting cannot be used.
    """
    comparison = _compared(old, new, corpus, settings)
    cited = [
        quote
        for answer in answers
        for quote in (cited_in(answer) if isinstance(answer, Mapping) else read_cited(Path(answer)))
    ]
    return Report.of(comparison, cited)


def _compared(
    old: str | Path, new: str | Path, corpus: str | Path | None, settings: dict[str, Any]
) -> Comparison:
    if corpus is None:
        return Comparison(Version.read(old), Version.read(new))
    # a version that was replaced is in force on no day that others are
    chosen = chosen_settings(corpus, settings).changed(**{"access.as_of": "any"})
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    return Comparison(Version.of(view, str(old)), Version.of(view, str(new)))


def table(
    corpus: str | Path,
    questions: Sequence[str] = (),
    checklist: str | Path | None = None,
    **settings: Any,
) -> list[ShownRow]:
    """Ask questions of each document. Stored answers are not asked for again.

    Args:
        corpus: See ``ask``.
        questions: In words.
        checklist: The name of a checklist that comes with Lexloop, such as ``nda``, or a file.
        settings: See ``ask``.

    Returns:
        A row for each document, in order: its cells by the ids of their questions.

    Raises:
        LexloopError: A question, a setting, the documents or a model cannot be used.
    """
    lists = []
    if checklist is not None:
        is_shipped = isinstance(checklist, str) and checklist in shipped()
        lists = [
            shipped_checklist(str(checklist)) if is_shipped else read_checklist(Path(checklist))
        ]
    asked_list, chosen = checklist_of(questions, *lists), chosen_settings(corpus, settings)
    with closing(TableStore(local_table(chosen))) as store:
        filled(store, chosen, asked_list, resources.connection)
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
    """Fill a table of this machine, creating it if needed, and return its progress.

    Args:
        store: The table.
        settings: The settings for answering its questions.
        asked: The questions.
        connection: The address and key of models.
        report: Called with a stage, how much of it is done, and the total.
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


def register(
    corpus: str | Path | None = None,
    *,
    document: str | None = None,
    kinds: Sequence[str] = (),
    actor: str = "",
    since: Mapping[str, date] | None = None,
    **settings: Any,
) -> Register:
    """List who must, may or must not do what, by when, with exceptions and sources.

    Args:
        corpus: See ``ask``.
        document: One document, by its name or the end of it, or None for all.
        kinds: Any of duty, right, prohibition, deadline, sum and penalty; empty for all.
        actor: Words from the actor's name.
        since: The days of events that start periods, by their names in the documents.
        settings: See ``ask``.

    Raises:
        LexloopError: A setting or the documents cannot be used, or there is no such document.
    """
    chosen = chosen_settings(corpus, settings)
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    events = [f"{name}={day.isoformat()}" for name, day in (since or {}).items()]
    names = [] if document is None else [document]
    return register_of(view, names, Wanted.of(kinds, actor, events))


def describe(document: str, corpus: str | Path | None = None, **settings: Any) -> Profile:
    """Return a document's profile, with questions that it answers.

    Args:
        document: The document's name, or the end of it.
        corpus: See ``ask``.
        settings: See ``ask``.

    Raises:
        LexloopError: A setting or the documents cannot be used, or there is no such document.
    """
    chosen = chosen_settings(corpus, settings)
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
        words: What a document must contain: words, ``"a phrase"``, ``section 4.2``, and ``-word``
            for what it must not contain.
        corpus: See ``ask``.
        documents: Search only these, by name; empty for all.
        any_form: Whether to find other forms of a word as well.
        first: The number of documents to skip.
        limit: The maximum number of documents.
        passages: The maximum number of passages of each.
        settings: See ``ask``. The group ``access`` selects documents and their day.

    Raises:
        LexloopError: The query is empty, or a setting or the documents cannot be used.
    """
    query = Asked.of(words, any_form)
    chosen = chosen_settings(corpus, settings)
    view = resources.collection(chosen)[0].seen_by(Filters.of(chosen))
    return find({"": view}, query, documents=documents, first=first, limit=limit, passages=passages)


def as_tools(corpus: str | Path, **settings: Any) -> list[BaseTool]:
    """Make tools for agents that work with documents in other ways than by questions.

    Args:
        corpus: See ``ask``.
        settings: See ``ask``.

    Returns:
        ``search``, ``diff``, ``register``, ``describe`` and ``table``, with those arguments of the
        functions of these names that an agent may give. A tool's artifact is the function's whole
        record, and its content the beginning of that as JSON. Errors are returned as by
        ``as_tool``.

    Raises:
        LexloopError: A setting cannot be used.
    """
    chosen_settings(corpus, settings)

    def find_words(words: str) -> Found:
        """Find exact words, "a phrase", or a provision in all documents, each in its context."""
        return search(words, corpus, **settings)

    def compare(old: str, new: str) -> Report:
        """Compare two versions of a document, both given by name."""
        return diff(old, new, corpus, **settings)

    def list_duties(document: str | None = None, actor: str = "") -> Register:
        """List who must, may or must not do what, by when, unless what, with quotes."""
        return register(corpus, document=document, actor=actor, **settings)

    def profile(document: str) -> Profile:
        """Describe a document: kind, parties, dates, law, outline, terms, good questions."""
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
        with told_to_an_agent():
            record = function(*args, **named)
        return shortened(record.model_dump_json(), _TOOL_CHARS), record.model_dump(mode="json")

    return StructuredTool.from_function(
        call,
        name=name,
        description=function.__doc__,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


__all__ = ["as_tools", "describe", "diff", "register", "search", "table"]
