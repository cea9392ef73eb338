"""The three indexes of a generation: what is kept of chunks, documents and relations.

Searched are our own terms, separated by spaces, and the vectors of windows. Everything else that
an answer needs is stored beside them: what is read whole in ``record``, what is compared as bytes.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.store.engine.dialect import Dialect, Storage
from lexloop.store.folder.lexical import K1, B

KINDS = ("chunks", "documents", "relations")
MANIFEST_ID = "generation"
"""The id under which ``documents`` holds what is true of a generation as a whole."""
TERMS, VECTOR = "terms", "windows.vector"
HIT_COLUMNS = ["document", "start", "supporting"]
FORMAT = 3
"""The version of these mappings; one that differs is refused."""
_KEYWORD = {"type": "keyword"}
_INTEGER = {"type": "integer"}
_LONG = {"type": "long"}
_BYTES = {"type": "binary", "doc_values": True}
_STORED = {"type": "object", "enabled": False}
_FACETS: dict[str, Any] = {
    "profile": _KEYWORD,
    "tags": _KEYWORD,
    "jurisdiction": _KEYWORD,
    "kind": _KEYWORD,
    "host": _KEYWORD,
    "in_force_from": {"type": "date", "format": "strict_date"},
    "in_force_to": {"type": "date", "format": "strict_date"},
}


def facets_of(metadata: Metadata) -> dict[str, Any]:
    """Return the fields by which documents are filtered; ``profile`` stands for all together."""
    record = metadata.as_record()
    found = {name: record[name] for name in _FACETS if name in record}
    return {**found, "profile": profile_of(metadata)}


def profile_of(metadata: Metadata = UNKNOWN) -> str:
    """Return a short name for all that filters read of a document."""
    read = [str(getattr(metadata, name)) for name in _FACETS if name != "profile"]
    return sha256("\0".join(read).encode()).hexdigest()[:16]


def bodies(dialect: Dialect, dimension: int, storage: Storage) -> Mapping[str, dict[str, Any]]:
    """Return what each index of ``KINDS`` is created with."""
    sizes = {"index.number_of_shards": storage.shards, "index.auto_expand_replicas": "0-1"}
    # nothing is searched before it is whole
    common = {**sizes, "index.refresh_interval": "-1"}
    similarity = {"okapi": {"type": "BM25", "k1": K1, "b": B}}
    chunks = _chunks(dialect.vector(dimension, storage.vectors))
    # the last merge leaves larger ones as they are, whose graphs miss neighbours among near copies
    merged = {"index.merge.policy.max_merged_segment": "1gb"}
    return {
        "chunks": {
            "settings": {**common, **merged, **dialect.settings, "index.similarity": similarity},
            "mappings": _mapping(chunks, ["terms", "bag", "vectors", "codes", "windows"]),
        },
        "documents": {"settings": common, "mappings": _mapping(_documents())},
        "relations": {"settings": common, "mappings": _mapping(_relations())},
    }


def _mapping(properties: dict[str, Any], unread: list[str] | None = None) -> dict[str, Any]:
    """Return a mapping; what is ``unread`` is searched or read as a column, and not kept twice."""
    found: dict[str, Any] = {"dynamic": "strict", "properties": properties}
    found["_meta"] = {"format": FORMAT}
    return found | ({"_source": {"excludes": unread}} if unread else {})


def _chunks(vector: dict[str, Any]) -> dict[str, Any]:
    return {
        "chunk": {"type": "boolean"},
        "document": _KEYWORD,
        "ordinal": _LONG,
        "start": _INTEGER,
        "lot": _INTEGER,
        "label": _KEYWORD,
        "page": _INTEGER,
        "supporting": {"type": "boolean"},
        **_FACETS,
        TERMS: {
            "type": "text",
            "analyzer": "whitespace",
            "similarity": "okapi",
            "index_options": "freqs",
        },
        "length": _INTEGER,
        "bag": _BYTES,
        "vectors": _BYTES,
        "codes": _BYTES,
        "windows": {"type": "nested", "properties": {"vector": vector}},
        "record": _STORED,
    }


def _documents() -> dict[str, Any]:
    return {
        "document": _KEYWORD,
        "ordinal": _LONG,
        "file": _KEYWORD,
        **_FACETS,
        "provisions": _KEYWORD,
        "defines": _INTEGER,
        "triplets": _INTEGER,
        "record": _STORED,
    }


def _relations() -> dict[str, Any]:
    return {
        "document": _KEYWORD,
        "ordinal": _LONG,
        "chunk": _KEYWORD,
        "place": _INTEGER,
        "record": _STORED,
        "graph": _KEYWORD,
        "part": _INTEGER,
    }
