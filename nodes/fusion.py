"""Fusion of lexical and vector search over several queries into one score per chunk."""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.types import Hit
from lexloop.store.view import View

Scores = dict[str, float]
"""Scores by the id of a chunk or the name of a document; a search's result comes best first."""
Normalisation = Literal["max", "minmax", "none"]
SUB_QUERY_WEIGHT = 0.9
"""In linear fusion a sub-query's best chunk counts a little less than the whole question's."""


@dataclass(frozen=True)
class SearchResults:
    """The results of both searches, unfused: one mapping from chunks to scores for each query."""

    lexical: list[Scores]  # BM25
    vector: list[Scores]  # cosine, of the same queries
    documents: dict[str, str]  # the document of every chunk found
    supporting: frozenset[str] = frozenset()  # which of the chunks found are no operative text
    # MaxSim; empty if none was asked for or no token vectors are kept
    late: list[Scores] = field(default_factory=list)

    @classmethod
    def of(cls, lexical: Sequence[Sequence[Hit]], vector: Sequence[Sequence[Hit]]) -> Self:
        """Make the results of what a view returns for the same queries."""
        every = [hit for hits in (*lexical, *vector) for hit in hits]
        return cls(
            lexical=[{hit.chunk_id: hit.score for hit in hits} for hits in lexical],
            vector=[{hit.chunk_id: hit.score for hit in hits} for hits in vector],
            documents={hit.chunk_id: hit.document for hit in every},
            supporting=frozenset(hit.chunk_id for hit in every if hit.supporting),
        )

    def signals(self, chunk_id: str) -> dict[str, float]:
        """Return a chunk's best score over the queries by signal that found it."""
        by_name = {"lexical": self.lexical, "dense": self.vector, "late": self.late}
        return {
            name: max(ranking[chunk_id] for ranking in rankings if chunk_id in ranking)
            for name, rankings in by_name.items()
            if any(chunk_id in ranking for ranking in rankings)
        }


def fuse(found: SearchResults, fusion: Fusion, hosts: Mapping[str, float]) -> Scores:
    """Return one score per chunk, over all queries and signals; the first query is the question.

    At document level, linear fusion follows equation 1 of Sultania et al.; the reciprocal ranks
    of a document are those of its best chunk among the documents of each list, and its chunks keep
    their own reciprocal ranks. ``hosts`` are host scores by document, for linear fusion.
    """
    if isinstance(fusion, Linear):
        fused = _linear(found, fusion, hosts)
    elif isinstance(fusion, ReciprocalRank):
        fused = _by_rank(found.lexical, found.vector, fusion)
    else:
        late = found.late or [{} for _ in found.vector]
        signals = zip(found.lexical, found.vector, late, strict=True)
        sums = (standardised(*of_query, fusion) for of_query in signals)
        fused = best_of(sums, _weights(found))
    if fusion.documents is None:
        return fused
    return within_best(fused, found.documents, _documents(found, fused, fusion), fusion.documents)


def _linear(found: SearchResults, fusion: Linear, hosts: Mapping[str, float]) -> Scores:
    boost, normalisation = fusion.bm25_boost, fusion.normalisation
    pairs = zip(found.lexical, found.vector, strict=True)
    documents = None if fusion.documents is None else found.documents
    scores = (linear(a, b, boost, normalisation, documents) for a, b in pairs)
    fused = best_of(scores, _weights(found))
    return with_host(fused, found.documents, hosts, fusion.host_boost) if hosts else fused


def _weights(found: SearchResults) -> list[float]:
    return [SUB_QUERY_WEIGHT if place else 1.0 for place in range(len(found.vector))]


def _by_rank(lexical: list[Scores], vector: list[Scores], fusion: ReciprocalRank) -> Scores:
    of_lexical, of_vector = 2 * fusion.lexical_weight, 2 * (1.0 - fusion.lexical_weight)
    weights = [of_lexical] * len(lexical) + [of_vector] * len(vector)
    return reciprocal_rank([*lexical, *vector], fusion.k, weights)


def _documents(found: SearchResults, fused: Scores, fusion: Fusion) -> Scores:
    if not isinstance(fusion, ReciprocalRank):
        return best_by_document(fused, found.documents)
    lexical = [best_by_document(ranking, found.documents) for ranking in found.lexical]
    vector = [best_by_document(ranking, found.documents) for ranking in found.vector]
    return _by_rank(lexical, vector, fusion)


