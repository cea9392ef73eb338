"""Okapi weights by rank-bm25, from term counts that are ready."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.arrays import Sparse

_AT_ONCE = 4_000_000  # postings weighted at once: bounds the float64 intermediates to some 100 MB


def okapi_weights(
    terms: list[str], counts: Sparse, lengths: NDArray[np.int64]
) -> NDArray[np.float32]:
    """What each posting adds to its chunk's score, with k1 = 1.5, b = 0.75, epsilon = 0.25.

    The inverse document frequencies, their floor and the three parameters are rank-bm25's own
    (``BM25Okapi``); only its loop over texts and its scoring of all of them are replaced.

    Args:
        terms: The term of each column; none without a chunk.
        counts: How often a term stands in a chunk, shape (chunks, terms).
        lengths: Terms of each chunk, repetitions included.

    Returns:
        Parallel to ``counts.data``.
    """
    frequencies = np.diff(counts.indptr)
    okapi = _counted_okapi(dict(zip(terms, frequencies.tolist(), strict=True)), lengths)
    idf = np.array([okapi.idf[term] for term in terms])
    norm = okapi.k1 * (1 - okapi.b + okapi.b * lengths / okapi.avgdl)
    weights = np.empty(counts.nnz, dtype=np.float32)
    for first in range(0, counts.nnz, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        count = counts.data[part].astype(np.float64)
        places = np.arange(first, first + len(count))
        columns = np.searchsorted(counts.indptr, places, side="right") - 1
        weights[part] = idf[columns] * count * (okapi.k1 + 1) / (count + norm[counts.indices[part]])
    return weights


def _counted_okapi(frequencies: dict[str, int], lengths: NDArray[np.int64]) -> Any:
    """A ``BM25Okapi`` that takes document frequencies and lengths in place of texts."""
    from rank_bm25 import BM25Okapi

    class CountedOkapi(BM25Okapi):  # type: ignore[misc]  # rank-bm25 has no types
        def _initialize(self, corpus: NDArray[np.int64]) -> dict[str, int]:
            self.corpus_size = len(corpus)
            self.avgdl = int(corpus.sum()) / len(corpus)
            return frequencies

    return CountedOkapi(lengths)
