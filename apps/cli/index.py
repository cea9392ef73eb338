"""``lexloop index``: makes an index of a folder, keeps it up to date, and looks into it."""

import shlex
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.index_engines import Shards, Vectors, pull, push, storage_at, verify
from lexloop.apps.cli.index_report import (
    index_report,
    show_outcome,
    show_report,
)
from lexloop.apps.cli.index_writing import OPTIONS, kept_for, write
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import bar
from lexloop.apps.cli.stored import embedder_of, manifest_in, manifest_named, refuse_address
from lexloop.apps.cli.terminal import reported, write_json
from lexloop.core.errors import CorpusError, InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.store.engine.address import FLOAT, is_address

if TYPE_CHECKING:
    from lexloop.store.manifest import IndexSource, Manifest

_Index = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the index.")]
_Prefix = Annotated[
    str, option("What the names of these documents begin with.", "NAME/", flag="--prefix")
]

commands = typer.Typer(
    name="index",
    cls=options.with_default("build"),
    no_args_is_help=True,
    help="Make an index of your documents, keep it up to date, and look into it. "
    "`lexloop index DIR --out INDEX` is short for `lexloop index build DIR --out INDEX`.",
)


@commands.command()
@options.taking("chunking.method", *options.MODEL, "deadline_s", **OPTIONS)
def build(
    *,
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of documents, or one document.")
    ],
    out: Annotated[
        str | None,
        option("The folder of the new index, or its address in an engine; must be given.", "INDEX"),
    ] = None,
    vectors: Vectors = FLOAT,
    shards: Shards = 1,
    force: Annotated[bool, option("Make an index already there anew.", flag="--force")] = False,
    prefix: _Prefix = "",
    as_json: options.AsJson = False,
) -> None:
    """Index documents once, for any number of questions.

    With --set index.triplets=model and --model, the model reads out the knowledge graph.
    """
    if out is None:
        command = shlex.join(["lexloop", "index", folder, "--out", _suggested(Path(folder))])
        raise InputError(
            "There is no --out, the folder that the index is written to.",
            f"Give one, e.g. `{command}`.",
        )
    storage = storage_at(out, vectors, shards)
    engine, clustered = out if is_address(out) else "", context.params["cluster"] is not None
    place = kept_for(out, force, clustered) if engine else Path(out)
    _check_places(None if clustered else Path(folder), place, force or bool(engine))
    sources = _sources([folder], prefix)
    write(place, sources, context.params, fresh=force, engine=engine, storage=storage)


@commands.command()
@options.taking("deadline_s", **OPTIONS)
def add(
    *,
    context: typer.Context,
    index: _Index,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Folders of documents, or documents.")
    ],
    prefix: _Prefix = "",
    as_json: options.AsJson = False,
) -> None:
    """Add documents; later updates follow them, too."""
    held, new = manifest_in(index), _sources(paths, prefix)
    sources = list(dict.fromkeys([*held.sources, *new]))
    write(index, sources, context.params, held, excluded=_still_excluded(held, new))


