"""Two ranked lists per query -> one list of candidates.

Fusions take hits by chunk id and return a score per chunk; ties keep the order of the ids, so the
order in which queries or signals arrive never shows in the result.
"""

import math
from collections.abc import Iterable

from lexloop.core.types import Candidate, Chunk

Ranking = list[tuple[Chunk, float]]


def reciprocal_rank(rankings: Iterable[Ranking], constant: int) -> dict[str, float]:
    """Sum of 1 / (constant + rank) over the lists a chunk is in, rank from 1."""
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, (chunk, _) in enumerate(ranking, 1):
            shares.setdefault(chunk["id"], []).append(1.0 / (constant + rank))
    # an exact sum: the order of the rankings must not show, not even in the last digit
    return {chunk_id: math.fsum(terms) for chunk_id, terms in shares.items()}


def linear(lexical: Ranking, vector: Ranking, bm25_boost: float) -> dict[str, float]:
    """Cosine + bm25_boost x BM25 / the query's best BM25 (Sultania et al., equation 1).

    The paper adds raw BM25; dividing by the best score makes one boost fit corpora of any size.
    With a boost of 0 lexical search brings up nothing.
    """
    top = max((score for _, score in lexical), default=0.0)
    fused = {chunk["id"]: score for chunk, score in vector}
    if top > 0.0 and bm25_boost > 0.0:
        for chunk, score in lexical:
            fused[chunk["id"]] = fused.get(chunk["id"], 0.0) + bm25_boost * score / top
    return fused


def best_of(scores: Iterable[dict[str, float]], weights: Iterable[float]) -> dict[str, float]:
    """Each chunk's highest weighted score over several queries."""
    best: dict[str, float] = {}
    for fused, weight in zip(scores, weights, strict=True):
        for chunk_id, score in fused.items():
            best[chunk_id] = max(best.get(chunk_id, float("-inf")), weight * score)
    return best


def candidates(
    fused: dict[str, float], lexical: Iterable[Ranking], vector: Iterable[Ranking], limit: int
) -> list[Candidate]:
    """The ``limit`` best chunks with their score per signal (the best over the queries)."""
    chunks: dict[str, Chunk] = {}
    signals: dict[str, dict[str, float]] = {}
    for name, rankings in (("lexical", lexical), ("dense", vector)):
        for ranking in rankings:
            for chunk, score in ranking:
                chunks[chunk["id"]] = chunk
                kept = signals.setdefault(chunk["id"], {})
                kept[name] = max(kept.get(name, score), score)
    order = sorted(fused, key=lambda chunk_id: (-fused[chunk_id], chunk_id))[:limit]
    return [{**chunks[i], "score": fused[i], "signals": signals[i]} for i in order]
