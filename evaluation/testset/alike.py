"""Questions that repeat each other, word for word or nearly so."""

import numpy as np

from lexloop.corpus.text.tokens import tokenize, words
from lexloop.models.embedding import Vectors

MOST_SHARED = 0.8
"""Jaccard similarity of the stems from which on two questions are one."""
MOST_COSINE = 0.96
"""Cosine of the embeddings from which on two questions are one."""


class Asked:
    """The questions taken so far.

    A question repeats another when their words are the same, when the Jaccard similarity of their
    stems is at least 0.8, or when the cosine of their embeddings is at least 0.96.
    """

    def __init__(self) -> None:
        self._exact: set[tuple[str, ...]] = set()
        self._stems: list[frozenset[str]] = []
        self._vectors: list[Vectors] = []

    def take(self, question: str, vector: Vectors) -> bool:
        """Take a question unless it repeats one; whether it was taken.

        Args:
            question: With what its user said before.
            vector: Its embedding, of unit length.
        """
        exact, stems = tuple(words(question)), frozenset(tokenize(question))
        if exact in self._exact or any(_shared(stems, other) for other in self._stems):
            return False
        if self._vectors and float(np.max(np.stack(self._vectors) @ vector)) >= MOST_COSINE:
            return False
        self._exact.add(exact)
        self._stems.append(stems)
        self._vectors.append(vector)
        return True


def _shared(one: frozenset[str], other: frozenset[str]) -> bool:
    both = len(one | other)
    return bool(both) and len(one & other) >= MOST_SHARED * both
