"""``lexloop index``: makes an index of a folder, keeps it up to date, and looks into it."""

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.index_writing import (
    OPTIONS,
    index_report,
    kept_for,
    show_outcome,
    show_report,
    write,
)
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import bar, reported, say, write_json
from lexloop.apps.shapes.record import engine_hosts
from lexloop.core.errors import CorpusError, InputError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.store.address import FLOAT, USUAL, Address, Storage, is_address, vector_kind

if TYPE_CHECKING:
    from lexloop.models.embedding import Embedder
    from lexloop.store.manifest import IndexSource, Manifest

_Index = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the index.")]
_Address = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="Such as opensearch://HOST:9200/NAME.")
]
_Vectors = Annotated[
    str,
    option(
        "How coarsely an engine stores the vectors that it searches. Coarser vectors need less "
        "memory. Only Elasticsearch has binary.",
        "float|int8|binary",
    ),
]
_Shards = Annotated[int, option("Into how many parts an engine splits it.", min=1, max=1024)]
_Prefix = Annotated[
    str, option("Prefix of the names of these documents.", "NAME/", flag="--prefix")
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
    vectors: _Vectors = FLOAT,
    shards: _Shards = 1,
    force: Annotated[bool, option("Replace an existing index.", flag="--force")] = False,
    prefix: _Prefix = "",
    as_json: options.AsJson = False,
) -> None:
    """Index documents once, for any number of questions.

    With --set index.triplets=model and --model, the model reads out the knowledge graph.
    """
    if out is None:
        suggested = f"{Path(folder).absolute().name or 'documents'}.index"
        command = shlex.join(["lexloop", "index", folder, "--out", suggested])
        raise InputError(
            "There is no --out, the folder that the index is written to.",
            f"Give one, e.g. `{command}`.",
        )
    storage = _storage_at(out, vectors, shards)
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
    """Add documents. Later updates include them."""
    manifest, new = _manifest_in(index), _sources(paths, prefix)
    sources = list(dict.fromkeys([*manifest.sources, *new]))
    write(index, sources, context.params, manifest, excluded=_still_excluded(manifest, new))


