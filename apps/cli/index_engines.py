"""``lexloop index push``, ``pull`` and ``verify``: indexes in Elasticsearch and OpenSearch."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import bar
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.stored import embedder_of, manifest_in, manifest_named
from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.apps.hosts import engine_hosts
from lexloop.core.errors import CorpusError, InputError
from lexloop.store.engine.address import FLOAT, USUAL, Storage, vector_kind

_Address = Annotated[
    str,
    typer.Argument(metavar="ADDRESS", help="Such as opensearch://HOST:9200/NAME."),
]
Vectors = Annotated[
    str,
    option(
        "How coarsely an engine keeps the vectors that it searches; the coarser, the less memory. "
        "binary is Elasticsearch's alone.",
        "float|int8|binary",
    ),
]

Shards = Annotated[int, option("Into how many parts an engine splits it.", min=1, max=1024)]


@reported
def push(
    *,
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the index.")],
    address: _Address,
    shards: Shards = 1,
    vectors: Vectors = FLOAT,
    as_json: options.AsJson = False,
) -> None:
    """Copy an index into Elasticsearch or OpenSearch; nothing is embedded again.

    Whoever asks there sees the index before until all of the new one is there.
    """
    from lexloop.store.engine.address import Address
    from lexloop.store.engine.moving import push_index

    began = time.perf_counter()
    held, place = manifest_in(index), str(Address.parse(address))
    storage = storage_at(place, vectors, shards)
    say_where_text_goes(engine_hosts(place))
    with bar() as report:
        embedder = embedder_of(held)
        counts = push_index(index, place, embedder, report, storage)
    _show_copied(str(index), place, counts, began, as_json)


@reported
def pull(
    *,
    address: _Address,
    out: Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the new index.")],
    as_json: options.AsJson = False,
) -> None:
    """Copy an index out of an engine to this machine; nothing is embedded again."""
    from lexloop.store.engine.address import Address
    from lexloop.store.engine.moving import pull_index

    began = time.perf_counter()
    place = str(Address.parse(address))
    if out.exists():
        raise CorpusError(f"{out} already exists.", "Name another folder, or remove it.")
    held = manifest_named(place)
    with bar() as report:
        counts = pull_index(place, out, embedder_of(held), report)
    _show_copied(place, str(out), counts, began, as_json)


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
    """Check every byte of an index, and that its parts agree; exits with 5 where they do not.

    Of an index in an engine the counts and hashes are checked; with --against, those and a sample
    of its rankings are compared with an index on this machine.
    """
    from lexloop.store.engine.address import is_address

    began = time.perf_counter()
    embedder = embedder_of(manifest_named(index))
    counts: dict[str, Any]
    if is_address(index):
        from lexloop.store.engine.moving import verify_engine

        counts = verify_engine(index, against, embedder)
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
        found = {"index": index, "sound": True, **counts, "seconds": round(seconds, 2)}
        write_json(found)
        return
    agree = counts.pop("overlap", None)
    held = ", ".join(f"{count} {name}" for name, count in counts.items())
    alike = "" if agree is None else f", {agree:.1%} of the first ten hits alike"
    say(f"Sound: {held}{alike}, in {seconds:.1f} s")


def storage_at(place: str, vectors: str, shards: int) -> Storage:
    """Return how an index at a place is to be kept.

    Raises:
        SettingsError: The engine has no such kind of vectors.
        InputError: Something is said of an index in a folder.
    """
    from lexloop.store.engine.address import Address, is_address

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
    held = ", ".join(f"{counts[name]} {name}" for name in ("documents", "chunks", "triplets"))
    say(f"{held} in {seconds:.1f} s -> {place}")
