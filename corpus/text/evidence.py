"""Which chunks hold the evidence that a reference names, whatever the chunking."""

from collections.abc import Iterable

from lexloop.core.types import Chunk
from lexloop.corpus.text.tokens import words

_GRAM = 3


def evidence_chunks(chunks: Iterable[Chunk], reference_context: str) -> set[str]:
    """The ids of the chunks that share half of their word 3-grams with a reference context."""
    context = word_grams(reference_context)
    return {
        chunk["id"]
        for chunk in chunks
        if (grams := word_grams(chunk["text"])) and 2 * len(grams & context) >= len(grams)
    }


def word_grams(text: str) -> set[tuple[str, ...]]:
    """The word 3-grams of a text, lower-cased."""
    spoken = words(text)
    return {tuple(spoken[i : i + _GRAM]) for i in range(len(spoken) - _GRAM + 1)}
