"""Reading: the chunks, texts and provisions of the documents that somebody may see."""

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lexloop.core.errors import ConflictError
from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.core.types import (
    MOST_POINTED,
    Candidate,
    Chunk,
    Citation,
    Passage,
    PointedUnit,
    Scored,
)
from lexloop.documents.document import Box, Document, boxes_of, confidence_of, span_in_file
from lexloop.documents.structure.place import at_of
from lexloop.documents.structure.references import Reference
from lexloop.documents.structure.tree import Tree, key_of, key_of_heading, keys_of_term
from lexloop.store.access import Access
from lexloop.store.protocol import Store

_TREES = 50


class Readable:
    """The documents that somebody may see, to be read.

    Args:
        store: The whole index.
        access: The documents that may be seen.
    """

    def __init__(self, store: Store, access: Access) -> None:
        self._store, self.access = store, access

    @property
    def documents(self) -> Sequence[str]:
        """The documents' names, in order."""
        return self.access.documents

    @property
    def titles(self) -> Mapping[str, str]:
        """The documents' titles by their names, in order."""
        return self.access.titles

    def metadata(self, documents: Names[str]) -> dict[str, Metadata]:
        """Return each document's metadata; a superseded one ends where the next begins."""
        return {name: self.access.metadata.get(name, UNKNOWN) for name in documents}

    # --- chunks

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for.

        Raises:
            KeyError: A chunk is not in this view.
        """
        return [self._dated(chunk) for chunk in self._store.chunks(self.access.checked(chunk_ids))]

    def candidates(self, found: Sequence[Scored]) -> list[Candidate]:
        """Return what was found with its text and its place, in the order given.

        Raises:
            ConflictError: The documents have changed since, or are not those that were searched.
        """
        try:
            chunks = self.chunks([one["id"] for one in found])
        except KeyError as error:
            raise ConflictError(
                f"The documents have no passage {error.args[0]!r}, which was found in them before.",
                "They are others by now: ask the question again.",
            ) from error
        return [
            {**chunk, "score": one["score"], "signals": one["signals"]}
            for chunk, one in zip(chunks, found, strict=True)
        ]

    def as_passage(self, candidate: Candidate, n: int) -> Passage:
        """Return a candidate as the passage of a number, with its place in the file.

        Raises:
            KeyError: Its document is not in this view.
        """
        passage: Passage = {**candidate, "n": n}
        at = at_of(self.document(passage["document"]), passage["start"], passage["end"])
        return {**passage, "at": at} if at else passage

    def every_chunk(self, step: int = 1) -> Iterator[Chunk]:
        """Yield every ``step``-th chunk in order, read in batches."""
        return map(self._dated, self._store.every_chunk(step, self.access.within))

    def _dated(self, chunk: Chunk) -> Chunk:
        metadata = self.access.metadata[chunk["document"]]
        if metadata.version:
            chunk["version"] = metadata.version
        if metadata.identifier:
            chunk["identifier"] = metadata.identifier
        if metadata.kind:
            chunk["kind"] = metadata.kind
        if metadata.jurisdiction:
            chunk["jurisdiction"] = metadata.jurisdiction
        return chunk

    # --- documents

    def document(self, name: str) -> Document:
        """Return a document.

        Raises:
            KeyError: The document is not in this view.
        """
        if not self.access.shows(name):
            raise KeyError(name)
        return self._store.document(name)

    def _shown(self, name: str) -> Document | None:
        return self._store.document(name) if self.access.shows(name) else None

    def text_of(self, document: str) -> str | None:
        """Return the full text of a document; None if it is not in this view."""
        shown = self._shown(document)
        return shown.text if shown else None

    def texts_of(self, documents: Sequence[str]) -> Iterator[str]:
        """Yield the full texts of documents, read in batches.

        Raises:
            KeyError: A document is not in this view.
        """
        self.access.checked([f"{name}#" for name in documents])
        return self._store.texts_of(documents)

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of a document's provisions; None if it is not in this view."""
        shown = self._shown(document)
        return shown.tree if shown else None

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        """Return the citation of a span of a document, its number 0.

        Raises:
            KeyError: The document is not in this view.
        """
        source = self.document(document)
        citation: Citation = {
            "n": 0,
            "document": document,
            "section": section,
            "page": source.page_at(start),
            "start": start,
            "end": end,
            "quote": source.text[start:end],
        }
        if at := at_of(source, start, end):
            citation["at"] = at
        metadata = self.access.metadata[document]
        if metadata.version:
            citation["version"] = metadata.version
        if metadata.identifier:
            citation["identifier"] = metadata.identifier
        return citation

    def boxes(self, document: str, start: int, end: int) -> list[Box]:
        """Return the places of a span on a document's pages; empty if it has no pages."""
        shown = self._shown(document)
        return boxes_of(shown, start, end) if shown else []

    def located(self, citation: Citation) -> Citation:
        """Return a citation with its place in the file, and the confidence of recognised text."""
        document = self._shown(citation["document"])
        if document is None:
            return citation
        located, span = citation.copy(), (citation["start"], citation["end"])
        if at := at_of(document, *span):
            located["at"] = at
        if in_file := span_in_file(document, *span):
            located["in_file"] = [*in_file]
        if (sure := confidence_of(document, *span)) is not None:
            located["read_from_picture"] = sure
        return located

    # --- provisions

    def holding(self, references: Sequence[Reference], named: Sequence[str]) -> Sequence[str]:
        """Return the documents in which references may have a target, those named first.

        Only a few are returned, because each tree is read.
        """
        others: Sequence[str] = self.documents
        if len(others) > _TREES:
            paths = (reference.steps[:n] for reference in references for n in range(1, 9))
            keys = list(dict.fromkeys(key_of(path) for path in paths if path))
            others = [name for name, _ in self._store.provisions(keys, self.access.within)]
        return list(dict.fromkeys([*named, *others]))[:_TREES]

    def headed(self, headings: Sequence[str]) -> list[tuple[str, int]]:
        """Return document and place of each unit with one of the headings, in order."""
        keys = [*dict.fromkeys(filter(None, map(key_of_heading, headings)))]
        return self._store.provisions(keys, self.access.within)[:MOST_POINTED]

    def placed(self, references: Sequence[Reference]) -> dict[str, list[int]]:
        """Return the places of the units that references name, by their documents, in order."""
        keys = [key_of(reference.steps) for reference in references]
        places: dict[str, list[int]] = {}
        for name, place in self._store.provisions(keys, self.access.within):
            places.setdefault(name, []).append(place)
        return places

    def defining(self, terms: Sequence[str]) -> list[str]:
        """Return the ids of the chunks in which the definitions of terms begin, in order."""
        keys = [key for term in terms for key in keys_of_term(term)[:1]]
        chunk_ids: list[str] = []
        for name, place in self._store.provisions(keys, self.access.within):
            start = self._store.document(name).tree.units[place].start
            starts = self._store.starts(name)
            at = int(np.searchsorted(starts, start, side="right"))
            if len(starts):  # a document may have lost all its chunks
                chunk_ids.append(f"{name}#{starts[max(0, at - 1)]}")
        return list(dict.fromkeys(chunk_ids))[:MOST_POINTED]

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """Yield the ids of the chunks with a unit's text, in order."""
        name = unit["document"]
        starts = self._store.starts(name)
        begin = max(0, int(np.searchsorted(starts, unit["start"], side="right")) - 1)
        for start in starts[begin : int(np.searchsorted(starts, unit["end"]))].tolist():
            yield f"{name}#{start}"
