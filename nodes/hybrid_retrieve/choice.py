"""The fusion that the settings choose."""

from collections.abc import Mapping

from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank
from lexloop.nodes.hybrid_retrieve.document import (
    best_by_document,
    linear_in_documents,
    within_best,
)
from lexloop.nodes.hybrid_retrieve.found import Found, Scores
from lexloop.nodes.hybrid_retrieve.fusion import best_of, linear, reciprocal_rank, standardised
from lexloop.nodes.hybrid_retrieve.host import with_host

SUB_QUERY_WEIGHT = 0.9
"""In linear fusion a sub-query's best chunk counts a little less than the whole question's."""


def fuse(found: Found, fusion: Fusion, hosts: Mapping[str, float]) -> Scores:
    """One score per chunk, over all queries and signals.

    At document level, linear fusion follows equation 1 of Sultania et al.; the reciprocal ranks
    of a document are those of its best chunk among the documents of each list, and its chunks keep
    their own reciprocal ranks.

    Args:
        found: What the queries found; the first of them is the whole question.
        fusion: Its method and weights.
        hosts: Host score by document, for linear fusion.
    """
    if isinstance(fusion, Linear):
        fused = _linear(found, fusion, hosts)
    elif isinstance(fusion, ReciprocalRank):
        fused = _by_rank(found.lexical, found.vector, fusion)
    else:
        late = found.late or [{} for _ in found.vector]
        sums = map(standardised, found.lexical, found.vector, late)
        fused = best_of(sums, _weights(found))
    if fusion.documents is None:
        return fused
    return within_best(fused, found.documents, _documents(found, fused, fusion), fusion.documents)


def _linear(found: Found, fusion: Linear, hosts: Mapping[str, float]) -> Scores:
    boost, normalisation = fusion.bm25_boost, fusion.normalisation
    pairs = zip(found.lexical, found.vector, strict=True)
    if fusion.documents is None:
        scores = (linear(a, b, boost, normalisation) for a, b in pairs)
    else:
        documents = found.documents
        scores = (linear_in_documents(a, b, documents, boost, normalisation) for a, b in pairs)
    fused = best_of(scores, _weights(found))
    return with_host(fused, found.documents, hosts, fusion.host_boost) if hosts else fused


def _weights(found: Found) -> list[float]:
    """What each query's scores count."""
    return [SUB_QUERY_WEIGHT if place else 1.0 for place in range(len(found.vector))]


def _by_rank(lexical: list[Scores], vector: list[Scores], fusion: ReciprocalRank) -> Scores:
    of_lexical, of_vector = 2 * fusion.lexical_weight, 2 * (1.0 - fusion.lexical_weight)
    weights = [of_lexical] * len(lexical) + [of_vector] * len(vector)
    return reciprocal_rank([*lexical, *vector], fusion.k, weights)


def _documents(found: Found, fused: Scores, fusion: Fusion) -> Scores:
    """The scores by which documents are chosen."""
    if not isinstance(fusion, ReciprocalRank):
        return best_by_document(fused, found.documents)
    lexical = [best_by_document(ranking, found.documents) for ranking in found.lexical]
    vector = [best_by_document(ranking, found.documents) for ranking in found.vector]
    return _by_rank(lexical, vector, fusion)
