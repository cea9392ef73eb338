"""Exact search over half-precision vectors, and the FAISS parts that every kind of search shares.

FAISS's fp16 codes are the very bytes of a float16 array, so such an index is filled and not made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.arrays import faiss_library
from lexloop.models.embedding import Vectors

Half = NDArray[np.float16]
Mask = NDArray[np.bool_]
Found = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Scores and window numbers, each of shape (queries, k), best first; -1 where there is none."""

_AT_ONCE = 100_000  # vectors held a second time meanwhile: 77 MB of 384 dimensions


def flat_index(vectors: Half) -> Any:
    """A FAISS inner-product index that scans ``vectors``, shape (windows, dimension)."""
    faiss = faiss_library()
    index = faiss.IndexScalarQuantizer(
        int(vectors.shape[1]), faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    if len(vectors):
        index.add_sa_codes(np.ascontiguousarray(vectors).view(np.uint8))
    return index


def share_of(mask: Mask) -> float:
    """The share of the windows that may be found, above 0."""
    return max(int(np.count_nonzero(mask)), 1) / len(mask)


@contextmanager
def one_thread() -> Iterator[None]:
    """FAISS's threads wait for each other longer than one of them scans for one query.

    The number is that of the calling thread; others keep theirs.
    """
    faiss = faiss_library()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def selector(mask: Mask) -> Any:
    """What tells FAISS which windows may be found."""
    faiss = faiss_library()
    return faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))


def search_flat(index: Any, queries: Vectors, k: int, mask: Mask | None) -> Found:
    """The k best windows by a whole scan."""
    faiss = faiss_library()
    chosen = None if mask is None else faiss.SearchParameters(sel=selector(mask))
    scores, found = index.search(queries, k, params=chosen)
    return scores, found


def search_few(vectors: Half, queries: Vectors, k: int, mask: Mask) -> Found:
    """The k best of the few windows that ``mask`` allows, whose vectors alone are read."""
    rows = np.flatnonzero(mask)
    scores, places = search_flat(flat_index(vectors[rows]), queries, k, None)
    return scores, np.where(places < 0, -1, rows[places])


def best_scores(vectors: Half, queries: Vectors, k: int) -> NDArray[np.float32]:
    """The k best scores of each query among all windows, best first, shape (queries, k)."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for first in range(0, len(vectors), _AT_ONCE):
        part = flat_index(vectors[first : first + _AT_ONCE])
        scores, _ = part.search(queries, k)
        best = -np.sort(-np.concatenate([best, scores], axis=1), axis=1)[:, :k]
    return best
