"""Vector search: a chunk is found by its best window.

FAISS searches half-precision vectors: by the exact scan, or by a graph (HNSW). Its fp16 codes are
the very bytes of a float16 array, so an exact index is filled and not made. How far a search of the
graph goes (``effort``: efSearch) is the least that reached the wanted recall@10 against the exact
scan when the index was built. Beyond ``MOST_WINDOWS`` an engine is the answer.
"""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import faiss_library, load_array, save_arrays
from lexloop.core.files import replacing, write_text
from lexloop.models.embedding import Halves, Vectors

Kind = Literal["flat", "hnsw"]
Mask = NDArray[np.bool_]
Neighbours = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Scores and window numbers, each of shape (queries, k), best first; -1 if there are fewer than k.
"""

FLAT_UP_TO, MOST_WINDOWS = 65_536, 500_000
"""Number of windows: up to the first they are scanned; above the second an engine is recommended.
"""
_LINKS, _CONSTRUCTION = 16, 100
_EFFORTS, _RECALL = (128, 192, 256, 384, 512), 0.99
_ADDED, _SCANNED = 20_000, 100_000  # vectors held twice meanwhile
_SAMPLE, _SEED = 200, 13
_NOISE = 1.0  # as long as the vector: a question is about that far from the passage it asks for
_ROUNDING = 1e-5
Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Positions of chunks and their scores, each of shape (found,), best first."""

_VECTORS, _OWNERS, _ABOUT, _FAISS = "vectors.npy", "owners.npy", "dense.json", "vectors.faiss"
_FEW = 20_000
"""Up to this number of allowed windows an exact scan costs less than a filtered walk."""
_SPARE, _GROWTH, _MOST = 8, 4, 4096
_BYTE, _CLOSE = 127.0, 32


