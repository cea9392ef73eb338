"""Documents read out of an engine with everything that was made of them."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.documents.structure.statements import statements_in
from lexloop.documents.structure.tree import Tree
from lexloop.store.engine.columns import codes_of, halves_of, unpacked
from lexloop.store.protocol import MARK, PreparedChunk, PreparedDocument

if TYPE_CHECKING:
    from lexloop.store.engine.contents import EngineContents

_FIELDS = ("title", "metadata", "text", "tree", "pages", "headings", "boxes", "fingerprint")
_AT_ONCE = 200


def document_of(contents: "EngineContents", name: str) -> Document:
    """Return a document as it was loaded, its tree included."""
    record = contents.record_of(name, *_FIELDS)
    return Document(
        name,
        record["title"],
        record["text"],
        Metadata.from_record(record["metadata"]),
        tuple(record["pages"]),
        tuple((at, level) for at, level in record["headings"]),
        unpacked(record["boxes"]),
    ).with_tree(Tree.from_json(record["tree"]))


def prepared_of(contents: "EngineContents", name: str) -> PreparedDocument:
    """Return a document with its chunks, statements, triplets and vectors."""
    record = contents.record_of(name, "fingerprint")
    chunks = [*_chunks_of(contents, name)]
    return PreparedDocument(
        record["file"], record["fingerprint"], document_of(contents, name), chunks
    )


def _chunks_of(contents: "EngineContents", name: str) -> Iterator[PreparedChunk]:
    admitted = {"term": {"document": name}}
    stated = defaultdict[str, list[Triplet]](list)
    for hit in contents.every("relations", admitted, ["chunk", "record"]):
        source = hit["_source"]
        stated[source["chunk"]].append(cast("Triplet", {**source["record"], "document": name}))
    for hit in contents.every("chunks", admitted, ["record"], ["vectors", "codes"], _AT_ONCE):
        record, fields = hit["_source"]["record"], hit["fields"]
        chunk: Chunk = record["chunk"]
        codes = codes_of(unpacked(fields.get("codes", [""])[0]))
        ends = [0, *record["ends"]]
        yield PreparedChunk(
            chunk,
            statements_in(record["statements"]),
            stated[chunk["id"]],
            halves_of(unpacked(fields["vectors"][0]), contents.embedder.dimension),
            np.frombuffer(unpacked(record["marks"]), dtype=MARK).reshape(-1, 2),
            [codes[first:end] for first, end in pairwise(ends)],
        )
