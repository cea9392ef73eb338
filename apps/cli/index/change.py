"""``lexloop index add | update | remove``: an index follows its documents."""

from pathlib import Path
from typing import Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.index import options as index_options
from lexloop.apps.cli.index.held import held_manifest, known_names, restored
from lexloop.apps.cli.index.writing import take_out, write


@options.taking("deadline_s")
def add(
    *,
    context: typer.Context,
    index: index_options.Index,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Folders of documents, or documents.")
    ],
    prefix: index_options.Prefix = "",
    as_json: index_options.AsJson = False,
    dry_run: index_options.DryRun = False,
    price_in: index_options.PriceIn = None,
    price_out: index_options.PriceOut = None,
    price_embedding: index_options.PriceEmbedding = None,
    max_cost: index_options.MaxCost = None,
    base_url: options.BaseUrl = None,
) -> None:
    """Add documents; later updates follow them, too."""
    with reported(as_json):
        from lexloop.core.settings_names import from_record
        from lexloop.corpus.index.manifest import Source

        held = held_manifest(index)
        new = [Source(str(path.expanduser().absolute()), prefix) for path in paths]
        sources = list(dict.fromkeys([*held.sources, *new]))
        excluded = restored(held, new)
        write(index, sources, context.params, stored=from_record(held.settings), excluded=excluded)


@options.taking("chunking.method", *options.MODEL, "deadline_s")
def update(
    *,
    context: typer.Context,
    index: index_options.Index,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="DIR", help="Where the documents lie now, if they moved."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Read and index everything anew.")] = False,
    as_json: index_options.AsJson = False,
    dry_run: index_options.DryRun = False,
    price_in: index_options.PriceIn = None,
    price_out: index_options.PriceOut = None,
    price_embedding: index_options.PriceEmbedding = None,
    max_cost: index_options.MaxCost = None,
    base_url: options.BaseUrl = None,
) -> None:
    """Bring an index up to date: only what changed is read and embedded.

    Settings that are given replace those the index was made with; one that shapes the index
    means that everything is indexed anew.
    """
    with reported(as_json):
        from lexloop.core.errors import CorpusError
        from lexloop.core.settings_names import from_record
        from lexloop.corpus.index.manifest import Source

        held = held_manifest(index)
        sources = list(held.sources)
        if source is not None:
            if len(sources) != 1:
                raise CorpusError(
                    f"The index {index} has {len(sources)} sources, and --source names one.",
                    "Leave --source out.",
                )
            sources = [Source(str(source.expanduser().absolute()), sources[0].prefix)]
        write(
            index,
            sources,
            context.params,
            stored=from_record(held.settings),
            excluded=None,
            fresh=force,
        )


def remove(
    *,
    index: index_options.Index,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Documents as `info --documents` names them, or source files."
        ),
    ],
    as_json: index_options.AsJson = False,
) -> None:
    """Take documents out, with their chunks, vectors and relations; an update leaves them out."""
    with reported(as_json):
        from lexloop.core.errors import CorpusError

        held = held_manifest(index)
        known = known_names(index, held)
        for name in names:
            if name not in known:
                raise CorpusError(
                    f"The index {index} holds no document {name!r}.",
                    f"See `lexloop index info {index} --documents`.",
                )
        take_out(index, held, names, as_json)
