"""``lexloop index``: a folder of documents -> an index on disk."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import FILES_SKIPPED, reported
from lexloop.apps.cli.progress import Progress
from lexloop.apps.cli.terminal import (
    joined,
    one_line,
    plain,
    progress_console,
    result_console,
    write_json,
)

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings
    from lexloop.corpus.index.collection import Collection
    from lexloop.corpus.load.document import Document
    from lexloop.corpus.opening import Extractor
    from lexloop.models.embedding import Embedder

Report = Callable[[str, int, int], None]


def index(
    *,
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Holds .txt and .md files.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="INDEX", help="The folder of the new index.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace an index already there.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    embedder: options.Embedder = None,
    deadline_s: options.Deadline = None,
    assignments: options.Assignments = None,
) -> None:
    """Index a folder of documents once, for any number of questions.

    With --set triplet_extractor=model and --model, the model reads out the knowledge graph.
    """
    with reported(as_json):
        settings = options.chosen_settings(context.params)
        connection = options.chosen_connection(base_url)
        report = _index(folder, out, force, settings, connection)
        if as_json:
            write_json(report)
        else:
            _show(report)
    if report["skipped"]:
        raise typer.Exit(FILES_SKIPPED)


def _index(
    folder: Path, out: Path, force: bool, settings: "Settings", connection: "Connection"
) -> dict[str, Any]:
    from lexloop.corpus.index.store import write_index
    from lexloop.corpus.load.folder import load_documents

    began = time.perf_counter()
    _check_place(out, force)
    documents, skipped = load_documents(folder)
    collection = _built(documents, settings, connection)
    write_index(collection, out, replace=force)
    return {
        "index": str(out),
        "documents": len(documents),
        "chunks": len(collection.chunks),
        "triplets": len(collection.triplets),
        "seconds": round(time.perf_counter() - began, 2),
        "skipped": [vars(item) for item in skipped],
        "other_files": _other_kinds(folder),
    }


def _check_place(out: Path, force: bool) -> None:
    """Refuse a taken place before the work instead of after it.

    Raises:
        CorpusError: ``out`` exists and may not be replaced.
    """
    from lexloop.core.errors import CorpusError
    from lexloop.corpus.index.store import is_index

    if not out.exists() or (force and is_index(out)):
        return
    if is_index(out):
        raise CorpusError(f"The index {out} already exists.", "Pass --force to replace it.")
    raise CorpusError(f"{out} already exists and is no index.", "Choose another folder.")


def _built(
    documents: "list[Document]", settings: "Settings", connection: "Connection"
) -> "Collection":
    with Progress() as progress:
        progress.say("Loading")
        embedder, extract = _tools(settings, connection)
    from lexloop.corpus.opening import build_collection

    with _bar() as report:
        return build_collection(documents, embedder, extract, report)


def _tools(settings: "Settings", connection: "Connection") -> "tuple[Embedder, Extractor]":
    """What makes vectors and triplets; says first where text will go."""
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.graph.extractors import extractor_for
    from lexloop.models.chat import connect
    from lexloop.models.embedders import load_embedder

    chat = connect(settings, connection) if settings.triplet_extractor == "model" else None
    sending = settings if chat is not None else settings.changed(model=None)
    say_where_text_goes(text_hosts(sending, connection))
    _, extract = extractor_for(settings, chat)
    return load_embedder(settings.embedder, connection), extract


@contextmanager
def _bar() -> Iterator[Report]:
    """A progress bar per stage on standard error, gone afterwards."""
    from rich import progress

    console = progress_console()
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
    )
    bars = progress.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    stages: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            stages[stage] = bars.add_task(stage.capitalize(), total=total)
        bars.update(stages[stage], completed=done, total=total)

    with bars:
        yield report


def _other_kinds(folder: Path) -> dict[str, int]:
    """How many visible files of each other suffix the folder holds, which no index takes in."""
    from lexloop.corpus.load.folder import SUFFIXES

    kinds: Counter[str] = Counter()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        kinds.update(Path(parent, n).suffix.lower() for n in names if not n.startswith("."))
    return {kind or "no suffix": count for kind, count in kinds.items() if kind not in SUFFIXES}


def _show(report: dict[str, Any]) -> None:
    counts = ", ".join(f"{report[name]} {name}" for name in ("documents", "chunks", "triplets"))
    line = f"{counts} in {report['seconds']:.1f} s -> {report['index']}"
    result_console().print(plain(one_line(line)))
    notes = progress_console()
    for item in report["skipped"]:
        said = f"{item['name']}: {item['reason']}"
        notes.print(joined(plain("Skipped ", "bold yellow"), plain(one_line(said))))
    if report["other_files"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in report["other_files"].items())
        notes.print(
            plain(one_line(f"Not indexed, since only .txt and .md are read: {kinds}"), "dim")
        )
