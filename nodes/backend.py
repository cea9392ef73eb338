"""The seam between the graph and whatever searches: two unfused ranked lists."""

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from lexloop.core.hits import Hit
from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Pointed, PointedUnit
from lexloop.corpus.structure.tree import Tree
from lexloop.models.embedding import Vectors

__all__ = ["Backend", "Hit"]


class Backend(Protocol):
    """Searches in batches and fuses nothing; on this machine or on a server.

    It is made for one asker. What every implementation keeps to, one that asks Elasticsearch
    included:

    - The asker's filters hold before the cut: each list has the best ``limit`` of what they admit.
      Whoever filters what came back instead returns too little, or the wrong documents. What they
      do not admit is not there for ``chunks`` and ``metadata`` either.
    - Scores are the signal's own: BM25 as it was summed, and the cosine in [-1, 1]. A server that
      shifts or scales them (Elasticsearch returns (1 + cosine) / 2) is undone here, since linear
      fusion adds the two. They are finite built-in floats.
    - A batch is one call: one list per query, in the order of the queries, empty where nothing
      was found, and one request to a server however many queries there are.
    - A list is best first and has every chunk once, by its best window. Equal scores may come in
      any order; those that would straddle the cut come in the same order every time.
    - Ids name the same chunk in both signals and in ``chunks``, and a document has the same name
      in hits and in ``metadata``.
    """

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query at most ``limit`` chunks by BM25, best first.

        Chunks that score 0 or less are left out: they do not match.
        """
        ...

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query at most ``limit`` chunks by cosine, best first."""
        ...

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """The best cosine of each token of a question in each chunk, shape (tokens, chunks).

        MaxSim is the mean over the tokens. None where no token vectors are kept.
        """
        ...

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; asked only for what is handed on.

        A chunk that was removed since it was found may be missing.
        """
        ...

    def defining(self, terms: Sequence[str]) -> list[str]:
        """The ids of the chunks in which these terms are defined; at most 12."""
        ...

    def metadata(self, documents: Collection[str]) -> dict[str, Metadata]:
        """What is known of these documents, by name; asked only where a fusion reads it."""
        ...

    def pointed(self, question: str) -> Pointed:
        """What a question points to by its number; nothing where no structure is kept."""
        ...

    def tree_of(self, document: str) -> Tree | None:
        """A document's tree; None where there is no such document."""
        ...

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """The ids of the chunks that hold a unit's words, in order."""
        ...
