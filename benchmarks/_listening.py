"""The embedder that ships, and what it was given: for benchmarks of indexing."""

from collections.abc import Sequence

import numpy as np

from lexloop.models.embedding import Codes, Halves, Progress
from lexloop.models.minilm import load_shipped

_JITTER, _SEED = 0.02, 20240917
_SPECIAL = 2


class Listener:
    """The embedder that ships; of every ``every`` texts it reads one.

    The others get that one's vector, jittered, and as many token vectors as they have tokens: an
    index of them is as large as that of the texts themselves, byte for byte but for what is in it.
    ``texts`` are those that it read, ``given`` is how many it was given.

    Args:
        every: 1 to read them all.
    """

    def __init__(self, every: int = 1) -> None:
        shipped = load_shipped()
        self._embedder, self._every = shipped, every
        self.name, self.dimension, self.window = shipped.name, shipped.dimension, shipped.window
        self.embed, self.token_codes = shipped.embed, shipped.token_codes
        self.count_tokens = shipped.count_tokens
        self.count_tokens_many = shipped.count_tokens_many
        self.texts: list[str] = []
        self.given = 0

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """As the embedder; what it reads is kept."""
        return self._for_all(self._embedder.encode(self._read(texts), progress), len(texts))

    def encode_tokens(self, texts: Sequence[str], progress: Progress) -> tuple[Halves, list[Codes]]:
        """As the embedder; what it reads is kept."""
        vectors, codes = self._embedder.encode_tokens(self._read(texts), progress)
        if self._every == 1:
            return vectors, codes
        counts = (min(n, self.window - _SPECIAL) for n in self.count_tokens_many(texts))
        every = [
            np.resize(codes[place // self._every], (count, codes[0].shape[1]))
            for place, count in enumerate(counts)
        ]
        return self._for_all(vectors, len(texts)), every

    def _read(self, texts: Sequence[str]) -> list[str]:
        self.given += len(texts)
        read = list(texts[:: self._every])
        self.texts += read
        return read

    def _for_all(self, vectors: Halves, count: int) -> Halves:
        if self._every == 1:
            return vectors
        spread = np.repeat(vectors.astype(np.float32), self._every, axis=0)[:count]
        spread += np.random.default_rng(_SEED).normal(0, _JITTER, spread.shape)
        lengths = np.linalg.norm(spread, axis=1, keepdims=True)
        made: Halves = (spread / np.maximum(lengths, 1e-9)).astype(np.float16)
        return made
