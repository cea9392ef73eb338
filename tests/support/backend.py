"""A backend in memory, over records: BM25 by rank-bm25, and cosines of letter triplets."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import records
from rank_bm25 import BM25Okapi

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.types import Chunk, Hit, Pointed, PointedUnit
from lexloop.documents.structure.tree import Tree
from lexloop.models.embedding import Vectors


def chunk(chunk_id: str, text: str = "x") -> Chunk:
    """A chunk whose id names its document: ``document#start``."""
    document, _, start = chunk_id.partition("#")
    return records.chunk(text, document=document, start=int(start), title=document)


class MemoryBackend:
    """Keeps to the seam as a server would, for one asker.

    ``access`` is that asker's; ``asked`` holds every call it got, in order; ``pointed`` is what
    every question points to; ``close`` is the MaxSim of chunks, where tokens are kept.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        metadata: dict[str, Metadata] | None = None,
    ) -> None:
        self.access = Filters()
        self._chunks = {chunk["id"]: chunk for chunk in chunks}
        self._metadata = metadata or {}
        self._lexical = BM25Okapi([_words(chunk["text"]) for chunk in chunks])
        self._vectors = [_vector(chunk["text"]) for chunk in chunks]
        self.asked: list[tuple[str, object]] = []
        self.points_to([])
        self.terms: dict[str, list[str]] = {}
        self.close: dict[str, float] = {}

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """What ``close`` says of each chunk; None where it says nothing at all."""
        self.asked.append(("closeness", (question, list(chunk_ids))))
        found = [[self.close.get(name, 0.0) for name in chunk_ids]]
        return np.array(found, dtype=np.float32) if self.close else None

    def search(self, queries: list[str], limit: int) -> tuple[list[list[Hit]], list[list[Hit]]]:
        return self.search_lexical(queries, limit), self.search_vector(queries, limit)

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        self.asked.append(("lexical", (queries, limit)))
        return [
            self._ranked(self._lexical.get_scores(_words(query)), limit, above=0.0)
            for query in queries
        ]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        self.asked.append(("vector", (queries, limit)))
        vectors = [_vector(query) for query in queries]
        return [
            self._ranked([_cosine(vector, own) for own in self._vectors], limit, above=-2)
            for vector in vectors
        ]

    def _ranked(self, scores: Sequence[float], limit: int, above: float) -> list[Hit]:
        hits = [
            Hit(chunk["id"], chunk["document"], float(score), chunk.get("supporting", False))
            for chunk, score in zip(self._chunks.values(), scores, strict=True)
            if score > above and self.access.admits(self._of(chunk["document"]))
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        self.asked.append(("chunks", list(chunk_ids)))
        return [self._chunks[chunk_id] for chunk_id in chunk_ids]

    def points_to(self, chunk_ids: list[str]) -> None:
        """Have every question point to these chunks."""
        self.pointed: Pointed = {"units": [], "chunks": chunk_ids, "told": [], "only": False}

    def tree_of(self, document: str) -> Tree | None:
        return None

    def in_file(self, document: str, start: int, end: int) -> tuple[int, int] | None:
        return None

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        return iter(())

    def defining(self, terms: Sequence[str]) -> list[str]:
        return [name for term in terms for name in self.terms.get(term, [])]

    def metadata(self, documents: Collection[str]) -> dict[str, Metadata]:
        self.asked.append(("metadata", set(documents)))
        return {name: self._of(name) for name in documents}

    def _of(self, document: str) -> Metadata:
        return self._metadata.get(document, Metadata())


def _words(text: str) -> list[str]:
    return [word.strip(".,;:?!\"'()").lower() for word in text.split()]


def _vector(text: str) -> Counter[str]:
    letters = f"  {text.lower()} "
    return Counter(letters[i : i + 3] for i in range(len(letters) - 2))


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    product = sum(count * right[letters] for letters, count in left.items())
    return product / (_length(left) * _length(right))


def _length(vector: Counter[str]) -> float:
    return math.hypot(*vector.values())
