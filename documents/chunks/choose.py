"""Choice of the chunker that the settings name; the only place that chooses."""

from functools import partial

from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    Chunking,
)
from lexloop.core.types import Chunk
from lexloop.documents.chunks.pattern import chunk_by_pattern, compile_pattern
from lexloop.documents.chunks.provisions import chunk_document, is_divided
from lexloop.documents.chunks.sentences import (
    chunk_by_characters,
    chunk_by_meaning,
    chunk_by_sentences,
)
from lexloop.documents.chunks.spans import Chunker
from lexloop.documents.document import Document
from lexloop.models.embedding import Embedder


def chunker_name(chunking: Chunking) -> str:
    """Return the chunker's name with the settings it reads, as an index records it."""
    read = [f"{field}={value!r}" for field, value in chunking if field != "method"]
    return f"{chunking.method}({', '.join(read)})"


def chunker_for(chunking: Chunking, embedder: Embedder) -> Chunker:
    """Return the chunker that the settings name.

    Args:
        chunking: Which one, and its parameters.
        embedder: Counts tokens, and makes the vectors of the semantic chunker.

    Raises:
        SettingsError: The pattern cannot be used.
    """
    if isinstance(chunking, ByProvisions):
        return chunk_document
    if isinstance(chunking, ByMeaning):
        share, buffer = chunking.dissimilarity, chunking.buffer
        return partial(chunk_by_meaning, dissimilarity=share, buffer=buffer, embedder=embedder)
    if isinstance(chunking, ByPattern):
        compile_pattern(chunking.pattern)  # refused before the first document is read
        return partial(chunk_by_pattern, pattern=chunking.pattern)
    if isinstance(chunking, ByCharacters):
        return partial(chunk_by_characters, chars=chunking.chars, overlap=chunking.chars_overlap)
    by_sentences = partial(
        chunk_by_sentences,
        tokens=chunking.tokens,
        overlap=chunking.overlap,
        count_tokens=embedder.count_tokens,
    )

    def as_recognised(document: Document) -> list[Chunk]:
        return chunk_document(document) if is_divided(document) else by_sentences(document)

    return by_sentences if chunking.method == "sentence" else as_recognised
