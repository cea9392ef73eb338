"""The fusion that the settings choose, and the settings that it does not read."""

from collections.abc import Mapping

from lexloop.core.settings import Settings
from lexloop.core.types import Degradation
from lexloop.nodes.hybrid_retrieve.fusion import (
    Found,
    Scores,
    best_by_document,
    best_of,
    linear,
    reciprocal_rank,
    standardised,
    with_host,
    within_best,
)

SUB_QUERY_WEIGHT = 0.9
"""In linear fusion a sub-query's best chunk counts a little less than the whole question's."""


def reads_host(settings: Settings) -> bool:
    """Whether the chosen fusion needs the documents' metadata."""
    return settings.fusion == "linear" and settings.host_boost > 0.0


def fuse(found: Found, settings: Settings, hosts: Mapping[str, float]) -> Scores:
    """One score per chunk, over all queries and signals; the first query is the whole question.

    At document level, linear fusion follows equation 1 of Sultania et al.; the reciprocal ranks
    of a document are those of its best chunk among the documents of each list, and its chunks keep
    their own reciprocal ranks. ``hosts`` are host scores by document, read where ``reads_host``.
    """
    if settings.fusion == "linear":
        fused = _linear(found, settings, hosts)
    elif settings.fusion == "standardised":
        late = found.late or [{} for _ in found.vector]
        sums = map(standardised, found.lexical, found.vector, late)
        fused = best_of(sums, _weights(found))
    else:
        fused = _by_rank(found.lexical, found.vector, settings)
    if settings.fusion_level == "chunk":
        return fused
    return within_best(
        fused, found.documents, _documents(found, fused, settings), settings.fusion_documents
    )


def _linear(found: Found, settings: Settings, hosts: Mapping[str, float]) -> Scores:
    boost, normalisation = settings.bm25_boost, settings.normalisation
    documents = None if settings.fusion_level == "chunk" else found.documents
    pairs = zip(found.lexical, found.vector, strict=True)
    scores = (linear(a, b, boost, normalisation, documents) for a, b in pairs)
    fused = best_of(scores, _weights(found))
    if not reads_host(settings):
        return fused
    return with_host(fused, found.documents, hosts, settings.host_boost)


def _weights(found: Found) -> list[float]:
    """What each query's scores count."""
    return [SUB_QUERY_WEIGHT if place else 1.0 for place in range(len(found.vector))]


def _by_rank(lexical: list[Scores], vector: list[Scores], settings: Settings) -> Scores:
    of_lexical, of_vector = 1.0, 1.0
    if settings.fusion == "weighted_rrf":
        of_lexical, of_vector = settings.lexical_weight, 1.0 - settings.lexical_weight
    weights = [of_lexical] * len(lexical) + [of_vector] * len(vector)
    return reciprocal_rank([*lexical, *vector], settings.rrf_k, weights)


def _documents(found: Found, fused: Scores, settings: Settings) -> Scores:
    """The scores by which documents are chosen."""
    if settings.fusion in ("linear", "standardised"):
        return best_by_document(fused, found.documents)
    lexical = [best_by_document(ranking, found.documents) for ranking in found.lexical]
    vector = [best_by_document(ranking, found.documents) for ranking in found.vector]
    return _by_rank(lexical, vector, settings)


def unread(settings: Settings) -> list[Degradation]:
    """The settings of fusion that were changed from their default without any effect.

    A weight that a fusion never looks at must not seem to have been tried.
    """
    linear_fusion = settings.fusion == "linear"
    read = {
        "rrf_k": settings.fusion in ("rrf", "weighted_rrf"),
        "lexical_weight": settings.fusion == "weighted_rrf",
        "normalisation": linear_fusion and settings.bm25_boost > 0.0,
        "bm25_boost": linear_fusion,
        "host_boost": linear_fusion,
        "host_scores": reads_host(settings),
        "fusion_documents": settings.fusion_level == "document",
    }
    used = f"{settings.fusion} at {settings.fusion_level} level"
    fields = Settings.model_fields
    return [
        {
            "node": "hybrid_retrieve",
            "wanted": f"{name}={getattr(settings, name)}",
            "used": used,
            "reason": f"This fusion does not read {name}.",
        }
        for name, is_read in read.items()
        if not is_read and getattr(settings, name) != fields[name].default
    ]
