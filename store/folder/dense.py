"""Vector search: a chunk is found by the best of its windows."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import faiss_library, load_array, save_arrays
from lexloop.core.files import replacing, write_text
from lexloop.models.embedding import Vectors
from lexloop.store.folder.ann import (
    Half,
    Kind,
    Mask,
    Neighbours,
    build_hnsw,
    build_ivf,
    flat_index,
    kind_for,
    one_thread,
    refined,
    search_few,
    search_flat,
    search_hnsw,
    search_ivf,
    tune,
)

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Positions of chunks and their scores, each of shape (found,), best first."""

_VECTORS, _OWNERS, _ABOUT, _FAISS = "vectors.npy", "owners.npy", "dense.json", "vectors.faiss"
_FEW = 20_000
"""The number of allowed windows up to which an exact scan costs less than a filtered walk."""
_SPARE, _GROWTH, _MOST = 8, 4, 4096


@dataclass(frozen=True, eq=False)
class DenseIndex:
    """Unit vectors of windows, the chunk of each, and their search.

    Safe to search from several threads.

    Args:
        vectors: Shape (windows, dimension).
        owners: For each window its chunk's position, shape (windows,), ascending.
        size: Number of chunks.
        kind: flat is exact, hnsw and ivf are approximate.
        mean: The mean direction of all windows, shape (dimension,).
        index: The FAISS index of an approximate kind.
        effort: The extent of an approximate search, as in ``ann``.
        recall: The share of the ten best windows that it finds, measured when it was built.
    """

    FILES: ClassVar = (_VECTORS, _OWNERS, _ABOUT, _FAISS)
    """The last is there for the approximate kinds alone."""

    vectors: Half
    owners: NDArray[np.int32]
    size: int
    kind: Kind
    mean: Vectors
    index: Any = None
    effort: int = 0
    recall: float = 1.0

    @classmethod
    def build(
        cls, vectors: NDArray[Any], owners: NDArray[np.int32], size: int, kind: str = "auto"
    ) -> Self:
        """Build an index of given vectors.

        Args:
            vectors: Unit vectors of shape (windows, dimension); stored in half precision.
            owners: For each window its chunk's position, ascending.
            size: Number of chunks.
            kind: flat, hnsw, ivf, or auto: by the number of windows.
        """
        halves: Half = vectors.astype(np.float16, copy=False)
        chosen = kind_for(len(halves)) if kind == "auto" or not len(halves) else _kind(kind)
        flat = cls(halves, owners, size, "flat", _direction(halves))
        if chosen == "flat":
            return flat
        built = build_hnsw(halves) if chosen == "hnsw" else build_ivf(halves)
        index = replace(flat, kind=chosen, index=built)
        effort, recall = tune(
            halves, chosen, lambda queries, effort: index._approximate(queries, 10, None, effort)
        )
        return replace(index, effort=effort, recall=recall)

    def top(self, queries: Vectors, limit: int, allowed: Mask | None = None) -> list[Ranked]:
        """Return for each query the best chunks, equal ones by position.

        Args:
            queries: Unit vectors of shape (queries, dimension).
            limit: The most chunks.
            allowed: Which chunks may be found, shape (size,); all where it is None.
        """
        mask = None if allowed is None else allowed.take(self.owners)
        count = len(self.owners) if mask is None else int(np.count_nonzero(mask))
        if limit <= 0 or not count or not len(queries):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        # a chunk has several windows, of which one is needed
        k = limit * ceil(len(self.owners) / self.size) + _SPARE
        scores, found = self._search(queries, min(k, count), mask, count)
        return [
            self._ranked(queries[row : row + 1], (scores[row], found[row]), limit, mask, count)
            for row in range(len(queries))
        ]

    def _ranked(
        self, query: Vectors, best: Neighbours, limit: int, mask: Mask | None, count: int
    ) -> Ranked:
        """Return one query's chunks, asking for more windows until they settle it.

        They do when enough chunks are among them and the last of these beats the last window: of
        windows that score the same, FAISS keeps whichever it likes.
        """
        scores, found = best
        while True:
            real = found >= 0
            owners, values = self.owners[found[real]].astype(np.int64), scores[real]
            order = np.lexsort((owners, -values))
            _, firsts = np.unique(owners[order], return_index=True)
            chosen = order[np.sort(firsts)[:limit]]
            settled = len(chosen) == limit and values[chosen[-1]] > scores[-1]
            if settled or len(found) >= count:
                return owners[chosen], values[chosen]
            more = self._search(query, min(len(found) * _GROWTH, count), mask, count)
            scores, found = more[0][0], more[1][0]

    def _search(self, queries: Vectors, k: int, mask: Mask | None, count: int) -> Neighbours:
        """Return the k best of the ``count`` windows that ``mask`` allows."""
        with one_thread():
            many = count > _FEW and k <= _MOST
            if self.kind == "flat" or (self.kind == "hnsw" and not many):
                return search_flat(self._flat, queries, k, mask)
            if self.kind == "ivf" and mask is not None and count <= _FEW:
                return search_few(self.vectors, queries, k, mask)
            return self._approximate(queries, k, mask, self.effort if many else self.index.nlist)

    def _approximate(self, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Neighbours:
        if self.kind == "hnsw":
            return search_hnsw(self.index, queries, k, mask, effort)
        found = search_ivf(self.index, queries, k, mask, effort)
        return refined(self.vectors, queries, found)

    @cached_property
    def _flat(self) -> Any:
        """The exact scan; a graph contains its own."""
        if self.kind == "hnsw":
            return faiss_library().downcast_index(self.index.storage)
        return flat_index(self.vectors)

    def span_of(self, position: int) -> tuple[int, int]:
        """Return a chunk's first window and the one after its last."""
        return int(self._firsts[position]), int(self._firsts[position + 1])

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(self.size + 1))

    def windows_of(self, position: int) -> Vectors:
        """Return a chunk's vectors, shape (windows, dimension), as ``window_texts`` orders."""
        return self.vectors[slice(*self.span_of(position))].astype(np.float32)

    def centroid(self, allowed: Mask | None = None) -> Vectors:
        """Return the mean direction of (allowed) windows, shape (dimension,)."""
        return self.mean if allowed is None else _direction(self.vectors[allowed[self.owners]])

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``, and return the SHA-256 of each."""
        about = {
            "kind": self.kind,
            "chunks": self.size,
            "effort": self.effort,
            "recall": self.recall,
            "mean": self.mean.tolist(),
        }
        hashes = save_arrays(folder, {_VECTORS: self.vectors, _OWNERS: self.owners})
        hashes[_ABOUT] = write_text(folder / _ABOUT, json.dumps(about))
        if self.kind != "flat":
            faiss = faiss_library()
            with replacing(folder / _FAISS) as file:
                # given a path FAISS does not say that the last of its bytes could not be written; a
                # graph's own copy of the vectors is left out
                writer = faiss.PyCallbackIOWriter(file.write)
                faiss.write_index(self.index, writer, faiss.IO_FLAG_SKIP_STORAGE)
            hashes[_FAISS] = file.sha256
        return hashes

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map what ``save`` wrote into memory, read-only."""
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        vectors = load_array(folder / _VECTORS, np.float16, dimensions=2)
        owners = load_array(folder / _OWNERS, np.int32)
        try:
            kind, size = _kind(about["kind"]), int(about["chunks"])
            effort, recall = int(about["effort"]), float(about["recall"])
            mean = np.array(about["mean"], dtype=np.float32)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{_ABOUT} lacks what it should say: {error}") from error
        if (
            len(owners) != len(vectors)
            or mean.shape != vectors.shape[1:]
            or (np.diff(owners) < 0).any()
            or (len(owners) and not 0 <= int(owners[0]) <= int(owners[-1]) < size)
        ):
            raise ValueError(f"{_VECTORS}, {_OWNERS} and {_ABOUT} do not fit together")
        index = None if kind == "flat" else _read_faiss(folder / _FAISS, kind, vectors)
        return cls(vectors, owners, size, kind, mean, index, effort, recall)


def _direction(halves: Half) -> Vectors:
    mean = np.zeros(halves.shape[1], dtype=np.float32)
    if len(halves):
        mean = halves.mean(axis=0, dtype=np.float32)
        mean /= max(float(np.linalg.norm(mean)), 1e-9)
    return mean


def _kind(name: Any) -> Kind:
    if name not in get_args(Kind):
        raise ValueError(f"no kind of vector search is called {name!r}")
    return cast("Kind", name)


def _read_faiss(path: Path, kind: Kind, vectors: Half) -> Any:
    faiss = faiss_library()
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    wanted = {"hnsw": faiss.IndexHNSWSQ, "ivf": faiss.IndexIVFScalarQuantizer}[kind]
    if not isinstance(index, wanted) or (index.ntotal, index.d) != vectors.shape:
        raise ValueError(f"{path.name} holds something else than the vectors of {_VECTORS}")
    if kind == "hnsw":
        storage = flat_index(vectors)
        index.storage, index.own_fields = storage, True
        storage.this.disown()  # the graph frees it
    return index
