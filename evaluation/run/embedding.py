"""Embedders for measuring: no row speeds up another, and no batch changes a vector."""

import time
from collections.abc import Callable

import numpy as np

from lexloop.models.embedding import Embedder, Vectors

_MOST_KEPT = 20_000


class Metered:
    """An embedder that makes the same batch once for a question, and knows what it saved.

    Rows put the same question, so they embed the same texts; a latency stays what it would have
    been when ``saved_s`` is added to it. A batch is remembered as a whole, which keeps its vectors
    what they would have been to the last digit.

    Args:
        embedder: Makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[str, ...], tuple[Vectors, float]] = {}
        self.saved_s = 0.0
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many

    def clear(self) -> None:
        """Another question comes."""
        self._kept.clear()

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        key = tuple(texts)
        if key in self._kept:
            self.saved_s += self._kept[key][1]
        else:
            began = time.perf_counter()
            vectors = self._embedder.embed(texts)
            self._kept[key] = vectors, time.perf_counter() - began
        return self._kept[key][0]


class OneByOne:
    """An embedder that remembers, and whose vectors do not depend on what they are made with.

    Args:
        embedder: Makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, Vectors] = {}
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if text not in self._kept:
                self._kept[text] = self._embedder.embed([text])[0]
            vectors[row] = self._kept[text]
        return vectors


Embed = Callable[[list[str]], Vectors]
