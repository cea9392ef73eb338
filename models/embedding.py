"""What the rooms above ask of an embedding model."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Halves = NDArray[np.float16]
Progress = Callable[[int, int], None]
"""Called with the texts done and all the texts there are; the first never falls."""


class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``name`` identifies model and weights and is kept in every index built with it; ``window`` is
    the most tokens one text may have.
    """

    name: str
    dimension: int
    window: int

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension); a text beyond the window is cut there.

        Made for a question and what stands beside it: a few texts, as soon as can be.
        """
        ...

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """The same vectors in half precision, made for many texts: as many a second as can be.

        Their cosine to the vectors of ``embed`` is at least 0.999, and the same texts on the same
        machine give the same vectors. Whatever the number of texts, no more is held in memory
        than the result and one batch.

        Args:
            texts: In any order; sorting by length happens inside.
            progress: Called after each batch; the last call says that all texts are done.

        Returns:
            Vectors of shape (len(texts), dimension), in the order of the texts.

        Raises:
            InputError: A text is not valid Unicode.
            ModelError: The model's host gave no vectors.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` as this model counts them, special tokens left out."""
        ...

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """``count_tokens`` of each text, faster than one by one."""
        ...
