"""A collection whose embedder fails: searched by words alone, what it finds compared by another."""

from dataclasses import fields
from typing import Self

import numpy as np

from lexloop.core.filters import Filters
from lexloop.core.hits import Hit
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.text.statements import Statement, statements
from lexloop.models.embedding import Embedder, Vectors


class ByWords(Collection):
    """The same documents without the vectors that the index holds of them.

    Vectors of two models cannot be compared: the question's are made by another model than the
    index's, so those of the statements that lexical search and the graph bring up are made anew.
    """

    @classmethod
    def of(cls, collection: Collection, embedder: Embedder) -> Self:
        """The documents of ``collection``, their texts embedded by ``embedder``."""
        held = {each.name: getattr(collection, each.name) for each in fields(collection)}
        return cls(**{**held, "embedder": embedder})

    def search_vector(self, queries: list[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """Nothing for any query."""
        return [[] for _ in queries]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """The statements of a chunk's text and their vectors, shape (statements, dimension)."""
        (chunk,) = self.texts.chunks([self.layout.position_of(chunk_id)])
        found = statements(chunk["text"])
        return found, self.embed([statement.text for statement in found])

    def centre(self) -> Vectors:
        """No direction, shape (dimension,): what the documents are about is not known."""
        return np.zeros(self.embedder.dimension, dtype=np.float32)
