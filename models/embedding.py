"""What the rooms above ask of an embedding model."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``name`` identifies model and weights and is kept in every index built with it; ``window`` is
    the most tokens one text may have.
    """

    name: str
    dimension: int
    window: int

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension); a text beyond the window is cut there."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` as this model counts them, special tokens left out."""
        ...
