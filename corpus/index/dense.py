"""Vector search: a chunk is found by the best of its windows."""

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing, write_text
from lexloop.corpus.arrays import faiss_library, load_array, save_array
from lexloop.corpus.index.ann import (
    Found,
    Half,
    Kind,
    Mask,
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
from lexloop.models.embedding import Vectors

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Positions of chunks and their scores, each of shape (found,), best first."""

_VECTORS, _OWNERS, _ABOUT, _FAISS = "vectors.npy", "owners.npy", "dense.json", "vectors.faiss"
_FEW = 20_000
"""Up to so many allowed windows an exact scan of them costs less than a filtered walk."""
_SPARE, _GROWTH, _MOST = 8, 4, 4096


@dataclass(frozen=True, eq=False)
class DenseIndex:
    """Unit vectors of windows, the chunk each belongs to, and a way to search them.

    Safe to search from several threads.

    Args:
        vectors: Shape (windows, dimension).
        owners: For each window its chunk's position, shape (windows,), ascending.
        size: Number of chunks.
        kind: flat is exact, hnsw and ivf are approximate.
        mean: The mean direction of all windows, shape (dimension,).
        index: The FAISS index of an approximate kind.
        effort: How far an approximate search goes.
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
        """Index given vectors.

        Args:
            vectors: Unit vectors of shape (windows, dimension); kept in half precision.
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
        """For each query the best chunks, equal ones by position.

        Args:
            queries: Unit vectors of shape (queries, dimension).
            limit: How many chunks at most.
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
        self,
        query: Vectors,
        best: Found,
        limit: int,
        mask: Mask | None,
        count: int,
    ) -> Ranked:
        """One query's chunks, after asking for more windows where those at hand do not settle it.

        They do when enough chunks are among them and the last of these beats the last window: of
        windows that score the same, FAISS keeps whichever it likes.
        """
        scores, found = best
        while True:
            k = len(found)
            positions, values = self._by_chunk(scores, found, limit)
            settled = len(positions) == limit and values[-1] > scores[-1]
            if settled or k >= count:
                return positions, values
            more = self._search(query, min(k * _GROWTH, count), mask, count)
            scores, found = more[0][0], more[1][0]

    def _by_chunk(
        self, scores: NDArray[np.float32], found: NDArray[np.int64], limit: int
    ) -> Ranked:
        real = found >= 0
        owners, scores = self.owners[found[real]].astype(np.int64), scores[real]
        order = np.lexsort((owners, -scores))
        _, firsts = np.unique(owners[order], return_index=True)
        best = order[np.sort(firsts)[:limit]]
        return owners[best], scores[best]

    def _search(self, queries: Vectors, k: int, mask: Mask | None, count: int) -> Found:
        """The k best of the ``count`` windows that ``mask`` allows."""
        many = count > _FEW and k <= _MOST
        with one_thread() if len(queries) == 1 else nullcontext():
            if self.kind == "flat" or (self.kind == "hnsw" and not many):
                return search_flat(self._flat, queries, k, mask)
            if self.kind == "ivf" and mask is not None and count <= _FEW:
                return search_few(self.vectors, queries, k, mask)
            return self._approximate(queries, k, mask, self.effort if many else self.index.nlist)

    def _approximate(self, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Found:
        if self.kind == "hnsw":
            return search_hnsw(self.index, queries, k, mask, effort)
        found = search_ivf(self.index, queries, k, mask, effort)
        return refined(self.vectors, queries, found)

    @cached_property
    def _flat(self) -> Any:
        """The exact scan; a graph has its own in it."""
        if self.kind == "hnsw":
            return faiss_library().downcast_index(self.index.storage)
        return flat_index(self.vectors)

    def span_of(self, position: int) -> tuple[int, int]:
        """One chunk's first window and the one after its last."""
        return int(self._firsts[position]), int(self._firsts[position + 1])

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(self.size + 1))

    def windows_of(self, position: int) -> Vectors:
        """The vectors of one chunk's windows, shape (windows, dimension); as ``window_texts``."""
        return self.vectors[slice(*self.span_of(position))].astype(np.float32)

    def centre(self, allowed: Mask | None = None) -> Vectors:
        """The mean direction of windows, shape (dimension,): what their documents are about.

        Args:
            allowed: Of which chunks, shape (size,); all where it is None.
        """
        return self.mean if allowed is None else _direction(self.vectors[allowed[self.owners]])

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``; the SHA-256 of each.

        Raises:
            OSError: The disk is full or the folder cannot be written.
        """
        about = {
            "kind": self.kind,
            "chunks": self.size,
            "effort": self.effort,
            "recall": self.recall,
            "mean": self.mean.tolist(),
        }
        hashes = {
            _VECTORS: save_array(folder / _VECTORS, self.vectors),
            _OWNERS: save_array(folder / _OWNERS, self.owners),
            _ABOUT: write_text(folder / _ABOUT, json.dumps(about)),
        }
        if self.kind != "flat":
            hashes[_FAISS] = _write_faiss(folder / _FAISS, self.index)
        return hashes

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map what ``save`` wrote into memory, read-only.

        Raises:
            OSError, ValueError: A file is missing, or they are no such index.
        """
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
    for kind in get_args(Kind):
        if name == kind:
            found: Kind = kind
            return found
    raise ValueError(f"no kind of vector search is called {name!r}")


def _write_faiss(path: Path, index: Any) -> str:
    faiss = faiss_library()
    with replacing(path) as file:
        # given a path FAISS does not say that the last of its bytes could not be written; a graph's
        # own copy of the vectors is left out
        writer = faiss.PyCallbackIOWriter(file.write)
        faiss.write_index(index, writer, faiss.IO_FLAG_SKIP_STORAGE)
    return file.sha256


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
