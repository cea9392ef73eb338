"""From the chunking settings to a chunker; the only place that chooses."""

from functools import partial

from lexloop.core.errors import SettingsError
from lexloop.core.settings_index import IndexSettings
from lexloop.core.types import Chunk
from lexloop.corpus.chunk.pattern import chunk_by_pattern, compile_pattern
from lexloop.corpus.chunk.provisions import chunk_document, is_divided
from lexloop.corpus.chunk.sentences import (
    chunk_by_characters,
    chunk_by_meaning,
    chunk_by_sentences,
)
from lexloop.corpus.chunk.spans import Chunker
from lexloop.corpus.load.document import Document
from lexloop.models.embedding import Embedder

_READS: dict[str, tuple[str, ...]] = {
    "auto": ("chunk_tokens", "chunk_overlap"),
    "provisions": (),
    "sentence": ("chunk_tokens", "chunk_overlap"),
    "semantic": ("chunk_dissimilarity", "chunk_buffer"),
    "pattern": ("chunk_pattern",),
    "characters": ("chunk_chars", "chunk_chars_overlap"),
}


def chunker_name(settings: IndexSettings) -> str:
    """Name the chunker and the settings it reads; what an index records and compares."""
    read = ", ".join(f"{name}={getattr(settings, name)!r}" for name in _READS[settings.chunker])
    return f"{settings.chunker}({read})"


def chunker_for(settings: IndexSettings, embedder: Embedder) -> Chunker:
    """Make the chunker that the settings name.

    Args:
        settings: Which one, and its parameters.
        embedder: Counts tokens, and makes the vectors of the semantic chunker.

    Raises:
        SettingsError: An overlap is not below its chunk's size, or the pattern cannot be used.
    """
    for name, of in (("chunk_overlap", "chunk_tokens"), ("chunk_chars_overlap", "chunk_chars")):
        overlap, size = getattr(settings, name), getattr(settings, of)
        if name in _READS[settings.chunker] and overlap >= size:
            raise SettingsError(
                f"{name} is {overlap} and {of} is {size}.", f"Set {name} below {of}."
            )
    by_sentences = partial(
        chunk_by_sentences,
        tokens=settings.chunk_tokens,
        overlap=settings.chunk_overlap,
        count_tokens=embedder.count_tokens,
    )

    def as_recognised(document: Document) -> list[Chunk]:
        return chunk_document(document) if is_divided(document) else by_sentences(document)

    match settings.chunker:
        case "auto":
            return as_recognised
        case "sentence":
            return by_sentences
        case "provisions":
            return chunk_document
        case "semantic":
            share, buffer = settings.chunk_dissimilarity, settings.chunk_buffer
            return partial(chunk_by_meaning, dissimilarity=share, buffer=buffer, embedder=embedder)
        case "pattern":
            compile_pattern(settings.chunk_pattern)  # refused before the first document is read
            return partial(chunk_by_pattern, pattern=settings.chunk_pattern)
        case "characters":
            chars, overlap = settings.chunk_chars, settings.chunk_chars_overlap
            return partial(chunk_by_characters, chars=chars, overlap=overlap)
