"""What the contestants of latency.py share: the rules, the chunks' names, the embedder."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np

from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm

TOP = 10
DEPTH = 40
"""How many hits of each signal every contestant fuses."""
RRF_K = 60
_PER_DOCUMENT = 500

Found = list[tuple[str, str]]
"""Ids and texts of chunks, best first."""


class Contestant(Protocol):
    """Finds texts by words and by meaning, fused by reciprocal ranks with equal weights."""

    def search(self, question: str) -> Found:
        """The best ten chunks."""
        ...


class Cut(NamedTuple):
    """A document made of consecutive texts, and where each of them begins in it."""

    name: str
    text: str
    starts: list[int]


def documents(texts: Sequence[str]) -> Iterator[Cut]:
    """The texts as documents, a line feed between any two of one document."""
    for first in range(0, len(texts), _PER_DOCUMENT):
        part = texts[first : first + _PER_DOCUMENT]
        starts = list(accumulate((len(text) + 1 for text in part[:-1]), initial=0))
        yield Cut(f"part-{first // _PER_DOCUMENT:05d}", "\n".join(part), starts)


def chunk_ids(texts: Sequence[str]) -> list[str]:
    """What each text is called, by every contestant."""
    return [f"{cut.name}#{start}" for cut in documents(texts) for start in cut.starts]


class QuestionEmbedder:
    """MiniLM for questions, the same for all contestants; questions may be embedded ahead."""

    def __init__(self) -> None:
        self._minilm = load_minilm()
        self._known: dict[str, Vectors] = {}
        self.name = self._minilm.name
        self.dimension = self._minilm.dimension
        self.window = self._minilm.window

    def know(self, questions: list[str]) -> None:
        """Embed questions ahead."""
        self._known.update({question: self._minilm.embed([question]) for question in questions})

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        if not all(text in self._known for text in texts):
            return self._minilm.embed(texts)
        return np.concatenate([self._known[text] for text in texts])

    def count_tokens(self, text: str) -> int:
        """Tokens as MiniLM counts them."""
        return self._minilm.count_tokens(text)
