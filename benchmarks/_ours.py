"""Lexloop as a contestant of latency.py: an index on disk, opened and searched by the node."""

import shutil
import subprocess
import sys
from collections.abc import Collection, Generator, Sequence
from pathlib import Path

import numpy as np
from _contest import TOP, Found, QuestionEmbedder, documents
from _mixture import Chunks
from _pipeline import runtime

from lexloop.core.files import is_index
from lexloop.core.folding import folded
from lexloop.core.metadata import Filters
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.reading.workers import Progress as Told
from lexloop.documents.text.tokens import stemmer_name
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import MiniLM
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.question import parse
from lexloop.store.manifest import FORMAT, IndexSource
from lexloop.store.opening import open_index, tools_for
from lexloop.store.preparing import Tools, cut_document
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan
from lexloop.store.writer import write_index

_SETTINGS = Settings(
    fusion="rrf",
    **{
        "index.windows": "whole",
        "retrieval.candidates": TOP,
        "access.as_of": "any",
    },
)
_PLAN = {"k": TOP, "Q": 0, "K": 0, "S": 0}


class GivenVectors:
    """An embedder that looks vectors up; its window is endless, so that no text is cut in two."""

    name, dimension, window = MiniLM.name, MiniLM.dimension, sys.maxsize

    def __init__(self, chunks: Chunks) -> None:
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


class Ours:
    """The index of a corpus, made by a process of its own unless it is there, and opened."""

    def __init__(self, corpus: Path, embedder: QuestionEmbedder) -> None:
        index = corpus / f"lexloop-{FORMAT}-{stemmer_name().replace(' ', '-')}"
        if not is_index(index):
            for outdated in corpus.glob("lexloop-*"):
                shutil.rmtree(outdated)
            subprocess.run([sys.executable, __file__, str(corpus), str(index)], check=True)
        view = open_index(index, embedder).seen_by(Filters.of(_SETTINGS))
        self._runtime = runtime(backend=view, settings=_SETTINGS)

    def search(self, question: str) -> Found:
        """The node's candidates for a question without sub-queries."""
        state = {"parsed": parse(question), "plan": _PLAN}
        update = waited(hybrid_retrieve(state, self._runtime))
        return [(candidate["id"], candidate["text"]) for candidate in update["candidates"]]


class Given:
    """Chunks whose vectors are given, as what a cluster prepared; they have no triplets."""

    def __init__(self, chunks: Chunks, tools: Tools) -> None:
        self._tools = tools
        self._documents = {name: (text, starts) for name, text, starts in documents(chunks.texts)}

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """Every document is a file."""
        return Scan(dict.fromkeys(self._documents, ""))

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Told
    ) -> Generator[PreparedFile]:
        """Each in its chunks, which are not yet embedded."""
        for name, (text, starts) in self._documents.items():
            document, cut = Document(name, "", text), _chunks(name, text, starts)
            made = cut_document(name, "", document, cut, self._tools)
            yield PreparedFile(name, (made,), ())

    survey = prepare


def write(chunks: Chunks, index: Path) -> None:
    """Index chunks whose vectors are given."""
    tools = tools_for(_SETTINGS, GivenVectors(chunks))
    write_index(index, [], tools, cluster=Given(chunks, tools))


def _chunks(name: str, text: str, starts: list[int]) -> list[Chunk]:
    ends = [start - 1 for start in starts[1:]] + [len(text)]
    return [
        {
            "id": f"{name}#{start}",
            "document": name,
            "title": "",
            "section": "",
            "page": None,
            "start": start,
            "end": end,
            "text": text[start:end],
        }
        for start, end in zip(starts, ends, strict=True)
    ]


if __name__ == "__main__":
    write(Chunks.load(Path(sys.argv[1])), Path(sys.argv[2]))
