"""Vector search: a chunk is found by the best of its windows."""

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing, write_text
from lexloop.corpus.arrays import faiss_library, load_array, save_arrays
from lexloop.corpus.index.ann import (
    Found,
    Half,
    Mask,
    build_ivf,
    flat_index,
    one_thread,
    refined,
    search_few,
    search_flat,
    search_ivf,
    tune,
)
from lexloop.models.embedding import Vectors

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Positions of chunks and their scores, each of shape (found,), best first."""

FLAT_UP_TO = 65_536
"""Up to so many windows the exact scan is quick enough unless a setting says otherwise."""
_VECTORS, _OWNERS, _ABOUT, _FAISS = "vectors.npy", "owners.npy", "dense.json", "vectors.faiss"
_FEW = 20_000
"""Up to so many allowed windows an exact scan of them costs less than a filtered search."""
_SPARE, _GROWTH, _MOST = 8, 4, 4096


@dataclass(frozen=True, eq=False)
class DenseIndex:
    """Unit vectors of windows, the chunk each belongs to, and a way to search them.

    Safe to search from several threads.

    Args:
        vectors: Shape (windows, dimension).
        owners: For each window its chunk's position, shape (windows,), ascending.
        size: Number of chunks.
        mean: The mean direction of all windows, shape (dimension,).
        index: FAISS's inverted lists; None where the vectors are scanned.
        effort: How many lists a search visits.
        recall: The share of the ten best windows that it finds, measured when it was built.
    """

    FILES: ClassVar = (_VECTORS, _OWNERS, _ABOUT, _FAISS)
    """The last is there for inverted lists alone."""

    vectors: Half
    owners: NDArray[np.int32]
    size: int
    mean: Vectors
    index: Any = None
    effort: int = 0
    recall: float = 1.0

    @property
    def kind(self) -> str:
        """Flat is exact, ivf is approximate."""
        return "flat" if self.index is None else "ivf"

    @classmethod
    def build(
        cls, vectors: NDArray[Any], owners: NDArray[np.int32], size: int, kind: str = "auto"
    ) -> Self:
        """Index given vectors.

        Args:
            vectors: Unit vectors of shape (windows, dimension); kept in half precision.
            owners: For each window its chunk's position, ascending.
            size: Number of chunks.
            kind: flat, ivf, or auto: by the number of windows. A graph (hnsw) can be asked for
                no more: lists find as much in less time and memory.
        """
        halves: Half = vectors.astype(np.float16, copy=False)
        flat = cls(halves, owners, size, _direction(halves))
        large = len(halves) > FLAT_UP_TO if _known(kind) == "auto" else kind != "flat"
        if not large or not len(halves):
            return flat
        index = replace(flat, index=build_ivf(halves))
        effort, recall = tune(
            halves, lambda queries, lists: index._listed(queries, 10, None, lists)
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
        self, query: Vectors, best: Found, limit: int, mask: Mask | None, count: int
    ) -> Ranked:
        """One query's chunks, after asking for more windows where those at hand do not settle it.

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

    def _search(self, queries: Vectors, k: int, mask: Mask | None, count: int) -> Found:
        """The k best of the ``count`` windows that ``mask`` allows."""
        with one_thread() if len(queries) == 1 else nullcontext():
            if self.index is None:
                return search_flat(self._flat, queries, k, mask)
            if mask is not None and count <= _FEW:
                return search_few(self.vectors, queries, k, mask)
            some = count > _FEW and k <= _MOST
            return self._listed(queries, k, mask, self.effort if some else self.index.nlist)

    def _listed(self, queries: Vectors, k: int, mask: Mask | None, lists: int) -> Found:
        found = search_ivf(self.index, queries, k, mask, lists)
        return refined(self.vectors, queries, found)

    @cached_property
    def _flat(self) -> Any:
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
        """The mean direction of (allowed) windows, shape (dimension,): what they are about."""
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
        hashes = save_arrays(folder, {_VECTORS: self.vectors, _OWNERS: self.owners})
        hashes[_ABOUT] = write_text(folder / _ABOUT, json.dumps(about))
        if self.index is not None:
            faiss = faiss_library()
            with replacing(folder / _FAISS) as file:
                # given a path FAISS does not say that its last bytes could not be written
                faiss.write_index(self.index, faiss.PyCallbackIOWriter(file.write))
            hashes[_FAISS] = file.sha256
        return hashes

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map what ``save`` wrote into memory, read-only; a graph of before is not read.

        Raises:
            OSError, ValueError: A file is missing, or they are no such index.
        """
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        vectors = load_array(folder / _VECTORS, np.float16, dimensions=2)
        owners = load_array(folder / _OWNERS, np.int32)
        try:
            kind, size = _known(about["kind"]), int(about["chunks"])
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
        if kind != "ivf":
            return cls(vectors, owners, size, mean)
        index = _read_lists(folder / _FAISS, vectors)
        return cls(vectors, owners, size, mean, index, effort, recall)


def _direction(halves: Half) -> Vectors:
    mean = np.zeros(halves.shape[1], dtype=np.float32)
    if len(halves):
        mean = halves.mean(axis=0, dtype=np.float32)
        mean /= max(float(np.linalg.norm(mean)), 1e-9)
    return mean


def _known(kind: Any) -> str:
    if kind not in ("auto", "flat", "ivf", "hnsw"):
        raise ValueError(f"no kind of vector search is called {kind!r}")
    return str(kind)


def _read_lists(path: Path, vectors: Half) -> Any:
    faiss = faiss_library()
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    same = isinstance(index, faiss.IndexIVFScalarQuantizer)
    if not same or (index.ntotal, index.d) != vectors.shape:
        raise ValueError(f"{path.name} holds something else than the vectors of {_VECTORS}")
    return index
