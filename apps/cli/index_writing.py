"""Write an index as a command says, here or over a cluster, and report on it."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import (
    FILES_SKIPPED,
    Progress,
    bar,
    note,
    plain,
    result_console,
    say,
    write_json,
)
from lexloop.apps.shapes.record import text_hosts
from lexloop.apps.shapes.text import first_of, one_line
from lexloop.core.errors import CorpusError
from lexloop.core.settings import Settings
from lexloop.store.address import USUAL, Destination, Storage, beside, is_address

if TYPE_CHECKING:
    from lexloop.documents.document import SkippedSource
    from lexloop.graph.budget import Budget
    from lexloop.store.engines import ClusterPreparer
    from lexloop.store.manifest import IndexSource, Manifest
    from lexloop.store.preparing import Tools
    from lexloop.store.view import Collection, View
    from lexloop.store.writer import CostEstimate, IndexUpdate

_COST = {
    "files_added": "files that are new",
    "files_changed": "files that changed",
    "files_removed": "files that are gone",
    "documents": "documents to read",
    "chunks": "chunks of them",
    "embedded_texts": "texts to embed",
    "embedded_tokens": "tokens of these texts",
    "model_calls": "calls of the model",
    "tokens_in": "tokens of its prompts",
    "tokens_out": "tokens of its replies",
    "cost_usd": "cost in US dollars",
}
_CONTENTS = {
    "index": "index",
    "documents": "documents",
    "chunks": "chunks",
    "triplets": "triplets",
    "files": "files",
    "bytes": "bytes on disk",
    "generation": "generation",
    "format": "format",
    "stemmer": "stemmer",
    "embedder": "embedding model",
    "dimension": "numbers in a vector",
    "windows": "embedded parts",
    "tokens": "bytes of a token's vector",
    "chunker": "chunker",
    "extractor": "triplets extracted by",
    "dense_kind": "vector search",
    "recall@10": "its share of the exact top 10",
}
"""Labels of a report's entries. ``dense_index`` is among the settings, the others are below it."""
_SEARCHES = {
    "flat": "exact",
    "hnsw": "HNSW",
    "int8_hnsw": "HNSW of int8",
    "binary_hnsw": "HNSW of bits",
}
_EXACT = 1.0
_KNOWN = ("jurisdiction", "kind", "host", "tags")
_MOST_PROBLEMS, _MOST_DOCUMENTS = 5, 20
_cost = partial(option, panel="Cost")
_usd = partial(_cost, metavar="USD", min=0)
OPTIONS: dict[str, Any] = {
    "dry_run": Annotated[
        bool | None,
        _cost(
            "Print what would be read, embedded and asked, and the cost, without doing it.",
            flag="--dry-run",
        ),
    ],
    "price_in": Annotated[float | None, _usd("Price of a million tokens of prompts.")],
    "price_out": Annotated[float | None, _usd("Price of a million tokens of replies.")],
    "price_embedding": Annotated[float | None, _usd("Price of a million embedded tokens.")],
    "max_cost": Annotated[
        float | None,
        _usd("Stop before the model costs more. What it extracted is cached for the next run."),
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
    """Write an index from a command's parameters, or print what that would cost.

    Parameters override the settings of the index that is ``held``. If ``excluded`` is None, the
    files that the index excludes are left out. ``fresh`` keeps nothing of an existing index. If an
    ``engine`` is named, the index is pushed to it, with its ``storage``.
    """
    from lexloop.graph.extractors import expected_cost

    began, dry_run = time.perf_counter(), given["dry_run"]
    settings, budget = _priced(given, held.settings if held else {})
    with Progress() as progress:
        progress.say("Loading")
        tools = _tools(settings, given, budget)
    with _joined(index, given, tools, budget) as cluster, bar() as report:
        how = {"fresh": fresh, "progress": report, "cluster": cluster}
        survey, work = _ways(
            index, sources, tools, how, excluded=excluded, engine=engine, storage=storage
        )
        paid = settings.index.triplets == "model" or settings.index.embedder.startswith("openai:")
        if dry_run or (cluster is not None and paid):
            estimate = survey()
            cost = expected_cost(estimate, settings, budget, given["price_embedding"])
            if not dry_run:
                note_cost(estimate, cost)
        if not dry_run:
            outcome = work()
    if dry_run:
        show_estimate(estimate, cost, given["as_json"])
        return
    seconds = time.perf_counter() - began
    show_outcome(engine or index, outcome, seconds, given["as_json"], sources)
    if not all(item.indexed for item in outcome.skipped):
        raise typer.Exit(FILES_SKIPPED)


def _priced(given: Mapping[str, Any], held: Mapping[str, Any]) -> "tuple[Settings, Budget]":
    """Return the settings that a command chooses, and what its model may cost.

    ``--price-in`` and ``--price-out`` count more than the prices in the settings.
    """
    from lexloop.core.settings_groups import Price
    from lexloop.graph.budget import Budget

    settings = options.chosen_settings({**given, "max_cost": None}, held, {"max_cost": None})
    prices, most = (given["price_in"], given["price_out"]), given["max_cost"]
    price = settings.price
    if None not in prices:
        price = Price(input=prices[0], output=prices[1])
    return settings, Budget(price, most if most is None else float(most))


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
    from lexloop.store.engines import clusters, engines_for
    from lexloop.store.writer import estimate, write_index

    cluster: ClusterPreparer | None = how["cluster"]
    if engine and cluster is not None:
        to = Destination(engine, _staging(index), storage)
        survey = partial(clusters().expected, engine, sources, tools, **how)
        return survey, partial(clusters().ingest, to, sources, tools, **how)
    how = {**how, "excluded": excluded}

    def work() -> "IndexUpdate":
        outcome = write_index(index, sources, tools, **how)
        if cluster is not None:
            cluster.forget()
        if engine:
            engines_for(engine).push_index(index, engine, tools.embedder, how["progress"], storage)
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
    from lexloop.store.engines import clusters

    url = options.chosen_connection(given).base_url
    joining = clusters().on_cluster(given["cluster"], tools, _staging(index), budget, url)
    # Ray prints to standard output that a worker died
    with redirect_stdout(sys.stderr), joining as cluster:
        yield cluster


def _staging(index: Path) -> Path:
    from lexloop.store.folder.generations import STAGING

    return index / STAGING


def _tools(settings: Settings, given: Mapping[str, Any], budget: "Budget") -> "Tools":
    """Return the tools that make chunks, vectors and triplets; print first where text will go."""
    from lexloop.graph.resources import Resources

    connection = options.chosen_connection(given)
    resources = Resources(connection)
    chat = resources.chat(settings) if settings.index.triplets == "model" else None
    if not given["dry_run"]:
        sending = settings if chat is not None else settings.changed(model=None)
        say_where_text_goes(text_hosts(sending, connection))
    return resources.tools(settings, chat, budget)


def kept_for(engine: str, force: bool, clustered: bool) -> Path:
    """Return the local folder for an index in an engine.

    Without a cluster, the index itself is stored there and pushed.

    Raises:
        CorpusError: The engine has an index of that name that is not from this machine.
        EngineError: The engine does not answer.
    """
    from lexloop.core.files import is_index
    from lexloop.store.engines import engines_for

    folder = beside(engine)
    if force or clustered or is_index(folder):
        return folder
    try:
        engines_for(engine).manifest_of(engine)
    except CorpusError:  # there is no index yet
        return folder
    raise CorpusError(f"The index {engine} already exists.", "Pass --force to replace it.")


def show_outcome(
    index: Path | str,
    outcome: "IndexUpdate",
    seconds: float,
    as_json: bool,
    sources: "Sequence[IndexSource]" = (),
) -> None:
    """Print what the index holds now, what changed, and what was left out.

    Files of other kinds beside the documents of ``sources`` are counted.
    """
    from lexloop.store.folder.dense import MOST_WINDOWS

    changes = {
        name: len(getattr(outcome.difference, name))
        for name in ("added", "changed", "removed", "unchanged")
    }
    other_files = _other_kinds(sources)
    if as_json:
        write_json(
            {
                "index": str(index),
                **outcome.counts,
                **{f"files_{name}": count for name, count in changes.items()},
                "recall@10": outcome.recall,
                "seconds": round(seconds, 2),
                "skipped": [vars(item) for item in outcome.skipped],
                "other_files": other_files,
            }
        )
        return
    counts = ", ".join(
        f"{outcome.counts[name]} {name}" for name in ("documents", "chunks", "triplets")
    )
    say(f"{counts} in {seconds:.1f} s -> {index}")
    changed = ", ".join(f"{count} {name}" for name, count in changes.items() if count)
    say(f"Files: {changed or 'none'}", style="dim")
    if outcome.recall < _EXACT:
        say(
            f"Approximate vector search finds {outcome.recall:.1%} of the exact top 10", style="dim"
        )
    if not is_address(str(index)) and outcome.counts["windows"] > MOST_WINDOWS:
        note(
            f"It has {outcome.counts['windows']:,} vectors. Beyond {MOST_WINDOWS:,} use an engine: "
            f'`pip install "lexloop[engines]"`, then `lexloop index push {index} ADDRESS`.'
        )
    _show_skipped(outcome.skipped)
    if other_files:
        kinds = ", ".join(f"{count} {kind}" for kind, count in other_files.items())
        note(f"Not indexed, since their kinds are not read: {kinds}")


def _other_kinds(sources: "Iterable[IndexSource]") -> dict[str, int]:
    """Count the visible files of the sources by suffix, of those suffixes that are not read."""
    from lexloop.documents.reading.formats import is_known
    from lexloop.documents.reading.metadata import SIDECAR

    kinds: Counter[str] = Counter()
    for source in sources:
        for _, folders, names in os.walk(source.path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            seen = (name for name in names if not name.startswith(".") and name != SIDECAR)
            kinds.update(Path(name).suffix.lower() for name in seen)
    return {kind or "no suffix": count for kind, count in kinds.items() if not is_known(kind)}


def _show_skipped(skipped: "list[SkippedSource]") -> None:
    for item in skipped:
        head = "Note on " if item.indexed else "Skipped "
        note((head, "bold yellow"), f"{item.name}: {item.reason}", style="")


def show_estimate(found: "CostEstimate", cost: dict[str, Any], as_json: bool) -> None:
    """Print what would be done and what it would cost."""
    report = {**found.as_record(), **cost}
    if as_json:
        skipped = [vars(item) for item in found.skipped]
        write_json({"dry_run": True, **report, "skipped": skipped})
        return
    for name, label in _COST.items():
        shown = "unknown: give the prices" if report[name] is None else str(report[name])
        say((f"{label}: ", "bold"), shown)
    _show_skipped(found.skipped)


def note_cost(found: "CostEstimate", cost: dict[str, Any]) -> None:
    """Print to standard error what a run that starts now will cost."""
    usd = cost["cost_usd"]
    note(
        f"This reads {found.documents} documents, embeds {found.embedded_texts} texts and asks the "
        f"model {cost['model_calls']} times, for "
        f"{'a cost that is unknown without the prices' if usd is None else f'about ${usd}'}."
    )


def index_report(
    index: str, manifest: "Manifest", collection: "Collection", view: "View"
) -> dict[str, Any]:
    """Return the object that ``index info --json`` prints; it names only what may be seen."""
    return {
        "index": index,
        **manifest.counts,
        "files": len(manifest.fingerprints),
        "bytes": _bytes(index, manifest.generation),
        "generation": manifest.generation,
        "format": manifest.format,
        "stemmer": manifest.stemmer,
        **vars(manifest.recipe),
        "dense_kind": collection.dense_kind,
        # an engine's is not measured: `index verify --against` compares rankings
        "recall@10": None if is_address(index) else collection.recall,
        "sources": [vars(source) for source in manifest.sources],
        "excluded": list(manifest.excluded) if view.access.all_public else [],
        "excluded_count": len(manifest.excluded),
        "skipped": [vars(item) for item in view.access.skipped(stored=True)],
        "skipped_count": view.access.skipped_count,
        "numbering": [
            {"document": name, "problems": [*tree.problems]}
            for name in view.documents
            if (tree := view.tree_of(name)) is not None and tree.problems
        ],
    }


def _bytes(index: str, generation: str) -> int | None:
    """Return the size of an index's files; None in an engine, whose replicas share no file."""
    from lexloop.store.folder.generations import GENERATIONS

    if is_address(index):
        return None
    folder = Path(index) / GENERATIONS / generation
    return sum(path.stat().st_size for path in folder.iterdir())


def show_report(report: dict[str, Any]) -> None:
    """Print what an index holds, for people; ``list`` has its documents if they were asked for."""
    labels = {name: label for name, label in _CONTENTS.items() if report[name] is not None}
    rows = [(label, _shown(name, report[name])) for name, label in labels.items()]
    rows += [("source", source["path"] or "not recorded") for source in report["sources"]]
    if report["excluded_count"]:
        documents = "; ".join(first_of(report["excluded"], _MOST_DOCUMENTS))
        rows.append(("taken out for good", documents or str(report["excluded_count"])))
    if report["skipped_count"] and not report["skipped"]:
        rows.append(("could not be read", str(report["skipped_count"])))
    for doubt, value in rows:
        say((doubt.ljust(max(map(len, _CONTENTS.values()))), "bold"), f"  {one_line(value)}")
    for item in report["skipped"]:
        head = "Note on" if item["indexed"] else "Skipped"
        say(f"{head} {item['name']}: {item['reason']}", style="yellow")
    misnumbered = [
        f"Numbering of {item['document']}: {' '.join(first_of(item['problems'], _MOST_PROBLEMS))}"
        for item in report["numbering"]
    ]
    for doubt in first_of(misnumbered, _MOST_DOCUMENTS):
        say(doubt, style="yellow")
    if "list" in report:
        from rich.table import Table

        listed = Table("document", "in force", *_KNOWN, box=None, pad_edge=False)
        for row in report["list"]:
            days = f"{row.get('in_force_from', '')} – {row.get('in_force_to', '')}".strip(" –")
            cells = [row["document"], days, *(_cell(row.get(name, "")) for name in _KNOWN)]
            listed.add_row(*(plain(one_line(cell)) for cell in cells))
        result_console().print(listed)


def _shown(name: str, value: Any) -> str:
    text = f"{value:,}" if name == "bytes" else str(value)
    if name == "dense_kind":
        text = _SEARCHES.get(text, text)
    elif name == "recall@10":
        text = f"{value:.1%}"
    elif name == "tokens":
        text = text if value else "none are stored"
    elif name == "chunker":
        text = text.replace("chunk_", "")  # as settings name them now
    return text


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
