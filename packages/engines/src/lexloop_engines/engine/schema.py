"""What an engine holds of a generation, and how each product keeps and finds vectors.

Searched are our own terms, separated by spaces, and the vectors of windows. Everything else that
an answer needs is stored beside them: what is read whole in ``record``, what is compared as bytes.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.models.embedding import CODED, Codes
from lexloop.store.address import BINARY, FLOAT, INT8, Storage
from lexloop.store.folder.lexical import K1, B

KINDS = ("chunks", "documents", "relations")
"""The indexes of a generation."""
MANIFEST_ID = "generation"
"""The id under which ``documents`` holds what is true of a generation as a whole."""
TERMS, VECTOR = "terms", "windows.vector"

# --- bytes


def key_of(name: str) -> str:
    """Return the id that an engine has of something: names may be longer than its ids."""
    return sha256(name.encode(errors="surrogatepass")).hexdigest()[:40]


def packed(data: bytes) -> str:
    """Return bytes as an engine takes them."""
    return b64encode(data).decode()


def unpacked(text: str) -> bytes:
    """Return the bytes of a binary column; OpenSearch leaves the padding out, and has - for +."""
    return b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def codes_of(data: bytes) -> Codes:
    """Return the codes of tokens, shape (tokens, CODED)."""
    return np.frombuffer(data, dtype=np.int8).reshape(-1, CODED)


# --- vectors

_EF, _M = 200, 16
"""Of the HNSW graph: neighbours looked at while it is built, and kept for each vector."""
_MOST_CANDIDATES = 10_000
_GENEROUS, _SPARE = 2, 64
"""Neighbours looked at for each that is wanted, and beyond. In a merged graph of 100,000 vectors 2
finds 0.997 of the ten best and 0.966 of the 120 best, 1 finds 0.995 and 0.948, a millisecond
sooner."""
_AGAIN = 3
"""Candidates that Elasticsearch compares again by their floats, for each that is wanted."""
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Dialect:
    """The parts of requests in which the engines differ.

    Args:
        oldest: The first major version that is known to answer as is needed.
        settings: Of an index with vectors.
        kinds: What the mapping of each kind of vectors has of its own. That the candidates of a
            coarse one are compared again by their floats is said here too, so that whoever searches
            need not know.
        vector: From a dimension, and what a kind has of its own, to the mapping of a vector that is
            searched by its inner product.
        factor: From a major version to what it multiplies BM25 by.
        near: From a field, a vector, the candidates and a filter, None for none, to a search for
            the parents of the nearest vectors among those admitted.
    """

    oldest: int
    settings: Json
    kinds: Mapping[str, Json]
    vector: Callable[[int, Json], dict[str, Any]]
    factor: Callable[[int], float]
    near: Callable[[str, Sequence[float], int, Json | None], dict[str, Any]]


def _dense_vector(dimension: int, own: Json) -> dict[str, Any]:
    return {
        "type": "dense_vector",
        "dims": dimension,
        "similarity": "max_inner_product",
        "index_options": {**own, "m": _M, "ef_construction": _EF},
    }


def _beside_the_query(
    field: str, vector: Sequence[float], limit: int, admitted: Json | None
) -> dict[str, Any]:
    many = {"k": limit, "num_candidates": candidates(limit)}
    asked = {"field": field, "query_vector": vector, **many}
    return {"knn": asked | ({"filter": admitted} if admitted else {})}


def _knn_vector(dimension: int, own: Json) -> dict[str, Any]:
    method = {
        "name": "hnsw",
        "engine": "lucene",
        "space_type": "innerproduct",
        "parameters": {"m": _M, "ef_construction": _EF},
    }
    return {"type": "knn_vector", "dimension": dimension, **own, "method": method}


def _inside_a_nested_query(
    field: str, vector: Sequence[float], limit: int, admitted: Json | None
) -> dict[str, Any]:
    # it looks at as many neighbours as it is to find
    asked = {"vector": vector, "k": candidates(limit)}
    query = {"knn": {field: asked | ({"filter": admitted} if admitted else {})}}
    path = field.partition(".")[0]
    return {"query": {"nested": {"path": path, "score_mode": "max", "query": query}}}


def candidates(limit: int) -> int:
    """Return how many neighbours are looked at to find so many."""
    return min(_MOST_CANDIDATES, _GENEROUS * limit + _SPARE)


DIALECTS: Mapping[str, Dialect] = {
    "elasticsearch": Dialect(
        oldest=8,
        settings={},
        kinds={
            FLOAT: {"type": "hnsw"},
            INT8: {"type": "int8_hnsw", "rescore_vector": {"oversample": _AGAIN}},
            BINARY: {"type": "bbq_hnsw", "rescore_vector": {"oversample": _AGAIN}},
        },
        vector=_dense_vector,
        factor=lambda _: K1 + 1,
        near=_beside_the_query,
    ),
    "opensearch": Dialect(
        oldest=2,
        settings={"index.knn": True},
        # in this mode, all that `near` looks at is compared again
        kinds={FLOAT: {}, INT8: {"mode": "on_disk", "compression_level": "4x"}},
        vector=_knn_vector,
        factor=lambda major: 1.0 if major >= 3 else K1 + 1,
        near=_inside_a_nested_query,
    ),
}


def inner_product(score: float) -> float:
    """Return the inner product that Lucene's score stands for, which is never negative."""
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)