@commands.command()
@options.taking("chunking.method", *options.MODEL, "deadline_s", **OPTIONS)
def update(
    *,
    context: typer.Context,
    index: _Index,
    source: Annotated[
        Path | None, option("Where the documents lie now, if they moved.", "DIR")
    ] = None,
    force: Annotated[bool, option("Read and index everything anew.", flag="--force")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Bring an index up to date: only what changed is read and embedded.

    Settings that are given replace those the index was made with; one that shapes the index
    means that everything is indexed anew.
    """
    held = manifest_in(index)
    sources = list(held.sources)
    if source is not None:
        if len(sources) != 1:
            raise CorpusError(
                f"The index {index} has {len(sources)} sources, and --source names one.",
                "Leave --source out.",
            )
        sources = _sources([source], sources[0].prefix)
    write(index, sources, context.params, held, excluded=None, fresh=force)


@commands.command()
@reported
def remove(
    *,
    index: _Index,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Documents as `info --documents` names them, or source files."
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Take documents out, with their chunks, vectors and relations; an update leaves them out."""
    from lexloop.store.opening import tools_for
    from lexloop.store.writer import remove_documents

    held = manifest_in(index)
    known = _known_names(index, held)
    for name in names:
        if name not in known:
            raise CorpusError(
                f"The index {index} holds no document {name!r}.",
                f"See `lexloop index info {index} --documents`.",
            )
    began = time.perf_counter()
    without = {"model.name": None, "index.triplets": "embedded"}
    settings = Settings(**{**held.settings, **without})
    tools = tools_for(settings, embedder_of(held))
    with bar() as report:
        outcome = remove_documents(index, names, tools, progress=report)
    show_outcome(index, outcome, time.perf_counter() - began, as_json)


for copying in (push, pull, verify):
    commands.command()(copying)


@commands.command()
@options.taking(*options.ACCESS)
def info(
    *,
    context: typer.Context,
    index: options.Index,
    documents: Annotated[
        bool, option("Also list the documents with what is known.", flag="--documents")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what an index holds, what it is made with, what was left out, and what is misnumbered.

    Documents are listed as somebody with the given tags may see them, of any day unless one is
    given. Where documents have tags, what was left out is counted and not named.
    """
    from lexloop.store.opening import open_stored

    access = Filters.of(options.chosen_settings(context.params, {"access.as_of": "any"}))
    manifest = manifest_named(index)
    with closing(open_stored(index, embedder_of(manifest))) as collection:
        view = collection.seen_by(access)
        report = index_report(index, manifest, collection, view)
        if documents:
            known = view.metadata(view.documents)
            report["list"] = [
                {"document": name, **known[name].as_record()} for name in view.documents
            ]
    if as_json:
        write_json(report)
    else:
        show_report(report)


def _suggested(folder: Path) -> str:
    return f"{folder.absolute().name or 'documents'}.index"


def _sources(paths: Sequence[Path | str], prefix: str) -> "list[IndexSource]":
    from lexloop.store.manifest import IndexSource

    return [
        IndexSource(said if "://" in said else str(Path(said).expanduser().absolute()), prefix)
        for said in map(str, paths)
    ]


def _check_places(folder: Path | None, out: Path, force: bool) -> None:
    """Refuse a taken place or a source that is none before the work instead of after it.

    ``folder`` is None where a cluster lists what may be no folder.
    """
    from lexloop.core.files import is_index
    from lexloop.documents.reading.folder import list_sources
    from lexloop.store.folder.generations import is_unfinished

    if folder is not None and not folder.is_file():
        refuse_address(folder, "Copy that index here: `lexloop index pull ADDRESS INDEX`.")
        list_sources(folder.expanduser())
    if not out.exists() or (force and is_index(out)) or is_unfinished(out):
        return
    if is_index(out):
        raise CorpusError(
            f"The index {out} already exists.",
            "Bring it up to date with `lexloop index update`, or pass --force to make it anew.",
        )
    raise CorpusError(f"{out} already exists and is no index.", "Choose another folder.")


def _known_names(index: Path, manifest: "Manifest") -> set[str]:
    """Return the names of the documents and of the source files."""
    from lexloop.store.folder.generations import GENERATIONS
    from lexloop.store.folder.texts import TextStore

    file = index / GENERATIONS / manifest.generation / TextStore.FILE
    with closing(TextStore.open(file)) as texts:
        return {*texts.names(), *manifest.fingerprints}


def _still_excluded(manifest: "Manifest", sources: "Sequence[IndexSource]") -> list[str]:
    """Return the excluded names that stay out when these sources, which lack them, are added."""
    from lexloop.store.scan import scan

    held = scan(sources).fingerprints if manifest.excluded else {}
    return [
        name
        for name in manifest.excluded
        if not any(name == file or name.startswith(f"{file}/") for file in held)
    ]
