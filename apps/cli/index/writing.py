"""What the commands that write an index share: their tools, the writing, and its report."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import FILES_SKIPPED
from lexloop.apps.cli.index.bar import bar
from lexloop.apps.cli.index.held import embedder_of
from lexloop.apps.cli.index.kinds import other_kinds
from lexloop.apps.cli.index.report import show_estimate, show_outcome
from lexloop.apps.cli.progress import Progress

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings
    from lexloop.corpus.index.draft import Tools
    from lexloop.corpus.index.manifest import Manifest, Source
    from lexloop.graph.extractors import Budget

Given = Mapping[str, Any]


def write(
    index: Path,
    sources: "Sequence[Source]",
    given: Given,
    *,
    stored: Mapping[str, Any] | None = None,
    excluded: Sequence[str] | None = (),
    fresh: bool = False,
) -> None:
    """Write an index as a command's parameters say, or tell what that would cost.

    Args:
        index: The folder.
        sources: Where its documents come from.
        given: The command's parameters by name.
        stored: The settings of an index already there; parameters count more.
        excluded: Documents and files that stay out; None for those that the index names.
        fresh: Whether nothing of an index already there is kept.

    Raises:
        LexloopError: A setting, a source, a model or the index cannot be used.
        typer.Exit: With 3 when files were skipped.
    """
    from lexloop.corpus.index.writer import write_index

    began = time.perf_counter()
    settings = options.chosen_settings(given, stored or {})
    connection = options.chosen_connection(given["base_url"])
    budget = _budget(given)
    with Progress() as progress:
        progress.say("Loading")
        tools = _tools(settings, connection, budget, ask_model=not given["dry_run"])
    if given["dry_run"]:
        from lexloop.corpus.index.writer import estimate
        from lexloop.graph.extractors import expected_cost

        with bar() as report:
            found = estimate(index, sources, tools, progress=report, excluded=excluded, fresh=fresh)
        cost = expected_cost(found, settings, budget, given["price_embedding"])
        show_estimate(found, cost, given["as_json"])
        return
    with bar() as report:
        outcome = write_index(
            index, sources, tools, progress=report, excluded=excluded, fresh=fresh
        )
    seconds = time.perf_counter() - began
    show_outcome(index, outcome, seconds, given["as_json"], other_kinds(sources))
    if not all(item.indexed for item in outcome.skipped):
        raise typer.Exit(FILES_SKIPPED)


def take_out(index: Path, held: "Manifest", names: Sequence[str], as_json: bool) -> None:
    """Write an index without some of its documents or source files; no source is looked at.

    Raises:
        LexloopError: Nothing would be left, or the index cannot be written.
    """
    from lexloop.core.settings import Settings
    from lexloop.core.settings_names import from_record
    from lexloop.corpus.index.writer import remove_documents
    from lexloop.corpus.opening import tools_for

    began = time.perf_counter()
    without = {"model.name": None, "index.triplets": "embedded"}
    settings = Settings(**{**from_record(held.settings), **without})
    tools = tools_for(settings, embedder_of(held))
    with bar() as report:
        outcome = remove_documents(index, names, tools, progress=report)
    show_outcome(index, outcome, time.perf_counter() - began, as_json)


def _budget(given: Given) -> "Budget":
    from lexloop.graph.extractors import Budget

    return Budget(given["price_in"], given["price_out"], given["max_cost"])


def _tools(
    settings: "Settings", connection: "Connection", budget: "Budget", ask_model: bool
) -> "Tools":
    """What makes chunks, vectors and triplets; says first where text will go."""
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.graph.resources import Resources

    resources = Resources(connection)
    chat = resources.chat(settings) if settings.index.triplets == "model" else None
    if ask_model:
        sending = settings if chat is not None else settings.changed(model=None)
        say_where_text_goes(text_hosts(sending, connection))
    return resources.tools(settings, chat, budget)
