"""The vectors of all windows in their order: new texts are embedded in bulk, old vectors kept."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.index.dense import DenseIndex
from lexloop.models.embedding import Embedder

_SLAB = 50_000
"""Texts embedded at once: enough to sort them by length, few enough to hold them in memory."""

Half = NDArray[np.float16]


class WindowVectors:
    """Collects the windows of chunk after chunk.

    Args:
        embedder: Embeds new texts.
        progress: Called with "embedding", the texts done and the texts known of.
    """

    def __init__(self, embedder: Embedder, progress: Callable[[str, int, int], None]) -> None:
        self._embedder, self._progress = embedder, progress
        self._blocks: list[Half] = []
        self._waiting: list[Half | list[str]] = []
        self._texts = self._done = 0
        self._counts: list[NDArray[np.int32]] = []

    def add(self, vectors: Half) -> None:
        """One chunk whose vectors are there, shape (windows, dimension)."""
        self._waiting.append(vectors)
        self._counts.append(np.array([len(vectors)], dtype=np.int32))

    def add_texts(self, texts: list[str]) -> None:
        """One chunk whose windows have to be embedded."""
        self._waiting.append(texts)
        self._texts += len(texts)
        self._counts.append(np.array([len(texts)], dtype=np.int32))
        if self._texts - self._done >= _SLAB:
            self._embed()

    def keep(self, old: DenseIndex, first: int, end: int) -> None:
        """The chunks of an older index from position ``first`` up to ``end``."""
        begin, stop = np.searchsorted(old.owners, [first, end])
        self._waiting.append(old.vectors[begin:stop])
        owners = np.asarray(old.owners[begin:stop], dtype=np.int64) - first
        self._counts.append(np.bincount(owners, minlength=end - first).astype(np.int32))

    def finish(self, dimension: int) -> tuple[NDArray[np.int32], Half]:
        """For each window the position of its chunk, and the vectors, shape (windows, dimension).

        Raises:
            LexloopError: The embedder failed.
        """
        self._embed()
        counts = np.concatenate([np.zeros(0, dtype=np.int32), *self._counts])
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return owners, np.concatenate([np.zeros((0, dimension), dtype=np.float16), *self._blocks])

    def _embed(self) -> None:
        texts = [text for part in self._waiting if isinstance(part, list) for text in part]
        made = self._embedder.encode(
            texts, lambda done, _: self._progress("embedding", self._done + done, self._texts)
        )
        used = 0
        for part in self._waiting:
            if isinstance(part, list):
                self._blocks.append(made[used : used + len(part)])
                used += len(part)
            else:
                self._blocks.append(part)
        self._done += len(texts)
        self._waiting = []
