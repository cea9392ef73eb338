"""Lexloop as a contestant of latency.py: an index on disk, opened and searched by the node."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _contest import TOP, Found, QuestionEmbedder, documents
from _mixture import Chunks
from _pipeline import runtime

from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.chunks.statements import statements_in
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import stemmer_name
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import MiniLM
from lexloop.nodes.hybrid_retrieve.node import hybrid_retrieve
from lexloop.nodes.question import parse
from lexloop.store.builder import IndexBuilder
from lexloop.store.folder.generations import new_generation, sync_generation, writing
from lexloop.store.manifest import FORMAT, Manifest
from lexloop.store.opening import open_index, tools_for

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
        self._rows = {text: row for row, text in enumerate(chunks.texts)}
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


def write_index(chunks: Chunks, index: Path) -> None:
    """Index chunks whose vectors are given; they have no triplets."""
    tools = tools_for(_SETTINGS, GivenVectors(chunks))
    with writing(index):
        folder = new_generation(index)
        builder = IndexBuilder(tools, folder=folder)
        try:
            for name, text, starts in documents(chunks.texts):
                document = Document(name, "", text)
                cut = _chunks(name, text, starts)
                builder.add_chunks(name, document, cut, statements_in(document, cut), [])
            contents = builder.finish()
            counts, hashes = contents.counts(), contents.save(folder)
        finally:
            builder.discard()
        sync_generation(folder)
        Manifest(
            generation=folder.name,
            recipe=tools.recipe,
            settings=tools.settings,
            sources=(),
            excluded=(),
            counts=counts,
            sha256=hashes,
            fingerprints={},
        ).write(index)


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
    write_index(Chunks.load(Path(sys.argv[1])), Path(sys.argv[2]))
