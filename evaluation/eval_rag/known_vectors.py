"""Vectors made ahead for many texts at once, and handed out as judges ask for them."""

from collections.abc import Callable, Iterable

import numpy as np

from lexloop.models.embedding import Embedder, Vectors

Progress = Callable[[int, int], None]


class KnownVectors:
    """Embeds like its embedder, and remembers what was made ahead.

    Judges embed a few texts a time, which costs several times as much a text as many at once.

    Args:
        embedder: Makes every vector.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def prepare(self, texts: Iterable[str], progress: Progress) -> None:
        """Make the vectors of these texts, and forget all others."""
        wanted = list(dict.fromkeys(texts))
        known = {text: self._known[text] for text in wanted if text in self._known}
        missing = [text for text in wanted if text not in known]
        if missing:
            made = self._embedder.encode(missing, progress).astype(np.float32)
            known |= zip(missing, made, strict=True)
        self._known = known

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known |= zip(missing, self._embedder.embed(missing), strict=True)
        vectors = np.zeros((len(texts), self._embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._known[text]
        return vectors
