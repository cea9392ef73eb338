"""The seam between the graph and whatever searches: two unfused ranked lists."""

from typing import Protocol

from lexloop.core.types import Chunk

Hit = tuple[Chunk, float]


class Backend(Protocol):
    """Answers lexical and vector searches in batches; it fuses nothing."""

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query at most ``limit`` chunks by BM25, best first."""
        ...

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """For each query at most ``limit`` chunks by cosine, best first."""
        ...
