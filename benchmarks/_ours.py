"""Lexloop as a contestant of latency.py: an index on disk, opened and searched by the node."""

import shutil
import sys
from collections.abc import Collection, Generator, Sequence
from pathlib import Path

import numpy as np
from _contest import TOP, Found, QuestionEmbedder, documents
from _mixture import Chunks
from _pipeline import candidates_for, cut

from lexloop.core.files import is_index
from lexloop.core.folding import folded
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.reading.workers import Progress as Told
from lexloop.documents.text.tokens import stemmer_name
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import MiniLM
from lexloop.store.manifest import FORMAT, IndexSource
from lexloop.store.opening import open_index, tools_for
from lexloop.store.preparing import Tools
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan
from lexloop.store.writer import write_index

_SETTINGS = Settings(
    fusion="rrf",
    **{"index.windows": "whole", "retrieval.candidates": TOP, "access.as_of": "any"},
)


class Ours:
    """The index of a corpus, made unless it is there, and opened."""

    def __init__(self, corpus: Path, embedder: QuestionEmbedder) -> None:
        index = corpus / f"lexloop-{FORMAT}-{stemmer_name().replace(' ', '-')}"
        if not is_index(index):
            for outdated in corpus.glob("lexloop-*"):
                shutil.rmtree(outdated)
            write(Chunks.load(corpus), index)
        self._view = open_index(index, embedder).seen_by(Filters.of(_SETTINGS))

    def search(self, question: str) -> Found:
        """The node's candidates for a question without sub-queries."""
        found = candidates_for(question, self._view, _SETTINGS)
        return [(candidate["id"], candidate["text"]) for candidate in found]


class GivenVectors:
    """An embedder that looks vectors up; its window is endless, so that no text is cut in two."""

    name, dimension, window = MiniLM.name, MiniLM.dimension, sys.maxsize

    def __init__(self, chunks: Chunks) -> None:
        # an index embeds what its letters are folded to
        self._rows = {folded(text).strip(): row for row, text in enumerate(chunks.texts)}
        self._vectors = chunks.vectors

    def embed(self, texts: list[str]) -> Vectors:
        """Vectors of shape (len(texts), 384)."""
        return self._of(texts).astype(np.float32)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """The same in half precision."""
        progress(len(texts), len(texts))
        return self._of(texts)

    def _of(self, texts: Sequence[str]) -> Halves:
        return self._vectors[[self._rows[text] for text in texts]]

    def count_tokens(self, text: str) -> int:
        """None, which always fits."""
        return 0

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """None of any."""
        return [0] * len(texts)


class Given:
    """Chunks whose vectors are given, as what a cluster prepared; they have no triplets."""

    def __init__(self, chunks: Chunks, tools: Tools) -> None:
        self._tools = tools
        self._documents = {made.name: made for made in documents(chunks.texts)}

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """Every document is a file."""
        return Scan(dict.fromkeys(self._documents, ""))

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Told
    ) -> Generator[PreparedFile]:
        """Each in its chunks, which are not yet embedded."""
        yield from (cut(*made, self._tools) for made in self._documents.values())

    survey = prepare


def write(chunks: Chunks, index: Path) -> None:
    """Index chunks whose vectors are given."""
    tools = tools_for(_SETTINGS, GivenVectors(chunks))
    write_index(index, [], tools, cluster=Given(chunks, tools))
