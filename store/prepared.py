"""A document with all that an index holds of it; nothing in it depends on other documents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.structure.statements import Statement
from lexloop.models.embedding import Codes
from lexloop.store.folder.ann import Half
from lexloop.store.folder.contents import IndexContents
from lexloop.store.folder.texts import Marks


class PreparedChunk(NamedTuple):
    """A chunk with what was made of it.

    Args:
        chunk: The chunk.
        statements: In it, in order.
        triplets: That it states.
        vectors: Of its windows, shape (windows, dimension).
        marks: Of the windows' texts, shape (windows, 2).
        codes: Of each window's tokens; of none where no token vectors are kept.
    """

    chunk: Chunk
    statements: Sequence[Statement]
    triplets: Sequence[Triplet]
    vectors: Half
    marks: Marks
    codes: Sequence[Codes]


@dataclass(frozen=True)
class PreparedDocument:
    """A document, ready to be stored in an index wherever that lies.

    Args:
        file: The source file that it lies in.
        fingerprint: SHA-256 of the file and its metadata; "" where there is no file.
        document: As it was loaded, its tree included.
        chunks: In order.
    """

    file: str
    fingerprint: str
    document: Document
    chunks: Sequence[PreparedChunk]

    @property
    def name(self) -> str:
        """The document's name."""
        return self.document.name


@dataclass(frozen=True)
class PreparedFile:
    """All that a source file gave.

    Args:
        name: Of the file.
        documents: In the file's order.
        skipped: What of it could not be read.
    """

    name: str
    documents: tuple[PreparedDocument, ...]
    skipped: tuple[SkippedSource, ...]


def prepared_documents(
    contents: IndexContents, ordinals: Iterable[int] | None = None
) -> Iterator[PreparedDocument]:
    """Yield documents of an index on this machine, in order; None for all."""
    for ordinal in range(len(contents.names)) if ordinals is None else ordinals:
        file, fingerprint = contents.texts.source_of(ordinal)
        document = contents.texts.document(ordinal).with_tree(contents.tree_of(ordinal))
        first, end = contents.layout.span_of(ordinal)
        chunks = [*_chunks_of(contents, first, end)]
        yield PreparedDocument(file, fingerprint, document, chunks)


def _chunks_of(contents: IndexContents, first: int, end: int) -> Iterator[PreparedChunk]:
    texts, dense, tokens = contents.texts, contents.dense, contents.tokens
    marks = texts.marks_of(first, end)
    stated = texts.triplets_of(range(first, end))
    for position, chunk in enumerate(texts.chunks(range(first, end)), first):
        begin, stop = dense.span_of(position)
        yield PreparedChunk(
            chunk,
            texts.statements_of(position),
            texts.fetch(stated[position]),
            dense.vectors[begin:stop],
            marks[position],
            tokens.windows(begin, stop) if tokens else [],
        )
