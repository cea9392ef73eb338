"""Writing of an index as a command says: here or over a cluster, into a folder or an engine."""

import hashlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
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
    from lexloop.graph.extractors import Budget

    began = time.perf_counter()
    settings = options.chosen_settings(given, held.settings if held else {})
    budget = Budget(given["price_in"], given["price_out"], given["max_cost"])
    with Progress() as progress:
        progress.say("Loading")
        tools = _tools(settings, given, budget)
    work = _Work(index, sources, tools, settings, budget, given, excluded, fresh, engine, storage)
    if given["dry_run"]:
        with work.begun() as how:
            told = work.estimated(how)
        show_estimate(*told, given["as_json"])
        return
    with work.begun() as how:
        if how["cluster"] is not None and _is_paid(settings):
            note_cost(*work.estimated(how))
        outcome = work.written(how)
    seconds = time.perf_counter() - began
    show_outcome(engine or index, outcome, seconds, given["as_json"], sources)
    if not all(item.indexed for item in outcome.skipped):
        raise typer.Exit(FILES_SKIPPED)


@dataclass(frozen=True)
class _Work:
    """What is to be written; ``given`` are the command's parameters, ``engine`` may be empty."""

    index: Path
    sources: "Sequence[IndexSource]"
    tools: "Tools"
    settings: Settings
    budget: "Budget"
    given: Mapping[str, Any]
    excluded: Sequence[str] | None
    fresh: bool
    engine: str
    storage: Storage

    @contextmanager
    def begun(self) -> Iterator[dict[str, Any]]:
        """Show a bar, and be in the cluster where one is named; gives the writer's options."""
        with self._cluster() as cluster, bar() as report:
            how = {"excluded": self.excluded, "fresh": self.fresh}
            yield {**how, "progress": report, "cluster": cluster}

    def estimated(self, how: dict[str, Any]) -> "tuple[CostEstimate, dict[str, Any]]":
        """Return what would be done, and what it would cost."""
        from lexloop.graph.extractors import expected_cost

        if self.engine and how["cluster"] is not None:
            from lexloop.store.cluster.ingesting import expected

            found = expected(self.engine, self.sources, self.tools, **_into_engine(how))
        else:
            from lexloop.store.writer import estimate

            found = estimate(self.index, self.sources, self.tools, **how)
        price = self.given["price_embedding"]
        return found, expected_cost(found, self.settings, self.budget, price)

    def written(self, how: dict[str, Any]) -> "IndexUpdate":
        """Do it."""
        cluster = how["cluster"]
        if self.engine and cluster is not None:
            from lexloop.store.cluster.ingesting import Destination, ingest

            to = Destination(self.engine, self._staging, self.storage)
            return ingest(to, self.sources, self.tools, **_into_engine(how))
        from lexloop.store.writer import write_index

        outcome = write_index(self.index, self.sources, self.tools, **how)
        if cluster is not None:
            cluster.forget()
        if self.engine:
            from lexloop.store.engine.moving import push_index

            embedder, report = self.tools.embedder, how["progress"]
            push_index(self.index, self.engine, embedder, report, self.storage)
        return outcome

    @property
    def _staging(self) -> Path:
        from lexloop.store.folder.generations import STAGING

        return self.index / STAGING

    @contextmanager
    def _cluster(self) -> "Iterator[ClusterPreparer | None]":
        address = self.given["cluster"]
        if address is None:
            yield None
            return
        need_extra("ray", "ray", "fsspec")
        from lexloop.graph.clustered import on_cluster

        url = options.chosen_connection(self.given).base_url
        joining = on_cluster(address, self.tools, self._staging, self.budget, url)
        # Ray prints to standard output that a worker died
        with redirect_stdout(sys.stderr), joining as cluster:
            yield cluster


def _is_paid(settings: Settings) -> bool:
    return settings.index.triplets == "model" or settings.index.embedder.startswith("openai:")


def _into_engine(how: dict[str, Any]) -> dict[str, Any]:
    return {name: how[name] for name in ("cluster", "progress", "fresh")}


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