@commands.command()
@options.taking("chunking.method", *options.MODEL, "deadline_s", **OPTIONS)
def update(
    *,
    context: typer.Context,
    index: _Index,
    source: Annotated[
        Path | None, option("Where the documents lie now, if they moved.", "DIR")
    ] = None,
    force: Annotated[bool, option("Read and index everything again.", flag="--force")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Bring an index up to date: only what changed is read and embedded.

    Given settings replace those of the index. If one of them shapes the index, everything is
    indexed again.
    """
    manifest = _manifest_in(index)
    sources = list(manifest.sources)
    if source is not None:
        if len(sources) != 1:
            raise CorpusError(
                f"The index {index} has {len(sources)} sources, and --source names one.",
                "Leave --source out.",
            )
        sources = _sources([source], sources[0].prefix)
    write(index, sources, context.params, manifest, excluded=None, fresh=force)


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

    manifest = _manifest_in(index)
    known = _known_names(index, manifest)
    for name in names:
        if name not in known:
            raise CorpusError(
                f"The index {index} holds no document {name!r}.",
                f"See `lexloop index info {index} --documents`.",
            )
    began = time.perf_counter()
    without = {"model.name": None, "index.triplets": "embedded"}
    settings = Settings(**{**manifest.settings, **without})
    tools = tools_for(settings, _embedder_of(manifest))
    with bar() as report:
        outcome = remove_documents(index, names, tools, progress=report)
    show_outcome(index, outcome, time.perf_counter() - began, as_json)


@commands.command()
@reported
def push(
    *,
    index: _Index,
    address: _Address,
    shards: _Shards = 1,
    vectors: _Vectors = FLOAT,
    as_json: options.AsJson = False,
) -> None:
    """Copy an index into Elasticsearch or OpenSearch; nothing is embedded again.

    Whoever asks there sees the index before until all of the new one is there.
    """
    from lexloop.store.engines import engines_for

    began = time.perf_counter()
    manifest, place = _manifest_in(index), str(Address.parse(address))
    storage = _storage_at(place, vectors, shards)
    say_where_text_goes(engine_hosts(place))
    with bar() as report:
        embedder = _embedder_of(manifest)
        counts = engines_for(place).push_index(index, place, embedder, report, storage)
    _show_copied(str(index), place, counts, began, as_json)


@commands.command()
@reported
def pull(
    *,
    address: _Address,
    out: Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the new index.")],
    as_json: options.AsJson = False,
) -> None:
    """Copy an index out of an engine to this machine; nothing is embedded again."""
    from lexloop.store.engines import engines_for

    began = time.perf_counter()
    place = str(Address.parse(address))
    if out.exists():
        raise CorpusError(f"{out} already exists.", "Name another folder, or remove it.")
    manifest = _manifest_named(place)
    with bar() as report:
        counts = engines_for(place).pull_index(place, out, _embedder_of(manifest), report)
    _show_copied(place, str(out), counts, began, as_json)


@commands.command()
@reported
def verify(
    *,
    index: options.Index,
    against: Annotated[
        Path | None,
        option("An index on this machine that the one in an engine must agree with.", "INDEX"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check every byte of an index, and that its parts agree. Exits with 5 if they do not.

    For an index in an engine, counts and hashes are checked. With --against, those and a sample of
    its rankings are compared with an index on this machine.
    """
    began = time.perf_counter()
    embedder = _embedder_of(_manifest_named(index))
    counts: dict[str, Any]
    if is_address(index):
        from lexloop.store.engines import engines_for

        counts = engines_for(index).verify_engine(index, against, embedder)
    else:
        from lexloop.store.opening import verify_index

        if against is not None:
            raise InputError(
                f"{index} lies on this machine, and --against compares what an engine holds.",
                "Leave --against out, or name the address first.",
            )
        counts = {**verify_index(Path(index), embedder)}
    seconds = time.perf_counter() - began
    if as_json:
        result = {"index": index, "sound": True, **counts, "seconds": round(seconds, 2)}
        write_json(result)
        return
    agree = counts.pop("overlap", None)
    summary = ", ".join(f"{count} {name}" for name, count in counts.items())
    alike = "" if agree is None else f", {agree:.1%} of the first ten hits alike"
    say(f"Sound: {summary}{alike}, in {seconds:.1f} s")


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
    """Show what an index contains, how it was made, what was left out, and what is misnumbered.

    Documents are listed as visible with the given tags, of any day unless one is given. If
    documents have tags, what was left out is counted but not named.
    """
    from lexloop.store.opening import open_stored

    access = Filters.of(options.chosen_settings(context.params, {"access.as_of": "any"}))
    manifest = _manifest_named(index)
    with closing(open_stored(index, _embedder_of(manifest))) as collection:
        view = collection.seen_by(access)
        report = index_report(index, manifest, collection, view)
        if documents:
            metadata = view.metadata(view.documents)
            report["list"] = [
                {"document": name, **metadata[name].as_record()} for name in view.documents
            ]
    if as_json:
        write_json(report)
    else:
        show_report(report)


def _sources(paths: Sequence[Path | str], prefix: str) -> "list[IndexSource]":
    from lexloop.store.manifest import IndexSource

    return [
        IndexSource(
            source if "://" in source else str(Path(source).expanduser().absolute()), prefix
        )
        for source in map(str, paths)
    ]


def _check_places(folder: Path | None, out: Path, force: bool) -> None:
    """Refuse an occupied output or an invalid source before the work instead of after it.

    ``folder`` is None if a cluster lists the source, which need not be a folder.
    """
    from lexloop.documents.reading.folder import list_sources
    from lexloop.store.folder.generations import is_unfinished

    if folder is not None and not folder.is_file():
        _refuse_address(folder, "Copy that index here: `lexloop index pull ADDRESS INDEX`.")
        list_sources(folder.expanduser())
    if not out.exists() or (force and is_index(out)) or is_unfinished(out):
        return
    if is_index(out):
        raise CorpusError(
            f"The index {out} already exists.",
            "Bring it up to date with `lexloop index update`, or pass --force to replace it.",
        )
    raise CorpusError(f"{out} already exists and is not an index.", "Choose another folder.")


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

    fingerprints = scan(sources).fingerprints if manifest.excluded else {}
    return [
        name
        for name in manifest.excluded
        if not any(name == file or name.startswith(f"{file}/") for file in fingerprints)
    ]


def _storage_at(place: str, vectors: str, shards: int) -> Storage:
    """Return how an index at a place is to be kept; in a folder nothing can be said of that."""
    if is_address(place):
        return Storage(vector_kind(Address.parse(place).product, vectors), shards)
    if (vectors, shards) != USUAL:
        raise InputError(
            f"{place} lies on this machine, and --vectors and --shards say how an engine keeps it.",
            "Leave them out; --set index.dense chooses how vectors are searched here.",
        )
    return USUAL


def _show_copied(
    source: str, place: str, counts: dict[str, int], began: float, as_json: bool
) -> None:
    seconds = time.perf_counter() - began
    if as_json:
        report: dict[str, Any] = {"from": source, "to": place, **counts}
        write_json({**report, "seconds": round(seconds, 2)})
        return
    summary = ", ".join(f"{counts[name]} {name}" for name in ("documents", "chunks", "triplets"))
    say(f"{summary} in {seconds:.1f} s -> {place}")


def _manifest_in(index: Path) -> "Manifest":
    """Return the manifest of an index on this machine; an address is refused."""
    from lexloop.store.manifest import Manifest

    _refuse_address(
        index, "Change the index on this machine, then `lexloop index push INDEX ADDRESS`."
    )
    if not is_index(index):
        raise CorpusError(
            f"{index} is not an index.", "Make one with `lexloop index DIR --out INDEX`."
        )
    return Manifest.read(index)


def _refuse_address(path: Path, hint: str) -> None:
    """Refuse the address of an index in an engine if a path is expected."""
    typed = str(path).replace(":/", "://", 1)  # as a path, an address has lost a slash
    if is_address(typed):
        raise InputError(
            f"{typed} is an address in an engine, and this command takes a folder.", hint
        )


def _manifest_named(index: str) -> "Manifest":
    """Return the manifest of an index, by its folder or by its address in an engine."""
    from lexloop.store.engines import engines_for

    if is_address(index):
        return engines_for(index).manifest_of(index)
    return _manifest_in(Path(index))


def _embedder_of(manifest: "Manifest") -> "Embedder":
    """Return the embedder that made the vectors of an index."""
    from lexloop.models.embedders import load_embedder

    name = str(manifest.settings["index.embedder"])
    return load_embedder(name, Connection.from_environment(os.environ))
