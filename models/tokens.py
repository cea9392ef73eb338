"""Token vectors in small: 128 dimensions of MiniLM's 384, a byte each.

The projection is fixed, so that an index may be brought up part by part; it was fitted to words of
the model's own vocabulary and to no text, so that it suits one law as well as another.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexloop.models.embedding import Embedder, Halves, Progress, Vectors

CODED = 128
"""Bytes of a token."""
PROJECTION = Path("tokens", "projection.npy")
_MOST = 127.0

Codes = NDArray[np.int8]
"""Tokens' vectors, shape (tokens, CODED); each row has a length of its own."""


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives the vectors of a text's tokens, special ones left out."""

    def token_codes(self, text: str) -> Codes:
        """The tokens of one text: a question."""
        ...

    def encode_tokens(self, texts: Sequence[str], progress: Progress) -> tuple[Halves, list[Codes]]:
        """As ``encode``, and for each text its tokens, by the same pass through the model."""
        ...


def coded(projected: Vectors) -> Codes:
    """The codes of tokens' projected states, shape (tokens, CODED)."""
    longest = np.abs(projected).max(axis=1, keepdims=True, initial=1e-9)
    codes: Codes = np.rint(projected * (_MOST / longest)).astype(np.int8)
    return codes


def unit_rows(codes: Codes) -> Vectors:
    """The unit vectors that codes stand for, shape (tokens, CODED); zeros stay zeros."""
    rows = codes.astype(np.float32)
    rows /= lengths_of(rows)[:, np.newaxis]
    return rows


def lengths_of(rows: Vectors) -> Vectors:
    """The lengths of codes as numbers, shape (tokens,); 1 for zeros, which stay zeros then."""
    lengths: Vectors = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1.0)
    return lengths


@lru_cache(maxsize=1)
def projection() -> Vectors:
    """What token states are multiplied with, shape (384, CODED)."""
    file = resources.files("lexloop.data") / PROJECTION.as_posix()
    with file.open("rb") as opened:
        stored: NDArray[Any] = np.lib.format.read_array(opened, allow_pickle=False)
    return stored.astype(np.float32)
