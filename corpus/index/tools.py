"""What turns documents into an index."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.chunk.spans import Chunker
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.load.document import Document
from lexloop.models.embedding import Embedder

Extractor = Callable[[Document, Sequence[Chunk]], list[Triplet]]
"""From a document and its chunks to the relations that it states."""


@dataclass(frozen=True)
class Tools:
    """What turns documents into an index, and the recipe that names it.

    ``settings`` are those that chose the rest; a later update starts from them.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    embedder: Embedder
    chunk: Chunker
    extract: Extractor
