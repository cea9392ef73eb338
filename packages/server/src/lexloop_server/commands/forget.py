"""``lexloop forget``: takes a document out of all that Lexloop keeps."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import bar, note, say, write_json
from lexloop.core.metadata import Filters

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.models.embedding import Embedder
    from lexloop.store.forgetting import Forgotten

LEFT = 15


@options.taking("corpus", *options.ACCESS)
def forget(
    *,
    context: typer.Context,
    document: Annotated[
        str,
        typer.Argument(metavar="DOCUMENT", help="A document as answers cite it, or a source file."),
    ],
    delete_file: Annotated[
        bool, option("Also delete its file, if that is your own.", flag="--delete-file")
    ] = False,
    threads: Annotated[
        Path | None,
        option(
            "The SQLite file of chats. Default: in LEXLOOP_DATA_DIR or the user's data.",
            "FILE",
            flag="--threads-file",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        option("The settings file of `lexloop serve`, which names its collections.", "FILE"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Forget a document: delete its text and everything made of it, wherever Lexloop stores it.

    Indexes are rewritten without it, cached ones are removed, and so are answers and feedback that
    quote it. If the command was stopped, run it again to continue. Exits with 15 if something is
    left.
    """
    from lexloop.store.address import absolute
    from lexloop.store.forgetting import Target
    from lexloop_server.forgetting import Order
    from lexloop_server.settings import read_server_settings, settings_file

    settings = options.chosen_settings(context.params, {"access.as_of": "any"})
    collections = read_server_settings(settings_file(config)).collections
    order = Order(
        Target.of(settings.corpus, document),
        Filters.of(settings),
        _embedder_of,
        {name: absolute(given.corpus) for name, given in collections.items()},
        threads,
        delete_file,
    )
    with bar() as report:
        done = order.run(report)
    if as_json:
        write_json(
            {
                "document": document,
                "corpus": settings.corpus,
                "touched": [vars(place) for place in done.touched],
                "left": [vars(place) for place in done.left],
            }
        )
    else:
        _show(document, done)
    if done.left:
        raise typer.Exit(LEFT)


def _embedder_of(settings: "Settings") -> "Embedder":
    from lexloop.core.settings import Connection
    from lexloop.models.embedders import load_embedder

    return load_embedder(settings.index.embedder, Connection.from_environment(os.environ))


def _show(document: str, done: "Forgotten") -> None:
    for touched in done.touched:
        say((f"{touched.kind:9}", "bold"), f"{touched.where}: {touched.done}")
    for remaining in done.left:
        note(("Left: ", "bold red"), f"{remaining.where}. {remaining.why}", style="")
    if not done.touched and not done.left:
        say(f"Nothing is left of {document}.")