# --- indexes

_KEYWORD = {"type": "keyword"}
_INTEGER = {"type": "integer"}
_LONG = {"type": "long"}
_BYTES = {"type": "binary", "doc_values": True}
_STORED = {"type": "object", "enabled": False}
_FILTERED = ("tags", "jurisdiction", "kind", "host", "in_force_from", "in_force_to")


def profile_of(metadata: Metadata = UNKNOWN) -> str:
    """Return a short name for all that filters read of a document."""
    read = [str(getattr(metadata, name)) for name in _FILTERED]
    return sha256("\0".join(read).encode()).hexdigest()[:16]


def bodies(dialect: Dialect, dimension: int, storage: Storage) -> Mapping[str, dict[str, Any]]:
    """Return what each index of ``KINDS`` is created with."""
    sizes = {"index.number_of_shards": storage.shards, "index.auto_expand_replicas": "0-1"}
    # nothing is searched before it is whole
    common = {**sizes, "index.refresh_interval": "-1"}
    similarity = {"okapi": {"type": "BM25", "k1": K1, "b": B}}
    chunks = _chunks(dialect.vector(dimension, dialect.kinds[storage.vectors]))
    # the last merge leaves larger ones as they are, whose graphs miss neighbours among near copies
    merged = {"index.merge.policy.max_merged_segment": "1gb"}
    return {
        "chunks": {
            "settings": {**common, **merged, **dialect.settings, "index.similarity": similarity},
            "mappings": _mapping(chunks, [TERMS, "vectors", "codes", "windows"]),
        },
        "documents": {"settings": common, "mappings": _mapping(_DOCUMENTS)},
        "relations": {"settings": common, "mappings": _mapping(_RELATIONS)},
    }


def _mapping(properties: Json, unread: list[str] | None = None) -> dict[str, Any]:
    """Return a mapping; what is ``unread`` is searched or read as a column, and not kept twice."""
    found = {"dynamic": "strict", "properties": properties}
    return found | ({"_source": {"excludes": unread}} if unread else {})


def _chunks(vector: Json) -> dict[str, Any]:
    text = {"type": "text", "analyzer": "whitespace", "similarity": "okapi"}
    return {
        # OpenSearch's vector search needs something that nested documents lack
        "chunk": {"type": "boolean"},
        "document": _KEYWORD,
        "profile": _KEYWORD,
        "ordinal": _LONG,
        "start": _INTEGER,
        "lot": _INTEGER,
        "supporting": {"type": "boolean"},
        TERMS: {**text, "index_options": "freqs"},
        "vectors": _BYTES,
        "codes": _BYTES,
        "windows": {"type": "nested", "properties": {"vector": vector}},
        "record": _STORED,
    }


_DOCUMENTS: Json = {
    "document": _KEYWORD,
    "profile": _KEYWORD,
    "ordinal": _LONG,
    "provisions": _KEYWORD,
    "defines": _INTEGER,
    "triplets": _INTEGER,
    "record": _STORED,
}
_RELATIONS: Json = {
    "document": _KEYWORD,
    "ordinal": _LONG,
    "chunk": _KEYWORD,
    "place": _INTEGER,
    "graph": _KEYWORD,
    "part": _INTEGER,
    "record": _STORED,
}
