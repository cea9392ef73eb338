"""``lexloop check``: a text written elsewhere, laid beside the documents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Progress, say, write_json
from lexloop.apps.shapes.text import one_line, places, shortened
from lexloop.core.errors import CorpusError

if TYPE_CHECKING:
    from lexloop.nodes.checking import Point

_CHARS = 160
_WRONG = 1
_SIGNS = {"found": "ok", "altered": "ALTERED", "differs": "DIFFERS", "missing": "MISSING"}


@options.taking("corpus", "index.embedder", "deadline_s", *options.ACCESS)
def check(
    *,
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="The text: any format that can be indexed.", dir_okay=False)
    ],
    as_json: options.AsJson = False,
) -> None:
    """Check a text against documents: its quotes, the provisions it names, its facts and days.

    Exit code 1 if something in it does not hold.
    """
    if not file.is_file():
        raise CorpusError(f"{file} is not a file.", "Name the text to check.")
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    with Progress() as progress:
        from lexloop.apps.checking import checked_by
        from lexloop.documents.reading.folder import load_documents

        progress.say("Reading")
        documents, _ = load_documents(file)
        resources, _ = open_resources(settings, connection, progress)
        progress.say("Checking")
        checked = [(one, checked_by(settings, one.text, resources)) for one in documents]
    wrong = sum(found["wrong"] for _, found in checked)
    if as_json:
        every = [{"document": document.name, **found} for document, found in checked]
        write_json({"wrong": wrong, "documents": every})
    else:
        for _, found in checked:
            for sentence in found["sentences"]:
                if sentence["points"]:
                    say((one_line(shortened(sentence["text"], _CHARS)), "bold"))
                    for point in sentence["points"]:
                        _print(point)
        say(f"{wrong} wrong" if wrong else "Nothing is wrong.", style="bold")
    raise typer.Exit(_WRONG if wrong else 0)


def _print(point: "Point") -> None:
    sign = _SIGNS.get(point["status"], "?")
    said = "" if point["kind"] == "statement" else f" “{shortened(point['said'], _CHARS)}”"
    why = f": {one_line(point['why'])}" if point["why"] else ""
    say(f"  {sign} {point['kind']}{said}{why}")
    if source := point["source"]:
        where = ", ".join([one_line(source["document"]), *places(source)])
        say(f"     {where}: {shortened(source['quote'], _CHARS)}", style="dim")