def reciprocal_rank(
    rankings: Sequence[Scores], constant: int, weights: Sequence[float] | None = None
) -> Scores:
    """Return the sum of weight / (constant + rank) over the lists of each chunk, rank from 1.

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
    lexical: Scores,
    vector: Scores,
    bm25_boost: float,
    normalisation: Normalisation = "max",
    documents: Mapping[str, str] | None = None,
) -> Scores:
    """Return cosine + bm25_boost x BM25 of one query: Sultania et al., equation 1, chunk by chunk.

    A chunk that BM25 alone found gets the cosine at which the vectors' list ends: it can have no
    more, and with nothing it would fall behind whatever the vectors found. One that the vectors
    alone found gets nothing from BM25. With a boost of 0 lexical search brings up nothing.

    Args:
        lexical: BM25 of the chunks found.
        vector: Cosine of the chunks found.
        bm25_boost: At least 0.
        normalisation: See ``scaled``; it comes before the documents' best is taken.
        documents: If given, a chunk gets the BM25 of its document, which is that of its best
            chunk: by this the document's best chunk has the score of the document in equation 1,
            but for the host term, which no query changes.
    """
    if bm25_boost <= 0.0:
        return dict(vector)
    matched = scaled(lexical, normalisation)
    last = min(vector.values(), default=0.0)
    cosines = {**dict.fromkeys(matched, last), **vector}
    owners = documents or {name: name for name in cosines}
    bm25 = best_by_document(matched, owners)
    return {
        name: cosine + bm25_boost * bm25.get(owners[name], 0.0) for name, cosine in cosines.items()
    }


def standardised(lexical: Scores, vector: Scores, late: Scores, fusion: Standardised) -> Scores:
    """Return the weighted sum of a query's signals, each with mean 0 and deviation 1.

    Ranks forget by how much one chunk beats the next, and raw scores lie on scales of their own.
    A chunk that BM25 did not find scores 0 there; one that the vectors did not find has the cosine
    at which their list ends. MaxSim is empty if no token vectors are kept.

    The default weights were set on nine sets of questions together. From 0.5 to 1.2 of BM25 they
    differ little but for ObliQA, whose questions use its words.
    """
    found = [*dict.fromkeys([*vector, *lexical])]
    last = min(vector.values(), default=0.0)
    signals = [
        (fusion.bm25_weight, [lexical.get(name, 0.0) for name in found]),
        (fusion.cosine_weight, [vector.get(name, last) for name in found]),
        (fusion.token_weight, [late.get(name, 0.0) for name in found]),
    ]
    sums = [0.0] * len(found)
    for weight, values in signals:
        # exact sums: the order of arrival must not show
        mean = math.fsum(values) / max(1, len(values))
        # a power of two, by which division is exact: no square may fall to 0
        unit = math.ldexp(1.0, math.frexp(max([abs(v - mean) for v in values], default=0.0))[1])
        off = [(v - mean) / unit for v in values]
        spread = math.sqrt(math.fsum([o * o for o in off]) / max(1, len(values)))
        # of equal values the mean may differ from them in the last digit
        if spread > 0.0 and min(values) < max(values):
            sums = [s + weight * o / spread for s, o in zip(sums, off, strict=True)]
    return dict(zip(found, sums, strict=True))


def scaled(lexical: Scores, normalisation: Normalisation) -> Scores:
    """Return BM25 of one query on the scale that linear fusion adds.

    ``max`` divides by the query's best score, so that one boost fits corpora of any size;
    ``minmax`` puts the worst hit at 0 and the best at 1, and equal hits all at 1; ``none`` keeps
    the raw score, as the paper does. Scores of 0 or less are left out first: if a term stands
    in most chunks of a tiny corpus its weight is negative, and the chunks that hold it would be
    punished for it.
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
    """Return each chunk's highest weighted score over several queries."""
    best: Scores = {}
    for fused, weight in zip(scores, weights, strict=True):
        for chunk_id, score in fused.items():
            if weight * score > best.get(chunk_id, -math.inf):
                best[chunk_id] = weight * score
    return best


def best_by_document(scores: Scores, documents: Mapping[str, str]) -> Scores:
    """Return each document's best chunk score; best first if the chunks are."""
    best: Scores = {}
    for chunk_id, score in scores.items():
        name = documents[chunk_id]
        if score > best.get(name, -math.inf):
            best[name] = score
    return best


def within_best(fused: Scores, documents: Mapping[str, str], ranked: Scores, count: int) -> Scores:
    """Return the chunks of the ``count`` best documents (3 in the paper), ties by name."""
    kept = set(heapq.nsmallest(count, ranked, key=lambda name: (-ranked[name], name)))
    return {chunk_id: score for chunk_id, score in fused.items() if documents[chunk_id] in kept}


def with_host(
    fused: Scores, documents: Mapping[str, str], hosts: Mapping[str, float], host_boost: float
) -> Scores:
    """Return each chunk's score + host_boost x the host score of its document, 0 without one.

    It is added once, after the best query: a document's authority is the same for every query.
    """
    return {
        chunk_id: score + host_boost * hosts.get(documents[chunk_id], 0.0)
        for chunk_id, score in fused.items()
    }


def searched(view: View, queries: list[str], fusion: Fusion, depth: int) -> SearchResults:
    """Search for each query by the signals that the fusion reads, ``depth`` hits of each."""
    found = SearchResults.of(*view.search(queries, depth))
    if not isinstance(fusion, Standardised):
        return found
    late: list[Scores] = []
    for query, lexical, vector in zip(queries, found.lexical, found.vector, strict=True):
        ids = [*dict.fromkeys([*vector, *lexical])]
        close = view.closeness(query, ids)
        if close is not None:
            late.append(dict(zip(ids, close.mean(axis=0).tolist(), strict=True)))
    return replace(found, late=late)
