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
    from lexloop_server.forgetting import Forgotten

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
        bool, option("Delete its file, too, where that is your own.", flag="--delete-file")
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
    """Forget a document: its text, and what was made of it, wherever Lexloop keeps it.

    Indexes are written anew without it, cached ones removed; answers and feedback that quote it go.
    The same command goes on where it was stopped. Exits with 15 where something is left.
    """
    from lexloop_server.forgetting import Order, Target
    from lexloop_server.settings import read_server_settings, settings_file

    settings = options.chosen_settings(context.params, {"access.as_of": "any"})
    named = read_server_settings(settings_file(config)).collections
    order = Order(
        Target.of(settings.corpus, document),
        Filters.of(settings),
        _embedder_of,
        {name: os.path.abspath(one.corpus) if _is_path(one.corpus) else one.corpus
         for name, one in named.items()},
        threads,
        delete_file,
    )  # fmt: skip
    with bar() as report:
        done = order.run(report)
    if as_json:
        told = {name: [vars(one) for one in getattr(done, name)] for name in ("touched", "left")}
        write_json({"document": document, "corpus": settings.corpus, **told})
    else:
        _show(document, done)
    if done.left:
        raise typer.Exit(LEFT)


def _is_path(corpus: str) -> bool:
    from lexloop.core.settings import SAMPLE_CORPUS
    from lexloop.store.address import is_address

    return corpus != SAMPLE_CORPUS and not is_address(corpus)


def _embedder_of(settings: "Settings") -> "Embedder":
    from lexloop.core.settings import Connection
    from lexloop.models.embedders import load_embedder

    return load_embedder(settings.index.embedder, Connection.from_environment(os.environ))


def _show(document: str, done: "Forgotten") -> None:
    for one in done.touched:
        say((f"{one.kind:9}", "bold"), f"{one.where}: {one.done}")
    for left in done.left:
        note(("Left: ", "bold red"), f"{left.where}. {left.why}", style="")
    if not done.touched and not done.left:
        say(f"Nothing is left of {document}.")
