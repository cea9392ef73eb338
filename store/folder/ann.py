"""FAISS over half-precision vectors: the exact scan, a graph (HNSW), and lists of codes (IVF).

FAISS's fp16 codes are the very bytes of a float16 array, so an exact index is filled and not made.
How far an approximate search goes (``effort``: efSearch, or the lists visited) is the least that
reached the wanted recall@10 against the exact scan when the index was built.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import faiss_library
from lexloop.models.embedding import Vectors

Kind = Literal["flat", "hnsw", "ivf"]
Half = NDArray[np.float16]
Mask = NDArray[np.bool_]
Neighbours = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Scores and window numbers, each of shape (queries, k), best first; -1 where there is none."""

FLAT_UP_TO, HNSW_UP_TO = 65_536, 500_000
_LINKS, _CONSTRUCTION = 16, 100
_HNSW_EFFORTS, _HNSW_RECALL = (128, 192, 256, 384, 512), 0.99
_IVF_EFFORTS, _IVF_RECALL = (32, 48, 64, 96, 128, 192, 256), 0.97
_TRAINED_ON = 50  # vectors a list: FAISS asks for 39 at least
_ADDED, _SCANNED = 20_000, 100_000  # vectors held a second time meanwhile
_SAMPLE, _SEED = 200, 13
_NOISE = 1.0  # as long as the vector: a question is about that far from the passage it asks for
_ROUNDING = 1e-5


def kind_for(windows: int) -> Kind:
    """Return the kind of search for so many windows, unless a setting names one."""
    if windows <= FLAT_UP_TO:
        return "flat"
    return "hnsw" if windows <= HNSW_UP_TO else "ivf"


