"""The authority of a source: the host score of Sultania et al., equation 1."""

from collections.abc import Mapping

from lexloop.core.metadata import Metadata
from lexloop.nodes.hybrid_retrieve.found import Scores


def host_score(metadata: Metadata, host_scores: Mapping[str, float]) -> float:
    """How far a document is trusted: by its publisher, or by its kind, or not at all (0).

    Args:
        metadata: The document's; a publisher in the map goes before the kind of source.
        host_scores: From 0 to 1, by host or by kind.
    """
    for name in (metadata.host, metadata.kind):
        if name and name in host_scores:
            return host_scores[name]
    return 0.0


def with_host(
    fused: Scores, documents: Mapping[str, str], hosts: Mapping[str, float], host_boost: float
) -> Scores:
    """Every chunk's score + host_boost x the host score of its document.

    Args:
        fused: Scores by chunk, over all queries: authority is no matter of the query.
        documents: The document of every chunk.
        hosts: Host score by document; one that is missing has none.
        host_boost: At least 0.
    """
    return {
        chunk_id: score + host_boost * hosts.get(documents[chunk_id], 0.0)
        for chunk_id, score in fused.items()
    }
