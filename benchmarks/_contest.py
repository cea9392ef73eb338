"""The contestants of latency.py: what they share, and each in a process of its own."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _mixture import Chunks
from _shared import timed

from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm

TOP = 10
DEPTH = 40
"""How many hits of each signal every contestant fuses."""
RRF_K = 60
_PER_DOCUMENT = 500

Found = list[tuple[str, str]]
"""Ids and texts of chunks, best first."""


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
        self.name, self.dimension = self._minilm.name, self._minilm.dimension
        self.window, self.count_tokens = self._minilm.window, self._minilm.count_tokens

    def know(self, questions: list[str]) -> None:
        """Embed questions ahead."""
        self._known.update({question: self._minilm.embed([question]) for question in questions})

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        if not all(text in self._known for text in texts):
            return self._minilm.embed(texts)
        return np.concatenate([self._known[text] for text in texts])


class Entrant:
    """A running contestant; its neighbours share nothing with it.

    Args:
        name: Which.
        corpus: The folder of its chunks and vectors.

    Raises:
        concurrent.futures.process.BrokenProcessPool: It broke down; its error is above.
    """

    def __init__(self, name: str, corpus: Path) -> None:
        self.name = name
        self._process = ProcessPoolExecutor(1, get_context("spawn"), _enter, (name, corpus))
        self.know([])  # it is ready then

    def search(self, question: str) -> tuple[float, list[str]]:
        """Milliseconds of one query, and the ids of its best ten chunks."""
        seconds, found = self._process.submit(_search, question).result()
        return 1000 * seconds, [chunk_id for chunk_id, _ in found]

    def know(self, questions: list[str]) -> None:
        """Have questions embedded ahead."""
        self._process.submit(_know, questions).result()

    def close(self) -> None:
        """End it."""
        self._process.shutdown()


_entered: list[Any] = []
"""In the process of a contestant: its embedder, and itself."""


def _enter(name: str, corpus: Path) -> None:
    """Index the corpus, as whoever this process is."""
    os.dup2(2, 1)  # what libraries print is no figure
    embedder = QuestionEmbedder()
    if name == "lexloop":
        from _ours import Ours

        _entered[:] = embedder, Ours(corpus, embedder)
        return
    from _peers import PEERS

    _entered[:] = embedder, PEERS[name](Chunks.load(corpus), embedder)


def _search(question: str) -> tuple[float, Found]:
    return timed(lambda: _entered[1].search(question))


def _know(questions: list[str]) -> None:
    _entered[0].know(questions)
