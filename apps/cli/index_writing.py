"""Writing of an index as a command says: here or over a cluster, into a folder or an engine."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
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
from lexloop.core.errors import CorpusError
from lexloop.core.extras import need_extra
from lexloop.core.settings import Settings
from lexloop.core.settings_names import from_record

if TYPE_CHECKING:
    from lexloop.corpus.cluster.preparer import ClusterPreparer
    from lexloop.corpus.index.builder import Tools
    from lexloop.corpus.index.manifest import IndexSource, Manifest
    from lexloop.graph.extractors import Budget

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
) -> None:
    """Write an index as a command's parameters say, or tell what that would cost.

    Parameters count more than the settings of what is ``held``; ``excluded`` None leaves out what
    the index names; ``fresh`` keeps nothing of an index already there. What is written is pushed
    to an ``engine`` where one is named.
    """
    from lexloop.corpus.index.writer import estimate, write_index
    from lexloop.graph.extractors import Budget, expected_cost

    began = time.perf_counter()
    settings = options.chosen_settings(given, from_record(held.settings) if held else {})
    budget = Budget(given["price_in"], given["price_out"], given["max_cost"])
    with Progress() as progress:
        progress.say("Loading")
        tools = _tools(settings, given, budget)
    with _cluster(index, tools, given, budget) as cluster, bar() as report:
        write: dict[str, Any] = {
            "progress": report,
            "excluded": excluded,
            "fresh": fresh,
            "cluster": cluster,
        }
        costs = settings.index.triplets == "model" or settings.index.embedder.startswith("openai:")
        if given["dry_run"] or (cluster is not None and costs):
            found = estimate(index, sources, tools, **write)
            cost = expected_cost(found, settings, budget, given["price_embedding"])
            if given["dry_run"]:
                show_estimate(found, cost, given["as_json"])
                return
            note_cost(found, cost)
        outcome = write_index(index, sources, tools, **write)
        if cluster is not None:
            cluster.forget()
        if engine:
            from lexloop.corpus.engine.push import push_index

            push_index(index, engine, tools.embedder, report)
    seconds = time.perf_counter() - began
    show_outcome(engine or index, outcome, seconds, given["as_json"], sources)
    if not all(item.indexed for item in outcome.skipped):
        raise typer.Exit(FILES_SKIPPED)


def _cluster(
    index: Path, tools: "Tools", given: Mapping[str, Any], budget: "Budget"
) -> "AbstractContextManager[ClusterPreparer | None]":
    """Return what joins the cluster that is named; what does nothing where there is none."""
    if given["cluster"] is None:
        return nullcontext()
    need_extra("ray", "ray", "fsspec")
    from lexloop.corpus.index.generations import STAGING
    from lexloop.graph.clustered import on_cluster

    url = options.chosen_connection(given).base_url
    return on_cluster(given["cluster"], tools, index / STAGING, budget, url)


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


def kept_for(engine: str, force: bool) -> Path:
    """Return the folder of the index that is kept here for one in an engine, and pushed there.

    Raises:
        CorpusError: The engine has an index of that name, and it is not from here.
        EngineError: The engine does not answer.
    """
    from lexloop.corpus.engine.opening import manifest_of
    from lexloop.corpus.index.manifest import is_index
    from lexloop.corpus.opening import cache_folder

    kept = cache_folder().parent / "engines" / hashlib.sha256(engine.encode()).hexdigest()[:32]
    if force or is_index(kept):
        return kept
    try:
        manifest_of(engine)
    except CorpusError:  # there is none yet
        return kept
    raise CorpusError(f"The index {engine} already exists.", "Pass --force to make it anew.")
