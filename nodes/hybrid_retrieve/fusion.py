"""Ranked lists -> one score per chunk.

Nothing here depends on the order in which queries, signals or equal scores arrive: sums over lists
are exact, maxima are taken over queries, and equal scores share a rank.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from lexloop.nodes.hybrid_retrieve.found import Scores

Normalisation = Literal["max", "minmax", "none"]


def reciprocal_rank(
    rankings: Sequence[Scores], constant: int, weights: Sequence[float] | None = None
) -> Scores:
    """Sum of weight / (constant + rank) over the lists a chunk is in, rank from 1.

    Args:
        rankings: Best first; only the order of the scores counts, and equal ones share the rank
            of the first of them.
        constant: Dampens the lead of the first ranks; 60 is customary.
        weights: One per ranking, at least 0; a ranking of weight 0 brings up nothing. Left out,
            every ranking has weight 1.
    """
    shares: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        if weight > 0.0:
            for name, rank in _ranks(ranking):
                shares.setdefault(name, []).append(weight / (constant + rank))
    # an exact sum: the order of the rankings must not show, not even in the last digit
    return {name: math.fsum(terms) for name, terms in shares.items()}


def _ranks(ranking: Scores) -> Iterator[tuple[str, int]]:
    rank, before = 0, math.nan
    for place, (name, score) in enumerate(ranking.items(), 1):
        if score != before:
            rank, before = place, score
        yield name, rank


def linear(
    lexical: Scores, vector: Scores, bm25_boost: float, normalisation: Normalisation = "max"
) -> Scores:
    """Cosine + bm25_boost x BM25 of one query: Sultania et al., equation 1, chunk by chunk.

    A chunk that BM25 alone found gets the cosine at which the vectors' list ends: it can have no
    more, and with nothing it would fall behind whatever the vectors found. One that the vectors
    alone found gets nothing from BM25. With a boost of 0 lexical search brings up nothing.

    Args:
        lexical: BM25 of the chunks found.
        vector: Cosine of the chunks found.
        bm25_boost: At least 0.
        normalisation: See ``scaled``.
    """
    fused = dict(vector)
    last = min(vector.values(), default=0.0)
    if bm25_boost > 0.0:
        for chunk_id, share in scaled(lexical, normalisation).items():
            fused[chunk_id] = fused.get(chunk_id, last) + bm25_boost * share
    return fused


LATE, COSINE, BM25 = 1.0, 0.6, 0.9
"""What each signal weighs in the standardised sum, by what nine sets of questions say together.
From 0.5 to 1.2 of BM25 they differ little but for ObliQA, whose questions use its words."""


def standardised(lexical: Scores, vector: Scores, late: Scores) -> Scores:
    """The weighted sum of one query's signals, each with mean 0 and deviation 1 over the chunks.

    Ranks forget by how much one chunk beats the next, and raw scores lie on scales of their own.
    A chunk that BM25 did not find scores 0 there; one that the vectors did not find has the cosine
    at which their list ends.

    Args:
        lexical: BM25 of the chunks found.
        vector: Cosine of the chunks found.
        late: MaxSim of the chunks that either found; empty where no token vectors are kept.
    """
    found = [*dict.fromkeys([*vector, *lexical])]
    last = min(vector.values(), default=0.0)
    signals = [
        (BM25, [lexical.get(name, 0.0) for name in found]),
        (COSINE, [vector.get(name, last) for name in found]),
        (LATE, [late.get(name, 0.0) for name in found]),
    ]
    sums = [0.0] * len(found)
    for weight, values in signals:
        # exact sums: the order of arrival must not show
        mean = math.fsum(values) / max(1, len(values))
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / max(1, len(values)))
        # of equal values the mean may differ from them in the last digit
        if spread > 0.0 and min(values) < max(values):
            sums = [s + weight * (v - mean) / spread for s, v in zip(sums, values, strict=True)]
    return dict(zip(found, sums, strict=True))


def scaled(lexical: Scores, normalisation: Normalisation) -> Scores:
    """BM25 of one query on the scale that linear fusion adds.

    Scores of 0 or less are left out first: where a term stands in most chunks of a tiny corpus
    its weight is negative, and the chunks that hold it would be punished for it.

    Args:
        lexical: BM25 of the chunks found.
        normalisation: ``max`` divides by the query's best score, so that one boost fits corpora
            of any size; ``minmax`` puts the worst hit at 0 and the best at 1, and equal hits all
            at 1; ``none`` keeps the raw score, as the paper does.
    """
    matched = {chunk_id: score for chunk_id, score in lexical.items() if score > 0.0}
    if not matched or normalisation == "none":
        return matched
    best = max(matched.values())
    least = min(matched.values()) if normalisation == "minmax" else 0.0
    if best == least:
        return dict.fromkeys(matched, 1.0)
    return {chunk_id: (score - least) / (best - least) for chunk_id, score in matched.items()}


def best_of(scores: Iterable[Scores], weights: Iterable[float]) -> Scores:
    """Each chunk's highest weighted score over several queries."""
    best: Scores = {}
    for fused, weight in zip(scores, weights, strict=True):
        for chunk_id, score in fused.items():
            if weight * score > best.get(chunk_id, -math.inf):
                best[chunk_id] = weight * score
    return best
