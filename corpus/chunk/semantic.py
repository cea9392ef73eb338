"""Documents -> chunks cut where neighbouring sentences differ most (HyPA-RAG section 6)."""

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.spans import Span, between, cut_to_fit, to_chunks
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.models.embedding import Embedder

MAX_CHARS = 3000
"""About 512 tokens, the paper's size; a topic that goes on for longer is cut between sentences."""
_BATCH = 512  # sentences a call; an embedder holds the token ids of a call at once


def chunk_by_meaning(
    document: Document, dissimilarity: float, buffer: int, embedder: Embedder
) -> list[Chunk]:
    """Cut one document where what is said changes.

    Each sentence is embedded together with ``buffer`` neighbours on either side. The distance of
    two adjoining sentences is 1 - the cosine of their vectors, and a chunk ends wherever it lies
    above the ``dissimilarity`` quantile of all such distances of the document: 0.9 cuts at about
    the tenth of the places that differ most, 1 nowhere, 0 nearly everywhere. It is a share and no
    cosine, so it means the same for every embedder and document.

    Args:
        document: The source.
        dissimilarity: The share of distances at which no chunk ends, in [0, 1].
        buffer: Neighbours read with each sentence, on each side.
        embedder: Makes the vectors.
    """
    text = document.text
    parts = [
        part
        for span in sentence_spans(text)
        for part in cut_to_fit(text, span, lambda piece: len(piece) <= MAX_CHARS)
    ]
    distances = _distances(text, parts, buffer, embedder)
    threshold = np.quantile(distances, dissimilarity) if len(distances) else 0.0
    starts: list[int] = []
    for number, (start, end) in enumerate(parts):
        apart = not number or distances[number - 1] > threshold
        if apart or end - starts[-1] > MAX_CHARS:
            starts.append(start)
    return to_chunks(document, between(text, starts))


def _distances(
    text: str, parts: list[Span], buffer: int, embedder: Embedder
) -> NDArray[np.float64]:
    """Cosine distances of each part to the next, shape (parts - 1,)."""
    last = len(parts) - 1
    if last < 1:
        return np.zeros(0)
    groups = [
        text[parts[max(i - buffer, 0)][0] : parts[min(i + buffer, last)][1]]
        for i in range(len(parts))
    ]
    vectors = np.concatenate(
        [embedder.embed(groups[i : i + _BATCH]) for i in range(0, len(groups), _BATCH)]
    ).astype(np.float64)
    # rounded, so that equal sentences are at one distance however they were batched
    rounded: NDArray[np.float64] = np.round(1.0 - (vectors[:-1] * vectors[1:]).sum(axis=1), 6)
    return rounded
