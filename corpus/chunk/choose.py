"""From the chunking settings to a chunker; the only place that chooses."""

from lexloop.core.errors import SettingsError
from lexloop.core.settings_index import IndexSettings
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

_READS: dict[str, tuple[str, ...]] = {
    "auto": ("chunk_tokens", "chunk_overlap"),
    "provisions": (),
    "sentence": ("chunk_tokens", "chunk_overlap"),
    "semantic": ("chunk_dissimilarity", "chunk_buffer"),
    "pattern": ("chunk_pattern",),
    "characters": ("chunk_chars", "chunk_chars_overlap"),
}


def chunker_name(settings: IndexSettings) -> str:
    """The chunker and the settings it reads; what an index records and compares."""
    read = ", ".join(f"{name}={getattr(settings, name)!r}" for name in _READS[settings.chunker])
    return f"{settings.chunker}({read})"


def chunker_for(settings: IndexSettings, embedder: Embedder) -> Chunker:
    """The chunker that the settings name.

    Args:
        settings: Which one, and its parameters.
        embedder: Counts tokens, and makes the vectors of the semantic chunker.

    Raises:
        SettingsError: An overlap is not below its chunk's size, or the pattern cannot be used.
    """
    match settings.chunker:
        case "auto" | "sentence":
            return _by_sentences(settings, embedder)
        case "provisions":
            return chunk_document
        case "semantic":
            return _semantic(settings, embedder)
        case "pattern":
            return _by_pattern(settings)
        case "characters":
            return _by_characters(settings)


def _by_sentences(settings: IndexSettings, embedder: Embedder) -> Chunker:
    tokens, overlap = settings.chunk_tokens, settings.chunk_overlap
    _refuse_overlap("chunk_overlap", overlap, "chunk_tokens", tokens)
    cut = chunk_by_sentences if settings.chunker == "sentence" else chunk_as_recognised

    def chunk(document: Document) -> list[Chunk]:
        return cut(document, tokens, overlap, embedder.count_tokens)

    return chunk


def _semantic(settings: IndexSettings, embedder: Embedder) -> Chunker:
    def chunk(document: Document) -> list[Chunk]:
        return chunk_by_meaning(
            document, settings.chunk_dissimilarity, settings.chunk_buffer, embedder
        )

    return chunk


def _by_pattern(settings: IndexSettings) -> Chunker:
    compile_pattern(settings.chunk_pattern)  # refused before the first document is read

    def chunk(document: Document) -> list[Chunk]:
        return chunk_by_pattern(document, settings.chunk_pattern)

    return chunk


def _by_characters(settings: IndexSettings) -> Chunker:
    chars, overlap = settings.chunk_chars, settings.chunk_chars_overlap
    _refuse_overlap("chunk_chars_overlap", overlap, "chunk_chars", chars)

    def chunk(document: Document) -> list[Chunk]:
        return chunk_by_characters(document, chars, overlap)

    return chunk


def _refuse_overlap(name: str, overlap: int, of: str, size: int) -> None:
    if overlap >= size:
        raise SettingsError(f"{name} is {overlap} and {of} is {size}.", f"Set {name} below {of}.")
