"""A collection: the documents of one index and everything that searches them."""

import math
from collections.abc import Collection as Ids
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.statements import Statement, statements
from lexloop.models.embedding import Embedder, Vectors

Hit = tuple[Chunk, float]
_RECENT = 512


@dataclass(frozen=True)
class Collection:
    """Documents, their chunks, and one index per signal over the chunks in the same order."""

    documents: dict[str, Document]
    chunks: list[Chunk]
    lexical: LexicalIndex
    dense: DenseIndex
    triplets: list[Triplet]
    embedder: Embedder

    @property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph, built when first asked for."""
        return self._graph

    @cached_property
    def _graph(self) -> KnowledgeGraph:
        return KnowledgeGraph.from_triplets(self.triplets)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {chunk["id"]: position for position, chunk in enumerate(self.chunks)}

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk with this id.

        Raises:
            KeyError: There is none.
        """
        return self.chunks[self._positions[chunk_id]]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """The statements of a chunk's text and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        position = self._positions[chunk_id]
        found = statements(self.chunks[position]["text"])
        windows = self.dense.windows_of(position)
        return found, windows[-len(found) :] if len(found) > 1 else windows[: len(found)]

    def embed(self, texts: list[str]) -> Vectors:
        """Vectors of questions and answers, shape (len(texts), dimension), recent ones kept."""
        # other threads fill and clear the recent ones too, so nothing is read from them twice
        found = {text: self._recent.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        if missing:
            made = dict(zip(missing, self.embedder.embed(missing), strict=True))
            found.update(made)
            if len(self._recent) + len(made) > _RECENT:
                self._recent.clear()
            self._recent.update(made)
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = found[text]
        return vectors

    @cached_property
    def _recent(self) -> dict[str, Vectors]:
        return {}

    def rarity(self, term: str) -> float:
        """Inverse document frequency of a search term: ln(1 + chunks / (df + 0.5))."""
        return math.log(1 + len(self.chunks) / (self.lexical.document_frequency(term) + 0.5))

    def centre(self) -> Vectors:
        """The mean direction of all windows, shape (dimension,): what the documents are about."""
        return self._centre

    @cached_property
    def _centre(self) -> Vectors:
        if not len(self.dense.owners):
            return np.zeros(self.embedder.dimension, dtype=np.float32)
        mean: Vectors = self.dense.vectors().mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-9)

    def knows(self, term: str) -> bool:
        """Whether any chunk holds a search term (a stem, as ``tokenize`` gives it)."""
        return term in self.lexical.terms

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query the best chunks by BM25, best first; chunks that score 0 left out."""
        return [self._ranked(self.lexical.scores(query), limit, 0.0) for query in queries]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query the best chunks by cosine, best first."""
        if not queries:
            return []
        similarity = self.dense.scores(self.embed(queries))
        return [self._ranked(row, limit, -1.0) for row in similarity]

    def _ranked(self, scores: NDArray[np.float32], limit: int, floor: float) -> list[Hit]:
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(self.chunks[i], float(scores[i])) for i in order if scores[i] > floor]

    def without(self, chunk_ids: Ids[str]) -> "Collection":
        """The same collection with some chunks taken out of every index.

        Measurements use it to see whether an answer is refused when its evidence is gone.
        """
        keep = [i for i, chunk in enumerate(self.chunks) if chunk["id"] not in chunk_ids]
        chunks = [self.chunks[i] for i in keep]
        position = {old: new for new, old in enumerate(keep)}
        rows = [i for i, owner in enumerate(self.dense.owners) if int(owner) in position]
        owners = [position[int(self.dense.owners[i])] for i in rows]
        return Collection(
            documents=self.documents,
            chunks=chunks,
            lexical=LexicalIndex.build([searched_text(chunk) for chunk in chunks]),
            dense=DenseIndex.from_vectors(
                self.dense.vectors()[rows], np.array(owners, dtype=np.int32), len(chunks)
            ),
            triplets=[t for t in self.triplets if t["chunk_id"] not in chunk_ids],
            embedder=self.embedder,
        )


def searched_text(chunk: Chunk) -> str:
    """What lexical search sees of a chunk: its text, its section, and its document's title."""
    return f"{chunk['title']}\n{chunk['section']}\n{chunk['text']}"
