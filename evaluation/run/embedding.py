"""Embedders for measuring: no variant speeds up another, and no batch changes a vector."""

import time

import numpy as np

from lexloop.models.embedding import Embedder, Vectors

_MOST_CACHED = 20_000


class _Around:
    """An embedder in front of another."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many


class Metered(_Around):
    """An embedder that makes the same batch once for a case, and knows what it saved.

    Variants put the same question, so they embed the same texts; a latency stays what it would have
    been when ``saved_s`` is added to it. A batch is remembered as a whole, which keeps its vectors
    what they would have been to the last digit.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._cache: dict[tuple[str, ...], tuple[Vectors, float]] = {}
        self.saved_s = 0.0

    def clear(self) -> None:
        """Forget the batches of a case."""
        self._cache.clear()

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        key = tuple(texts)
        if key in self._cache:
            self.saved_s += self._cache[key][1]
        else:
            began = time.perf_counter()
            vectors = self._embedder.embed(texts)
            self._cache[key] = vectors, time.perf_counter() - began
        return self._cache[key][0]


class OneByOne(_Around):
    """An embedder that remembers, and whose vectors do not depend on what they are made with."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._cache: dict[str, Vectors] = {}

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        if len(self._cache) > _MOST_CACHED:
            self._cache.clear()
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if text not in self._cache:
                self._cache[text] = self._embedder.embed([text])[0]
            vectors[row] = self._cache[text]
        return vectors
