"""Documents -> chunks: provisions where a document is divided into them, else sentences."""

from collections.abc import Callable

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.provisions import chunk_document
from lexloop.corpus.chunk.sentence import chunk_by_sentences
from lexloop.corpus.load.document import Document

MIN_SECTIONS = 2
"""A single heading is as a rule the document's title."""
MAX_SECTION_CHARS = 20_000
"""About eight pages; headings farther apart divide a book into its parts, not a law into its
provisions."""


def chunk_as_recognised(
    document: Document, tokens: int, overlap: int, count_tokens: Callable[[str], int]
) -> list[Chunk]:
    """Cut one document by its provisions where ``is_divided``, else by sentences.

    Args:
        document: The source.
        tokens: As for ``chunk_by_sentences``.
        overlap: As for ``chunk_by_sentences``.
        count_tokens: As for ``chunk_by_sentences``.
    """
    if is_divided(document):
        return chunk_document(document)
    return chunk_by_sentences(document, tokens, overlap, count_tokens)


def is_divided(document: Document) -> bool:
    """Whether a document is a numbered statute or is otherwise divided into sections.

    It is when it has at least two provisions (a line such as "§ 5", "Article 12 Fees" or
    "RULE 3.2", a Markdown heading, or a heading that the format marks), and at least one for
    every 20,000 characters.
    """
    provisions = sum(1 for unit in document.tree.units if unit.kind in ("provision", "annex"))
    return provisions >= max(MIN_SECTIONS, len(document.text) / MAX_SECTION_CHARS)
