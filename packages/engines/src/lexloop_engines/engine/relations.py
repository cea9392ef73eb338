"""The knowledge graph of an index in an engine: its arrays come here once, its triplets stay.

A walk looks at far more edges than it follows, and every step depends on the one before: over the
network each would wait. The arrays take some 100 bytes a triplet; the triplets themselves, which
hold the quotes, are asked for in one request when the walk is over.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.files import cache_folder, publish_folder, replacing
from lexloop.core.types import Triplet
from lexloop_engines.engine.client import Engine
from lexloop_engines.engine.schema import key_of, unpacked

_AT_ONCE, _CHUNKS, _PARTS = 5000, 100, 8


class EngineTriplets:
    """The triplets of an index in an engine, numbered by document and place.

    Args:
        engine: Where they lie.
        index: Names the index, whenever it is read.
        counts: The number of each document's triplets, in the documents' order.
    """

    def __init__(self, engine: Engine, index: Callable[[], str], counts: Mapping[str, int]) -> None:
        self._engine, self._index = engine, index
        self._names = list(counts)
        self._firsts = np.concatenate([[0], np.cumsum(list(counts.values()), dtype=np.int64)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    @cached_property
    def _bases(self) -> dict[str, int]:
        return dict(zip(self._names, self._firsts.tolist(), strict=False))

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with these numbers, in the order asked for."""
        found = list[Triplet]()
        for first in range(0, len(numbers), _AT_ONCE):
            names = [self._place_of(number) for number in numbers[first : first + _AT_ONCE]]
            ids = [key_of(f"{name}\n{place}") for name, place in names]
            told = self._engine.records(self._index(), ids)
            for (name, place), record in zip(names, told, strict=True):
                if record is None:
                    raise DataError(
                        f"The index at {self._engine.address} lacks triplet {place} of {name}.",
                        "Push it again.",
                    )
                found.append(cast("Triplet", {**record, "document": name}))
        return found

    def _place_of(self, number: int) -> tuple[str, int]:
        owner = int(np.searchsorted(self._firsts, number, side="right")) - 1
        return self._names[owner], int(number - self._firsts[owner])

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """Return the triplets' numbers of each chunk; none for an unknown chunk."""
        found: dict[str, list[int]] = {name: [] for name in chunk_ids}
        asked = [*found]
        for first in range(0, len(asked), _CHUNKS):
            wanted = asked[first : first + _CHUNKS]
            body: dict[str, Any] = {
                "size": 10_000,
                "query": {"bool": {"filter": [{"terms": {"chunk": wanted}}]}},
                "_source": False,
                "docvalue_fields": ["document", "chunk", "place"],
            }
            for hit in self._engine.search(self._index(), body):
                fields = hit["fields"]
                base = self._bases[fields["document"][0]]
                found[fields["chunk"][0]].append(base + int(fields["place"][0]))
        return [sorted(found[name]) for name in chunk_ids]


def graph_folder(
    engine: Engine, generation: str, index: Callable[[], str], sizes: Mapping[str, int]
) -> Path:
    """Return the folder of the graph's files on this machine; they are fetched if they are not.

    Args:
        engine: Where they lie.
        generation: The name of theirs.
        index: Names the index, whenever it is read.
        sizes: The bytes of each file.

    Raises:
        DataError: The engine has not all of them.
    """

    def fetch(folder: Path) -> None:
        for name, size in sizes.items():
            with replacing(folder / name) as file:
                left, part = size, 0
                while left > 0:
                    data = _parts(engine, index(), name, part)
                    left, part = left - file.write(data), part + _PARTS

    place = cache_folder().parent / "graphs" / f"{engine.address.name}-{generation}"
    return publish_folder(place, fetch)


def _parts(engine: Engine, index: str, name: str, first: int) -> bytes:
    ids = [key_of(f"graph\n{name}\n{part}") for part in range(first, first + _PARTS)]
    data = [unpacked(one["data"]) for one in engine.records(index, ids) if one]
    if not data:
        raise DataError(f"The index at {engine.address} lacks a part of {name}.", "Push it again.")
    return b"".join(data)
