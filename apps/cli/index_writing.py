"""Writing of an index as a command says: here or over a cluster, into a folder or an engine."""

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.index_report import note_cost, show_estimate, show_outcome
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import Progress, bar
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import FILES_SKIPPED
from lexloop.apps.hosts import text_hosts
from lexloop.core.errors import CorpusError, need_extra
from lexloop.core.settings import Settings
from lexloop.store.engine.address import USUAL, Storage

if TYPE_CHECKING:
    from lexloop.graph.extractors import Budget
    from lexloop.store.cluster.ingesting import ClusterPreparer
    from lexloop.store.manifest import IndexSource, Manifest
    from lexloop.store.preparing import Tools
    from lexloop.store.writer import CostEstimate, IndexUpdate

_cost = partial(option, panel="Cost")
_usd = partial(_cost, metavar="USD", min=0)
OPTIONS: dict[str, Any] = {
    "dry_run": Annotated[
        bool | None,
        _cost(
            "Say what would be read, embedded and asked, and what it would cost; do nothing.",
            flag="--dry-run",
        ),
    ],
    "price_in": Annotated[float | None, _usd("What a million tokens of prompts cost.")],
    "price_out": Annotated[float | None, _usd("What a million tokens of replies cost.")],
    "price_embedding": Annotated[float | None, _usd("What a million embedded tokens cost.")],
    "max_cost": Annotated[
        float | None,
        _usd("Stop before the model has cost more; what it extracted is cached for the next run."),
    ],
    "cluster": Annotated[
        str | None,
        option(
            "A Ray cluster that prepares the documents: auto, HOST:PORT or ray://HOST:PORT. DIR "
            "may be a glob or an address such as s3://bucket/laws then.",
            "ADDRESS",
            panel="Cluster",
        ),
    ],
}
"""Those of every command that writes an index."""


def write(
    index: Path,
    sources: "Sequence[IndexSource]",
    given: Mapping[str, Any],
    held: "Manifest | None" = None,
    *,
    excluded: Sequence[str] | None = (),
    fresh: bool = False,
    engine: str = "",
    storage: Storage = USUAL,
) -> None:
    """Write an index as a command's parameters say, or tell what that would cost.

    Parameters count more than the settings of what is ``held``; ``excluded`` None leaves out what
    the index names; ``fresh`` keeps nothing of an index already there. What is written is pushed
    to an ``engine`` where one is named, whose ``storage`` it has.
    """
    from lexloop.graph.extractors import Budget, expected_cost

    began, dry_run = time.perf_counter(), given["dry_run"]
    settings = options.chosen_settings(given, held.settings if held else {})
    budget = Budget(given["price_in"], given["price_out"], given["max_cost"])
    with Progress() as progress:
        progress.say("Loading")
        tools = _tools(settings, given, budget)
    with _joined(index, given, tools, budget) as cluster, bar() as report:
        how = {"fresh": fresh, "progress": report, "cluster": cluster}
        survey, work = _ways(
            index, sources, tools, how, excluded=excluded, engine=engine, storage=storage
        )
        if dry_run or (cluster is not None and _is_paid(settings)):
            found = survey()
            cost = expected_cost(found, settings, budget, given["price_embedding"])
            if not dry_run:
                note_cost(found, cost)
        if not dry_run:
            outcome = work()
    if dry_run:
        show_estimate(found, cost, given["as_json"])
        return
    seconds = time.perf_counter() - began
    show_outcome(engine or index, outcome, seconds, given["as_json"], sources)
    if not all(item.indexed for item in outcome.skipped):
        raise typer.Exit(FILES_SKIPPED)


def _ways(
    index: Path,
    sources: "Sequence[IndexSource]",
    tools: "Tools",
    how: dict[str, Any],
    *,
    excluded: Sequence[str] | None,
    engine: str,
    storage: Storage,
) -> "tuple[Callable[[], CostEstimate], Callable[[], IndexUpdate]]":
    """Return what tells what would be done, and what does it."""
    cluster: ClusterPreparer | None = how["cluster"]
    if engine and cluster is not None:
        from lexloop.store.cluster.ingesting import Destination, expected, ingest

        to = Destination(engine, _staging(index), storage)
        survey = partial(expected, engine, sources, tools, **how)
        return survey, partial(ingest, to, sources, tools, **how)
    from lexloop.store.writer import estimate, write_index

    how = {**how, "excluded": excluded}

    def work() -> "IndexUpdate":
        outcome = write_index(index, sources, tools, **how)
        if cluster is not None:
            cluster.forget()
        if engine:
            from lexloop.store.engine.moving import push_index

            push_index(index, engine, tools.embedder, how["progress"], storage)
        return outcome

    return partial(estimate, index, sources, tools, **how), work


@contextmanager
def _joined(
    index: Path, given: Mapping[str, Any], tools: "Tools", budget: "Budget"
) -> "Iterator[ClusterPreparer | None]":
    """Be in the cluster that is named, if one is."""
    if given["cluster"] is None:
        yield None
        return
    need_extra("ray", "ray", "fsspec")
    from lexloop.graph.clustered import on_cluster

    url = options.chosen_connection(given).base_url
    joining = on_cluster(given["cluster"], tools, _staging(index), budget, url)
    # Ray prints to standard output that a worker died
    with redirect_stdout(sys.stderr), joining as cluster:
        yield cluster


def _staging(index: Path) -> Path:
    from lexloop.store.folder.generations import STAGING

    return index / STAGING


def _is_paid(settings: Settings) -> bool:
    return settings.index.triplets == "model" or settings.index.embedder.startswith("openai:")


def _tools(settings: Settings, given: Mapping[str, Any], budget: "Budget") -> "Tools":
    """Return the tools that make chunks, vectors and triplets; say first where text will go."""
    from lexloop.graph.resources import Resources

    connection = options.chosen_connection(given)
    resources = Resources(connection)
    chat = resources.chat(settings) if settings.index.triplets == "model" else None
    if not given["dry_run"]:
        sending = settings if chat is not None else settings.changed(model=None)
        say_where_text_goes(text_hosts(sending, connection))
    return resources.tools(settings, chat, budget)


def kept_for(engine: str, force: bool, clustered: bool) -> Path:
    """Return the folder that is kept here for an index in an engine.

    Without a cluster the index itself is kept there and pushed.

    Raises:
        CorpusError: The engine has an index of that name, and it is not from here.
        EngineError: The engine does not answer.
    """
    from lexloop.core.files import cache_folder, is_index
    from lexloop.store.engine.store import manifest_of

    kept = cache_folder().parent / "engines" / hashlib.sha256(engine.encode()).hexdigest()[:32]
    if force or clustered or is_index(kept):
        return kept
    try:
        manifest_of(engine)
    except CorpusError:  # there is none yet
        return kept
    raise CorpusError(f"The index {engine} already exists.", "Pass --force to make it anew.")