@dataclass(frozen=True, eq=False)
class DenseIndex:
    """Unit vectors of windows, the chunk of each, and their search.

    Safe to search from several threads.

    Args:
        vectors: Shape (windows, dimension).
        owners: Position of each window's chunk, shape (windows,), ascending.
        size: Number of chunks.
        kind: flat is exact, hnsw is approximate.
        index: FAISS's graph, for hnsw.
        effort: Number of windows that a search of the graph keeps as candidates.
        recall: The share of the ten best windows that it finds, measured when it was built.
    """

    FILES: ClassVar = (_VECTORS, _OWNERS, _ABOUT, _FAISS)
    """The last file exists for hnsw only."""

    vectors: Halves
    owners: NDArray[np.int32]
    size: int
    kind: Kind
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
            owners: Position of each window's chunk, ascending.
            size: Number of chunks.
            kind: flat, hnsw, or auto: by the number of windows.
        """
        halves: Halves = vectors.astype(np.float16, copy=False)
        few = len(halves) <= (FLAT_UP_TO if kind == "auto" else 0)
        chosen = "hnsw" if kind == "auto" else _kind(kind)
        flat = cls(halves, owners, size, "flat")
        if few or chosen == "flat":
            return flat
        index = replace(flat, kind="hnsw", index=build_hnsw(halves))
        effort, recall = tune(
            halves, lambda queries, effort: index._approximate(queries, 10, None, effort)
        )
        return replace(index, effort=effort, recall=recall)

    def part(self, kept: Mask) -> Self | None:
        """Return the exact index of some chunks, or None if they have too many windows.

        Args:
            kept: Which chunks, shape (size,).
        """
        rows = np.flatnonzero(kept.take(self.owners))
        if len(rows) > FLAT_UP_TO:
            return None
        places = np.cumsum(kept) - 1
        owners = places[self.owners[rows]].astype(np.int32)
        # consecutive rows are used in place; a copy takes as much memory again
        run = len(rows) and rows[-1] - rows[0] == len(rows) - 1
        vectors = self.vectors[rows[0] : rows[-1] + 1] if run else self.vectors[rows]
        return type(self)(vectors, owners, int(np.count_nonzero(kept)), "flat")

    def top(self, queries: Vectors, limit: int, allowed: Mask | None = None) -> list[Ranked]:
        """Return the best chunks of each query; equal scores are sorted by position.

        Args:
            queries: Unit vectors of shape (queries, dimension).
            limit: The most chunks.
            allowed: Which chunks may be found, shape (size,); None for all.
        """
        mask = None if allowed is None else allowed.take(self.owners)
        count = len(self.owners) if mask is None else int(np.count_nonzero(mask))
        if limit <= 0 or not count or not len(queries):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        # a chunk has several windows, but one is enough
        k = limit * math.ceil(len(self.owners) / self.size) + _SPARE
        scores, rows = self._search(queries, min(k, count), mask, count)
        return [
            self._ranked(queries[row : row + 1], (scores[row], rows[row]), limit, mask, count)
            for row in range(len(queries))
        ]

    def _ranked(
        self, query: Vectors, best: Neighbours, limit: int, mask: Mask | None, count: int
    ) -> Ranked:
        """Return one query's chunks, asking for more windows until the result is final.

        It is final if there are enough chunks and the last one beats the last window. FAISS keeps
        an arbitrary choice of windows with equal scores.
        """
        scores, rows = best
        while True:
            real = rows >= 0
            owners, values = self.owners[rows[real]].astype(np.int64), scores[real]
            order = np.lexsort((owners, -values))
            _, firsts = np.unique(owners[order], return_index=True)
            chosen = order[np.sort(firsts)[:limit]]
            settled = len(chosen) == limit and values[chosen[-1]] > scores[-1]
            if settled or len(rows) >= count:
                return owners[chosen], values[chosen]
            more = self._search(query, min(len(rows) * _GROWTH, count), mask, count)
            scores, rows = more[0][0], more[1][0]

    def _search(self, queries: Vectors, k: int, mask: Mask | None, count: int) -> Neighbours:
        """Return the k best of the ``count`` windows that ``mask`` allows."""
        with one_thread():
            fits_coarse = (mask is None or count > _FEW) and k <= _MOST
            if self.kind == "flat":
                more = min(k + _CLOSE, count)
                near = search_flat(self._coarse, in_bytes(queries), more, mask)
            elif fits_coarse:
                return self._approximate(queries, k, mask, self.effort)
            else:
                near = search_flat(self._exact, queries, k, mask)
            scores, rows = _refined(self.vectors, queries, near)
            return scores[:, :k], rows[:, :k]

    def _approximate(self, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Neighbours:
        return _refined(self.vectors, queries, search_hnsw(self.index, queries, k, mask, effort))

    @cached_property
    def _exact(self) -> Any:
        """The exact scan that a graph contains."""
        return faiss_library().downcast_index(self.index.storage)

    @cached_property
    def _coarse(self) -> Any:
        """A scan of vectors in bytes, in less than half of the time of an exact one.

        A cosine is off by about 0.001, so the results are sorted by the vectors themselves.
        """
        faiss = faiss_library()
        index = faiss.IndexScalarQuantizer(
            int(self.vectors.shape[1]),
            faiss.ScalarQuantizer.QT_8bit_direct_signed,
            faiss.METRIC_INNER_PRODUCT,
        )
        most = float(np.abs(self.vectors).max(initial=0))
        for first in range(0, len(self.vectors), _ADDED):
            index.add(in_bytes(self.vectors[first : first + _ADDED], most))
        return index

    def span_of(self, position: int) -> tuple[int, int]:
        """Return a chunk's first window and the one after its last."""
        return int(self._firsts[position]), int(self._firsts[position + 1])

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(self.size + 1))

    def windows_of(self, position: int) -> Vectors:
        """Return a chunk's vectors, shape (windows, dimension), in the text's order."""
        return self.vectors[slice(*self.span_of(position))].astype(np.float32)

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``, and return the SHA-256 of each."""
        about = {
            "kind": self.kind,
            "chunks": self.size,
            "effort": self.effort,
            "recall": self.recall,
        }
        hashes = save_arrays(folder, {_VECTORS: self.vectors, _OWNERS: self.owners})
        hashes[_ABOUT] = write_text(folder / _ABOUT, json.dumps(about))
        if self.kind != "flat":
            faiss = faiss_library()
            with replacing(folder / _FAISS) as file:
                # given a path, FAISS does not report that its last bytes could not be written; the
                # graph's own copy of the vectors is left out
                writer = faiss.PyCallbackIOWriter(file.write)
                faiss.write_index(self.index, writer, faiss.IO_FLAG_SKIP_STORAGE)
            hashes[_FAISS] = file.sha256
        return hashes

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-map the files that ``save`` wrote, read-only."""
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        vectors = load_array(folder / _VECTORS, np.float16, dimensions=2)
        owners = load_array(folder / _OWNERS, np.int32)
        try:
            kind, size = _kind(about["kind"]), int(about["chunks"])
            effort, recall = int(about["effort"]), float(about["recall"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{_ABOUT} lacks what it should say: {error}") from error
        if (
            len(owners) != len(vectors)
            or (np.diff(owners) < 0).any()
            or (len(owners) and not 0 <= int(owners[0]) <= int(owners[-1]) < size)
        ):
            raise ValueError(f"{_VECTORS}, {_OWNERS} and {_ABOUT} do not fit together")
        index = None if kind == "flat" else _read_graph(folder / _FAISS, vectors)
        return cls(vectors, owners, size, kind, index, effort, recall)


def _kind(name: Any) -> Kind:
    if name not in get_args(Kind):
        raise ValueError(f"no kind of vector search is called {name!r}")
    return cast("Kind", name)


def _read_graph(path: Path, vectors: Halves) -> Any:
    faiss = faiss_library()
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    if not isinstance(index, faiss.IndexHNSWSQ) or (index.ntotal, index.d) != vectors.shape:
        raise ValueError(f"{path.name} holds something else than the vectors of {_VECTORS}")
    storage = flat_index(vectors)
    index.storage, index.own_fields = storage, True
    storage.this.disown()  # the graph frees it
    return index


def flat_index(vectors: Halves) -> Any:
    """Return a FAISS index by inner product that scans ``vectors``, shape (windows, dimension)."""
    faiss = faiss_library()
    index = faiss.IndexScalarQuantizer(
        int(vectors.shape[1]), faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    if len(vectors):
        index.add_sa_codes(np.ascontiguousarray(vectors).view(np.uint8))
    return index


def build_hnsw(vectors: Halves) -> Any:
    """Build a FAISS graph over ``vectors``, shape (windows, dimension), by inner product."""
    faiss = faiss_library()
    index = faiss.IndexHNSWSQ(
        int(vectors.shape[1]),
        faiss.ScalarQuantizer.QT_fp16,
        _LINKS,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.hnsw.efConstruction = _CONSTRUCTION
    index.is_trained = True  # half precision needs no training
    # if many vectors are nearly equal, pruning leaves few links, and a vector without links to it
    # is never found: free places go to the nearest pruned links
    index.keep_max_size_level0 = True
    for first in range(0, len(vectors), _ADDED):
        index.add(vectors[first : first + _ADDED].astype(np.float32))
    return index


def in_bytes(rows: NDArray[Any], most: float = 0.0) -> Vectors:
    """Return rows as whole numbers that fit a signed byte; FAISS truncates fractions.

    Args:
        rows: Shape (rows, dimension).
        most: Greatest component of all rows that are compared; 0 to use each row's own.
    """
    floats = rows.astype(np.float32)
    scale = most or np.abs(floats).max(axis=1, keepdims=True, initial=1e-9)
    codes: Vectors = np.rint(floats * np.float32(_BYTE) / np.float32(scale))
    return codes


@contextmanager
def one_thread() -> Iterator[None]:
    """Search with one thread: FAISS's threads are slower for the few queries of a question.

    If others use the processor too, they wait busily for 20 to 50 ms. The setting applies to the
    calling thread only.
    """
    faiss = faiss_library()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def search_flat(index: Any, queries: Vectors, k: int, mask: Mask | None = None) -> Neighbours:
    """Return the k best windows by an exact scan."""
    faiss = faiss_library()
    chosen = None if mask is None else faiss.SearchParameters(sel=_selector(mask))
    scores, rows = index.search(queries, k, params=chosen)
    return scores, rows


def search_hnsw(index: Any, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Neighbours:
    """Return the k best windows by a walk of the graph."""
    faiss = faiss_library()
    wide = max(effort, k)
    if mask is None:
        chosen = faiss.SearchParametersHNSW(efSearch=wide)
    else:  # the walk passes windows that are not allowed too, so it has to be the longer
        share = max(int(np.count_nonzero(mask)), 1) / len(mask)
        wide = int(wide / share)
        chosen = faiss.SearchParametersHNSW(efSearch=wide, sel=_selector(mask))
    scores, rows = index.search(queries, k, params=chosen)
    return scores, rows


def _refined(vectors: Halves, queries: Vectors, nearest: Neighbours) -> Neighbours:
    """Return the windows, scored and sorted by their exact vectors, however they were found.

    FAISS's own refinement would hold every vector in memory a second time.
    """
    scores, windows = np.full(nearest[0].shape, -np.inf, dtype=np.float32), nearest[1].copy()
    for row, query in enumerate(queries):
        real = np.sort(windows[row][windows[row] >= 0])
        exact = np.einsum("ij,j->i", vectors[real].astype(np.float32), query)
        order = np.argsort(-exact, kind="stable")
        scores[row, : len(real)], windows[row, : len(real)] = exact[order], real[order]
    return scores, windows


def _selector(mask: Mask) -> Any:
    """Return FAISS's selector of the windows in a mask."""
    return faiss_library().IDSelectorBitmap(np.packbits(mask, bitorder="little"))


def tune(vectors: Halves, search: Callable[[Vectors, int], Neighbours]) -> tuple[int, float]:
    """Return the least effort that reaches the wanted recall, or the greatest, and its recall.

    Args:
        vectors: All windows, shape (windows, dimension).
        search: The ten best windows of queries at an effort.

    Returns:
        The effort, and recall@10 against the exact scan on stored vectors with noise added.
    """
    queries = _noisy_sample(vectors)
    limit = min(10, len(vectors))
    tenth = _tenth_best(vectors, queries, limit)
    effort, recall = 0, 0.0
    for effort in _EFFORTS:
        scores, _ = search(queries, effort)
        # windows that score the same as the tenth are as good as it
        recall = float((scores[:, :limit] >= tenth - _ROUNDING).mean())
        if recall >= _RECALL:
            break
    return effort, recall


def _noisy_sample(vectors: Halves) -> Vectors:
    random = np.random.default_rng(_SEED)
    rows = np.sort(random.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False))
    queries = vectors[rows].astype(np.float32)
    noise = random.normal(scale=_NOISE / math.sqrt(vectors.shape[1]), size=queries.shape)
    queries += noise.astype(np.float32)
    unit: Vectors = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return unit


def _tenth_best(vectors: Halves, queries: Vectors, limit: int) -> NDArray[np.float32]:
    """Return the score of each query's ``limit``-th best window, shape (queries, 1)."""
    best = np.full((len(queries), limit), -np.inf, dtype=np.float32)
    for first in range(0, len(vectors), _SCANNED):
        scores, _ = flat_index(vectors[first : first + _SCANNED]).search(queries, limit)
        best = -np.sort(-np.concatenate([best, scores], axis=1), axis=1)[:, :limit]
    return best[:, -1:]
