"""Approximate search over many windows: a navigable graph (HNSW), or lists with 8-bit codes (IVF).

How far a search goes (``effort``: efSearch, or the lists visited) is the least that reached the
wanted recall@10 against the exact scan when the index was built.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from lexloop.corpus.arrays import faiss_library
from lexloop.corpus.index.flat import Found, Half, Mask, best_scores, flat_index, selector, share_of
from lexloop.models.embedding import Vectors

Kind = Literal["flat", "hnsw", "ivf"]

FLAT_UP_TO, HNSW_UP_TO = 65_536, 500_000
_LINKS, _CONSTRUCTION = 16, 100
_HNSW_EFFORTS, _HNSW_RECALL = (128, 192, 256, 384, 512), 0.99
_IVF_EFFORTS, _IVF_RECALL = (32, 48, 64, 96, 128, 192, 256), 0.97
_TRAINED_ON = 50  # vectors a list: FAISS asks for 39 at least
_AT_ONCE = 20_000
_SAMPLE, _SEED = 200, 13
_NOISE = 1.0  # as long as the vector: a question is about that far from the passage it asks for
_ROUNDING = 1e-5


def kind_for(windows: int) -> Kind:
    """How that many windows are searched unless a setting says otherwise."""
    if windows <= FLAT_UP_TO:
        return "flat"
    return "hnsw" if windows <= HNSW_UP_TO else "ivf"


def build_hnsw(vectors: Half) -> Any:
    """A FAISS graph over ``vectors``, shape (windows, dimension), by inner product."""
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
    """FAISS lists of 8-bit codes over ``vectors``, shape (windows, dimension)."""
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
    for first in range(0, len(vectors), _AT_ONCE):
        index.add(vectors[first : first + _AT_ONCE].astype(np.float32))


def search_hnsw(index: Any, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Found:
    """The k best windows that a walk of the graph meets."""
    faiss = faiss_library()
    wide = max(effort, k)
    if mask is None:
        chosen = faiss.SearchParametersHNSW(efSearch=wide)
    else:  # the walk passes windows that are not allowed too, so it has to be the longer
        chosen = faiss.SearchParametersHNSW(efSearch=int(wide / share_of(mask)), sel=selector(mask))
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def search_ivf(index: Any, queries: Vectors, k: int, mask: Mask | None, effort: int) -> Found:
    """The k best windows of the nearest lists by their 8-bit codes."""
    faiss = faiss_library()
    if mask is None:
        chosen = faiss.SearchParametersIVF(nprobe=min(effort, index.nlist))
    else:  # fewer allowed windows in a list, more lists
        lists = min(int(effort / share_of(mask)), index.nlist)
        chosen = faiss.SearchParametersIVF(nprobe=lists, sel=selector(mask))
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def scored_again(vectors: Half, queries: Vectors, found: Found) -> Found:
    """The windows found by their codes, with their scores and their order by the vectors."""
    scores, windows = np.full(found[0].shape, -np.inf, dtype=np.float32), found[1].copy()
    for row in range(len(queries)):
        real = np.sort(windows[row][windows[row] >= 0])
        if len(real):
            exact = flat_index(vectors[real])
            best, places = exact.search(queries[row : row + 1], len(real))
            scores[row, : len(real)], windows[row, : len(real)] = best[0], real[places[0]]
    return scores, windows


def tune(vectors: Half, kind: Kind, search: Callable[[Vectors, int], Found]) -> tuple[int, float]:
    """The least effort that reaches the wanted recall, or the most there is.

    Args:
        vectors: All windows, shape (windows, dimension).
        kind: What is searched; of the flat kind nothing is asked.
        search: The ten best windows of queries at an effort.

    Returns:
        The effort, and recall@10 against the exact scan on stored vectors with noise added.
    """
    efforts, wanted = (
        (_HNSW_EFFORTS, _HNSW_RECALL) if kind == "hnsw" else (_IVF_EFFORTS, _IVF_RECALL)
    )
    queries = _noisy_sample(vectors)
    limit = min(10, len(vectors))
    tenth = best_scores(vectors, queries, limit)[:, -1:]
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
