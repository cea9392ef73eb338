"""From the chunking settings to a chunker; the only place that chooses."""

from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    Chunking,
)
from lexloop.core.settings_names import RECORDED
from lexloop.core.types import Chunk
from lexloop.corpus.chunk.auto import chunk_as_recognised
from lexloop.corpus.chunk.characters import chunk_by_characters
from lexloop.corpus.chunk.pattern import chunk_by_pattern, compile_pattern
from lexloop.corpus.chunk.provisions import chunk_document
from lexloop.corpus.chunk.semantic import chunk_by_meaning
from lexloop.corpus.chunk.sentence import chunk_by_sentences
from lexloop.corpus.chunk.spans import Chunker
from lexloop.corpus.load.document import Document
from lexloop.models.embedding import Embedder

_NAMES = {now: name for name, now in RECORDED.items()}


def chunker_name(chunking: Chunking) -> str:
    """The chunker and the settings it reads; what an index records and compares."""
    read = [
        f"{_NAMES[f'chunking.{field}']}={value!r}" for field, value in chunking if field != "method"
    ]
    return f"{chunking.method}({', '.join(read)})"


def chunker_for(chunking: Chunking, embedder: Embedder) -> Chunker:
    """The chunker that the settings name.

    Args:
        chunking: Which one, and its parameters.
        embedder: Counts tokens, and makes the vectors of the semantic chunker.

    Raises:
        SettingsError: The pattern cannot be used.
    """
    if isinstance(chunking, ByProvisions):
        return chunk_document
    if isinstance(chunking, ByPattern):
        compile_pattern(chunking.pattern)  # refused before the first document is read

    def chunk(document: Document) -> list[Chunk]:
        if isinstance(chunking, ByMeaning):
            return chunk_by_meaning(document, chunking.dissimilarity, chunking.buffer, embedder)
        if isinstance(chunking, ByPattern):
            return chunk_by_pattern(document, chunking.pattern)
        if isinstance(chunking, ByCharacters):
            return chunk_by_characters(document, chunking.chars, chunking.chars_overlap)
        cut = chunk_by_sentences if chunking.method == "sentence" else chunk_as_recognised
        return cut(document, chunking.tokens, chunking.overlap, embedder.count_tokens)

    return chunk
