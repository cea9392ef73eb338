"""Fusion at document level: the best documents first, and chunks of these alone.

What is indexed are chunks, so a document's score for a signal is that of its best chunk: its BM25,
for which the paper indexes whole pages, as much as its cosine.
"""

import heapq
import math
from collections.abc import Mapping

from lexloop.nodes.hybrid_retrieve.found import Scores
from lexloop.nodes.hybrid_retrieve.fusion import Normalisation, scaled


def best_by_document(scores: Scores, documents: Mapping[str, str]) -> Scores:
    """Each document's best chunk score; best first where the chunks are.

    Args:
        scores: By chunk.
        documents: The document of every chunk.
    """
    best: Scores = {}
    for chunk_id, score in scores.items():
        name = documents[chunk_id]
        if score > best.get(name, -math.inf):
            best[name] = score
    return best


def linear_in_documents(
    lexical: Scores,
    vector: Scores,
    documents: Mapping[str, str],
    bm25_boost: float,
    normalisation: Normalisation = "max",
) -> Scores:
    """A chunk's cosine + bm25_boost x its document's BM25, for one query.

    A document's best chunk has by this the score that equation 1 of Sultania et al. gives the
    document (max chunk cosine + bm25_boost x BM25), but for the host term, which no query changes.
    The chunks are those that either signal found; cosine and boost are as in ``linear``.

    Args:
        lexical: BM25 of the chunks found.
        vector: Cosine of the chunks found.
        documents: The document of every chunk found.
        bm25_boost: At least 0; with 0 lexical search brings up nothing.
        normalisation: See ``scaled``; it comes before the documents' best is taken.
    """
    if bm25_boost <= 0.0:
        return dict(vector)
    matched = scaled(lexical, normalisation)
    bm25 = best_by_document(matched, documents)
    last = min(vector.values(), default=0.0)
    cosines = {**dict.fromkeys(matched, last), **vector}
    return {
        chunk_id: cosine + bm25_boost * bm25.get(documents[chunk_id], 0.0)
        for chunk_id, cosine in cosines.items()
    }


def within_best(fused: Scores, documents: Mapping[str, str], ranked: Scores, count: int) -> Scores:
    """The chunks of the ``count`` best documents; of equal documents the first by name.

    Args:
        fused: Scores by chunk.
        documents: The document of every chunk.
        ranked: Scores by document.
        count: How many documents are kept (3 in the paper).
    """
    kept = set(heapq.nsmallest(count, ranked, key=lambda name: (-ranked[name], name)))
    return {chunk_id: score for chunk_id, score in fused.items() if documents[chunk_id] in kept}
