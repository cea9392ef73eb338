"""A small collection with a real knowledge graph, read off the trees of its documents."""

from collections.abc import Mapping, Sequence

import records
from triplet_list import graph_of

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.relations import extract_document
from lexloop.store.graph import KnowledgeGraph


def sections_of(texts: Mapping[int, str], document: str = "harbour.txt") -> list[Chunk]:
    """A law of sections of these numbers, each a chunk of its own: of section 3 ``c3``."""
    law, chunks = "", list[Chunk]()
    for number, text in texts.items():
        start, said = len(law), f"§ {number} {text}"
        law += f"{said}\n\n"
        chunks.append(
            records.chunk(
                said, document=document, start=start, id=f"c{number}", section=f"§ {number}"
            )
        )
    return chunks


def _law_of(chunks: Sequence[Chunk]) -> str:
    return "".join(f"{chunk['text']}\n\n" for chunk in chunks)


class GraphCollection:
    """Chunks and the graph of what they say, as far as one asker may see them.

    Args:
        chunks: All chunks; those of one document are all of its text.
        metadata: What is known of some documents.
        access: Who asks.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Metadata] | None = None,
        access: Filters | None = None,
    ) -> None:
        self._access = access or Filters()
        self._chunks = {chunk["id"]: chunk for chunk in chunks}
        self._metadata = metadata or {}
        triplets: list[Triplet] = []
        for name in dict.fromkeys(chunk["document"] for chunk in chunks):
            own = [chunk for chunk in chunks if chunk["document"] == name]
            triplets += extract_document(Document(name, own[0]["title"], _law_of(own)), own)
        self._graph = graph_of(triplets)

    def graph(self) -> KnowledgeGraph:
        """The graph of the documents that the asker may see."""
        return self._graph.view(
            lambda document: self._access.admits(self._metadata.get(document, Metadata()))
        )

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked for."""
        return [self._chunks[chunk_id] for chunk_id in chunk_ids]
