"""BM25 by rank-bm25 itself, over the chunks that one caller may see."""

from collections.abc import Iterable

import numpy as np

from lexloop.core.types import Chunk, Hit
from lexloop.documents.text.tokens import tokenize
from lexloop.store.folder.lexical import K1, B, best_positions, searched_text
from lexloop.store.protocol import Within


class Okapi:
    """A search of chunks by ``rank_bm25.BM25Okapi``, in memory.

    Its statistics come from these chunks only, and are the same in every engine. Its time grows
    with the number of chunks, whereas an index reads only a column of weights for each term.

    Args:
        chunks: Chunks to search.
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        from rank_bm25 import BM25Okapi

        self._held: list[Hit] = []
        terms: list[list[str]] = []
        for chunk in chunks:
            supporting = bool(chunk.get("supporting"))
            self._held.append(Hit(chunk["id"], chunk["document"], 0.0, supporting))
            terms.append(tokenize(searched_text(chunk)))
        # without any term rank-bm25 divides by zero
        self._weighed = BM25Okapi(terms, k1=K1, b=B) if any(terms) else None

    def search(self, queries: list[str], limit: int, within: Within) -> list[list[Hit]]:
        """Return for each query the best chunks, best first, without scores of 0."""
        if self._weighed is None:
            return [[] for _ in queries]
        allowed = np.array([within is None or hit.document in within for hit in self._held])
        results = []
        for query in queries:
            scores = (self._weighed.get_scores(tokenize(query)) * allowed).astype(np.float32)
            places = best_positions(scores, limit, floor=0.0).tolist()
            results.append([self._held[n]._replace(score=float(scores[n])) for n in places])
        return results
