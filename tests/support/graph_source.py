"""A small collection with a real knowledge graph, read out by the rules."""

from collections.abc import Mapping, Sequence

from triplet_list import graph_of

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.knowledge.rules import extract_document


def passage_of(number: int, text: str, document: str = "harbour.txt") -> Chunk:
    """Chunk ``c<number>``, the section of that number of its document."""
    return {
        "id": f"c{number}",
        "document": document,
        "title": "Harbour",
        "section": f"§ {number}",
        "page": None,
        "start": 100 * number,
        "end": 100 * number + len(text),
        "text": text,
    }


def _extracted(chunk: Chunk) -> list[Triplet]:
    """What the rules read in a chunk as if it were the whole section of its document."""
    found = extract_document(
        Document(chunk["document"], chunk["title"], chunk["text"]), [{**chunk, "start": 0}]
    )
    shift = chunk["start"]
    return [
        {**t, "section": chunk["section"], "start": t["start"] + shift, "end": t["end"] + shift}
        for t in found
    ]


class GraphCollection:
    """Chunks and the graph of what they say, as far as one asker may see them.

    Args:
        chunks: All chunks.
        metadata: What is known of some documents.
        access: Who asks.
        text: The whole text of the one document that the chunks are of; without it each chunk is
            read as a section of its own.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Metadata] | None = None,
        access: Filters | None = None,
        text: str = "",
    ) -> None:
        self._access = access or Filters()
        self._chunks = {chunk["id"]: chunk for chunk in chunks}
        self._metadata = metadata or {}
        if text:
            document = Document(chunks[0]["document"], chunks[0]["title"], text)
            triplets = extract_document(document, chunks)
        else:
            triplets = [triplet for chunk in chunks for triplet in _extracted(chunk)]
        self._graph = graph_of(triplets)

    def graph(self) -> KnowledgeGraph:
        """The graph of the documents that the asker may see."""
        return self._graph.view(
            lambda document: self._access.admits(self._metadata.get(document, Metadata()))
        )

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked for."""
        return [self._chunks[chunk_id] for chunk_id in chunk_ids]
