"""``lexloop index push`` and ``verify``: indexes in Elasticsearch and OpenSearch."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import bar
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.stored import embedder_of, manifest_in
from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.apps.hosts import engine_hosts

_Address = Annotated[
    str,
    typer.Argument(metavar="ADDRESS", help="Such as opensearch://HOST:9200/NAME."),
]


@reported
def push(
    *,
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the index.")],
    address: _Address,
    shards: Annotated[
        int, option("Into how many parts the engine splits it.", min=1, max=1024)
    ] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Copy an index into Elasticsearch or OpenSearch; nothing is embedded again.

    Whoever asks there sees the index before until all of the new one is there.
    """
    from lexloop.corpus.engine.address import Address
    from lexloop.corpus.engine.push import push_index

    began = time.perf_counter()
    held, place = manifest_in(index), str(Address.parse(address))
    say_where_text_goes(engine_hosts(place))
    with bar() as report:
        counts = push_index(index, place, embedder_of(held), report, shards)
    _show_copied(str(index), place, counts, began, as_json)


@reported
def verify(
    *,
    index: options.Index,
    as_json: options.AsJson = False,
) -> None:
    """Check every byte of an index, and that its parts agree; exits with 5 where they do not."""
    from lexloop.corpus.index.verify import verify_index

    began = time.perf_counter()
    counts = verify_index(Path(index), embedder_of(manifest_in(Path(index))))
    seconds = time.perf_counter() - began
    if as_json:
        found = {"index": index, "sound": True, **counts, "seconds": round(seconds, 2)}
        write_json(found)
        return
    held = ", ".join(f"{count} {name}" for name, count in counts.items())
    say(f"Sound: {held}, in {seconds:.1f} s")


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
