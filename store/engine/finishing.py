"""The last of a generation: what holds of the whole, and the check that all of it is there."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexloop.core.errors import EngineError
from lexloop.store.engine.bulk import Action, Bulk
from lexloop.store.engine.columns import key_of, packed
from lexloop.store.engine.failure import status_of
from lexloop.store.engine.generation import Generation
from lexloop.store.engine.schema import KINDS, MANIFEST_ID
from lexloop.store.engine.tally import Tally
from lexloop.store.manifest import Manifest

_COPIED_S, _REQUEST_S, _LATER = 60, 120.0, 408
_PART, _AT_ONCE = 1 << 20, 1000
_GRAPH = 250_000
"""Vectors for each segment that is left: of 10^6 with near copies, one graph joined of all finds
0.76 of the ten best in Elasticsearch, four find 0.96."""


def finish(
    generation: Generation, tally: Tally, manifest: Manifest, graph: Path, rest: Mapping[str, Any]
) -> None:
    """Write what holds of the whole, then make everything visible to searches.

    Args:
        generation: All its documents are written.
        tally: Of them.
        manifest: Of the index.
        graph: The folder with the files of its knowledge graph.
        rest: Further facts for ``EngineContents``.

    Raises:
        EngineError: The engine failed, or has not all that was written.
    """
    files = sorted(graph.iterdir())
    parts = [part for file in files for part in _places(file)]
    about = {
        **rest,
        "manifest": manifest.as_record(),
        "statistics": asdict(tally.statistics()),
        "vocabulary": tally.vocabulary(),
        "profiles": {name: one.as_record() for name, one in tally.profiles.items()},
        "graph": {file.name: file.stat().st_size for file in files},
    }
    whole = {"_index": generation.index("documents"), "_id": key_of(MANIFEST_ID), "record": about}
    with Bulk(generation.engine) as bulk:
        bulk.write(_part(generation, *part) for part in parts)
        bulk.write([whole])
    counts = tally.counts
    expected = {
        "chunks": counts["chunks"],
        "documents": counts["documents"] + 1,
        "relations": counts["triplets"] + len(parts),
    }
    shards = _settle(generation, expected)
    _merge(generation, counts["windows"] / shards)


def _places(file: Path) -> Iterator[tuple[Path, int]]:
    for part in range(-(-file.stat().st_size // _PART)):
        yield file, part


def _part(generation: Generation, file: Path, part: int) -> Action:
    with file.open("rb") as opened:
        opened.seek(part * _PART)
        data = opened.read(_PART)
    return {
        "_index": generation.index("relations"),
        "_id": key_of(f"graph\n{file.name}\n{part}"),
        "graph": file.name,
        "part": part,
        "record": {"data": packed(data)},
    }


def _settle(generation: Generation, expected: Mapping[str, int]) -> int:
    """Refresh the indexes and check their counts; return how many shards the chunks have."""
    engine, names = generation.engine, ",".join(map(generation.index, KINDS))
    engine.ask("POST", f"/{names}/_refresh", patient=True)
    _await_copies(generation, names)
    shards = {}
    for kind, count in expected.items():
        found = engine.ask("GET", f"/{generation.index(kind)}/_count")
        shards[kind] = int(found["_shards"]["total"])
        if (found["count"], found["_shards"]["failed"]) != (count, 0):
            raise EngineError(
                f"{engine.address} has {found['count']} {kind} of {count} written.",
                "Nothing was published. Check that its shards are whole, and run it again.",
            )
    return shards["chunks"]


def _merge(generation: Generation, vectors: float) -> None:
    """Have the chunks merged into few segments; ``vectors`` are those of a shard."""
    # nothing is added to a generation, and one graph of vectors is searched twice as fast
    segments = max(1, math.ceil(vectors / _GRAPH))
    merged = {"max_num_segments": str(segments), "wait_for_completion": "false"}
    with suppress(EngineError):  # one that cannot do so aside answers all the same
        generation.engine.ask("POST", f"/{generation.index('chunks')}/_forcemerge", params=merged)


def _await_copies(generation: Generation, names: str) -> None:
    """Wait a while for every shard to have its copy: what is published outlasts a node."""
    asked = {"wait_for_status": "green", "timeout": f"{_COPIED_S}s"}
    path = f"/_cluster/health/{names}"
    try:
        generation.engine.ask("GET", path, params=asked, seconds=_REQUEST_S)
    except EngineError as error:
        if status_of(error.__cause__) != _LATER:  # the copies come when there is room
            raise


def remove(generation: Generation, first: int, end: int) -> None:
    """Remove what was written of the documents from one place to another, the end not included.

    Raises:
        EngineError: The engine failed.
    """
    engine, asked = generation.engine, {"range": {"ordinal": {"gte": first, "lt": end}}}
    for index in map(generation.index, KINDS):
        body = {"size": _AT_ONCE, "query": asked, "_source": False}
        engine.ask("POST", f"/{index}/_refresh", patient=True)
        while hits := engine.search(index, body):
            with Bulk(engine) as bulk:
                bulk.delete(index, [hit["_id"] for hit in hits])
            engine.ask("POST", f"/{index}/_refresh", patient=True)
