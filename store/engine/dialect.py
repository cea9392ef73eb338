"""What differs between the two engines: how vectors are kept and asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NewType, Protocol

from lexloop.core.errors import SettingsError

_EF, _M = 200, 16
"""Of the HNSW graph: neighbours looked at while it is built, and kept for each vector."""
_MOST_CANDIDATES = 10_000
_GENEROUS = 2
"""Neighbours looked at for each that is wanted. In a merged graph of 100,000 vectors 2 finds 0.997
of the ten best and 0.966 of the 120 best, 1 finds 0.995 and 0.948, a millisecond sooner."""
_AGAIN = 3
"""Candidates that Elasticsearch compares again by their floats, for each that is wanted."""

VectorKind = NewType("VectorKind", str)
"""How coarsely an engine keeps the vectors that it searches; ``vector_kind`` makes one."""
FLOAT = VectorKind("float")


class Storage(NamedTuple):
    """How an engine keeps an index.

    Args:
        vectors: How coarsely it keeps those that it searches.
        shards: Into how many parts it splits the index.
    """

    vectors: VectorKind = FLOAT
    shards: int = 1


USUAL = Storage()
"""That of an index of which nothing else is said."""


class Dialect(Protocol):
    """The parts of requests in which the engines differ."""

    oldest: ClassVar[int]
    """The first major version that is known to answer as is needed."""
    settings: ClassVar[Mapping[str, Any]]
    """Of an index with vectors."""
    kinds: ClassVar[Mapping[str, Mapping[str, Any]]]
    """What the mapping of each kind of vectors has of its own. That the candidates of a coarse one
    are compared again by their floats is said here too, so that whoever searches need not know."""

    def vector(self, dimension: int, kind: VectorKind) -> dict[str, Any]:
        """Return the mapping of a vector that is searched by its inner product."""
        ...

    def near(
        self, field: str, vector: Sequence[float], limit: int, admitted: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Return a search for the parents of the nearest vectors among those admitted, or all."""
        ...


@dataclass(frozen=True)
class Elasticsearch:
    """Dense vectors, searched for beside the query."""

    oldest: ClassVar = 8
    settings: ClassVar[Mapping[str, Any]] = {}
    kinds: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        FLOAT: {"type": "hnsw"},
        "int8": {"type": "int8_hnsw", "rescore_vector": {"oversample": _AGAIN}},
        "binary": {"type": "bbq_hnsw", "rescore_vector": {"oversample": _AGAIN}},
    }

    def vector(self, dimension: int, kind: VectorKind) -> dict[str, Any]:
        """See ``Dialect.vector``."""
        return {
            "type": "dense_vector",
            "dims": dimension,
            "similarity": "max_inner_product",
            "index_options": {**self.kinds[kind], "m": _M, "ef_construction": _EF},
        }

    def near(
        self, field: str, vector: Sequence[float], limit: int, admitted: dict[str, Any] | None
    ) -> dict[str, Any]:
        """See ``Dialect.near``."""
        asked = {
            "field": field,
            "query_vector": vector,
            "k": limit,
            "num_candidates": min(_MOST_CANDIDATES, _GENEROUS * limit),
        }
        return {"knn": asked | ({"filter": admitted} if admitted else {})}


@dataclass(frozen=True)
class OpenSearch:
    """Vectors of the k-NN plugin with Lucene's graph, searched for inside a nested query."""

    oldest: ClassVar = 2
    settings: ClassVar[Mapping[str, Any]] = {"index.knn": True}
    kinds: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        FLOAT: {},
        # in this mode, all that `near` looks at is compared again
        "int8": {"mode": "on_disk", "compression_level": "4x"},
    }

    def vector(self, dimension: int, kind: VectorKind) -> dict[str, Any]:
        """See ``Dialect.vector``."""
        return {
            "type": "knn_vector",
            "dimension": dimension,
            **self.kinds[kind],
            "method": {
                "name": "hnsw",
                "engine": "lucene",
                "space_type": "innerproduct",
                "parameters": {"m": _M, "ef_construction": _EF},
            },
        }

    def near(
        self, field: str, vector: Sequence[float], limit: int, admitted: dict[str, Any] | None
    ) -> dict[str, Any]:
        """See ``Dialect.near``."""
        # it looks at as many neighbours as it is to find
        many = min(_MOST_CANDIDATES, _GENEROUS * limit)
        asked = {"vector": vector, "k": many} | ({"filter": admitted} if admitted else {})
        nested = {
            "path": field.split(".", maxsplit=1)[0],
            "score_mode": "max",
            "query": {"knn": {field: asked}},
        }
        return {"query": {"nested": nested}}


DIALECTS: Mapping[str, Dialect] = {
    "elasticsearch": Elasticsearch(),
    "opensearch": OpenSearch(),
}


def vector_kind(product: str, name: str) -> VectorKind:
    """Return the kind of vectors of this name.

    Raises:
        SettingsError: The engine has none of that name, or none that finds enough.
    """
    kinds = DIALECTS[product].kinds
    if name not in kinds:
        raise SettingsError(
            f"Vectors cannot be kept as {name!r} in {product}.", f"Use {' or '.join(kinds)}."
        )
    return VectorKind(name)


def inner_product(score: float) -> float:
    """Return the inner product that Lucene's score stands for, which is never negative."""
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)
