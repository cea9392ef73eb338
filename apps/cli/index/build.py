"""``lexloop index DIR --out INDEX``: a folder of documents -> an index on disk."""

from pathlib import Path
from typing import Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.index import options as index_options
from lexloop.apps.cli.index.writing import write


@options.taking("chunking.method", *options.MODEL, "deadline_s")
def build(
    *,
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of documents, or one document.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="INDEX", help="The folder of the new index.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Make an index already there anew.")
    ] = False,
    prefix: index_options.Prefix = "",
    as_json: index_options.AsJson = False,
    dry_run: index_options.DryRun = False,
    price_in: index_options.PriceIn = None,
    price_out: index_options.PriceOut = None,
    price_embedding: index_options.PriceEmbedding = None,
    max_cost: index_options.MaxCost = None,
    base_url: options.BaseUrl = None,
) -> None:
    """Index documents once, for any number of questions.

    With --set index.triplets=model and --model, the model reads out the knowledge graph.
    """
    with reported(as_json):
        from lexloop.corpus.index.manifest import Source

        _check_places(folder, out, force)
        source = Source(str(folder.expanduser().absolute()), prefix)
        write(out, [source], context.params, fresh=force)


def _check_places(folder: Path, out: Path, force: bool) -> None:
    """Refuse a taken place or a source that is none before the work instead of after it.

    Raises:
        CorpusError: ``out`` exists and may not be replaced, or ``folder`` holds no document.
    """
    from lexloop.core.errors import CorpusError
    from lexloop.corpus.index.generations import is_unfinished
    from lexloop.corpus.index.manifest import is_index
    from lexloop.corpus.load.folder import list_sources

    if not folder.is_file():
        list_sources(folder.expanduser())
    if not out.exists() or (force and is_index(out)) or is_unfinished(out):
        return
    if is_index(out):
        raise CorpusError(
            f"The index {out} already exists.",
            "Bring it up to date with `lexloop index update`, or pass --force to make it anew.",
        )
    raise CorpusError(f"{out} already exists and is no index.", "Choose another folder.")