def flat_index(vectors: Half) -> Any:
    """Return a FAISS index by inner product that scans ``vectors``, shape (windows, dimension)."""
    faiss = faiss_library()
    index = faiss.IndexScalarQuantizer(
        int(vectors.shape[1]), faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    if len(vectors):
        index.add_sa_codes(np.ascontiguousarray(vectors).view(np.uint8))
    return index


def build_hnsw(vectors: Half) -> Any:
    """Build a FAISS graph over ``vectors``, shape (windows, dimension), by inner product."""
    faiss = faiss_library()
    index = faiss.IndexHNSWSQ(
        int(vectors.shape[1]),
        faiss.ScalarQuantizer.QT_fp16,
        _LINKS,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.hnsw.efConstruction = _CONSTRUCTION
    index.is_trained = True  # half precision has nothing to learn
    # the links that pruning leaves are few where many vectors are nearly the same, and a vector to
    # which none leads is never found: the room that is left goes to the nearest of those pruned
    index.keep_max_size_level0 = True
    _add(index, vectors)
    return index


def build_ivf(vectors: Half) -> Any:
    """Build FAISS lists of 8-bit codes over ``vectors``, shape (windows, dimension)."""
    faiss = faiss_library()
    windows, dimension = vectors.shape
    lists = max(1, min(2 * math.isqrt(windows), windows // _TRAINED_ON))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.cp.seed = _SEED
    index.cp.min_points_per_centroid = 1  # no warning where there are few
    sample = np.random.default_rng(_SEED).permutation(windows)[: lists * _TRAINED_ON]
    index.train(vectors[np.sort(sample)].astype(np.float32))
    _add(index, vectors)
    return index


def _add(index: Any, vectors: Half) -> None:
    for first in range(0, len(vectors), _ADDED):
        index.add(vectors[first : first + _ADDED].astype(np.float32))


@contextmanager
def one_thread() -> Iterator[None]:
    """Search with one thread inside: for a question's few queries FAISS's threads wait longer.

    Where others use the processor too, they wait busily for 20 to 50 ms. The number is that of the
    calling thread; others keep theirs.
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
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def search_few(vectors: Half, queries: Vectors, k: int, mask: Mask) -> Neighbours:
    """Return the k best of the few windows in ``mask``; only their vectors are read."""
    rows = np.flatnonzero(mask)
    scores, places = search_flat(flat_index(vectors[rows]), queries, k)
    return scores, np.where(places < 0, -1, rows[places])


def search_hnsw(index: Any, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Neighbours:
    """Return the k best windows by a walk of the graph."""
    faiss = faiss_library()
    wide = max(effort, k)
    if mask is None:
        chosen = faiss.SearchParametersHNSW(efSearch=wide)
    else:  # the walk passes windows that are not allowed too, so it has to be the longer
        wide = int(wide / _share_of(mask))
        chosen = faiss.SearchParametersHNSW(efSearch=wide, sel=_selector(mask))
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def search_ivf(index: Any, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Neighbours:
    """Return the k best windows of the nearest lists by their 8-bit codes."""
    faiss = faiss_library()
    if mask is None:
        chosen = faiss.SearchParametersIVF(nprobe=min(effort, index.nlist))
    else:  # fewer allowed windows in a list, more lists
        lists = min(int(effort / _share_of(mask)), index.nlist)
        chosen = faiss.SearchParametersIVF(nprobe=lists, sel=_selector(mask))
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def refined(vectors: Half, queries: Vectors, found: Neighbours) -> Neighbours:
    """Return the windows found by their codes, scored and ordered by their vectors.

    FAISS's own refinement would hold every vector in memory a second time.
    """
    scores, windows = np.full(found[0].shape, -np.inf, dtype=np.float32), found[1].copy()
    for row in range(len(queries)):
        real = np.sort(windows[row][windows[row] >= 0])
        if len(real):
            best, places = flat_index(vectors[real]).search(queries[row : row + 1], len(real))
            scores[row, : len(real)], windows[row, : len(real)] = best[0], real[places[0]]
    return scores, windows


def _share_of(mask: Mask) -> float:
    """Return the share of the windows in a mask, above 0."""
    return max(int(np.count_nonzero(mask)), 1) / len(mask)


def _selector(mask: Mask) -> Any:
    """Return FAISS's selector of the windows in a mask."""
    return faiss_library().IDSelectorBitmap(np.packbits(mask, bitorder="little"))


def tune(
    vectors: Half, kind: Kind, search: Callable[[Vectors, int], Neighbours]
) -> tuple[int, float]:
    """Return the least effort that reaches the wanted recall, or the greatest, and its recall.

    Args:
        vectors: All windows, shape (windows, dimension).
        kind: The approximate kind that is searched.
        search: The ten best windows of queries at an effort.

    Returns:
        The effort, and recall@10 against the exact scan on stored vectors with noise added.
    """
    efforts, wanted = (
        (_HNSW_EFFORTS, _HNSW_RECALL) if kind == "hnsw" else (_IVF_EFFORTS, _IVF_RECALL)
    )
    queries = _noisy_sample(vectors)
    limit = min(10, len(vectors))
    tenth = _tenth_best(vectors, queries, limit)
    effort, recall = efforts[0], 0.0
    for effort in efforts:
        scores, _ = search(queries, effort)
        # windows that score the same as the tenth are as good as it
        recall = float((scores[:, :limit] >= tenth - _ROUNDING).mean())
        if recall >= wanted:
            break
    return effort, recall


def _noisy_sample(vectors: Half) -> Vectors:
    random = np.random.default_rng(_SEED)
    rows = np.sort(random.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False))
    queries = vectors[rows].astype(np.float32)
    noise = random.normal(scale=_NOISE / math.sqrt(vectors.shape[1]), size=queries.shape)
    queries += noise.astype(np.float32)
    unit: Vectors = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return unit


def _tenth_best(vectors: Half, queries: Vectors, limit: int) -> NDArray[np.float32]:
    """Return the score of each query's ``limit``-th best window, shape (queries, 1)."""
    best = np.full((len(queries), limit), -np.inf, dtype=np.float32)
    for first in range(0, len(vectors), _SCANNED):
        scores, _ = flat_index(vectors[first : first + _SCANNED]).search(queries, limit)
        best = -np.sort(-np.concatenate([best, scores], axis=1), axis=1)[:, :limit]
    return best[:, -1:]
