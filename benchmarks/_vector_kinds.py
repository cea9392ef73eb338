"""The ways in which each engine keeps vectors, and how it is asked for the nearest."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Given = Callable[[Floats], NDArray[Any]]

EFFORT = 100
"""Neighbours that a search of the graph keeps in mind, in both engines."""
OVERSAMPLED = 3
"""How many times ten candidates are compared by their floats, where that is tried."""
_GRAPH = {"m": 16, "ef_construction": 200}
_LEVELS, _OUTLIERS = 127, 99.9


class Kind(NamedTuple):
    """One way to keep vectors.

    Args:
        mapping: Of the field, for ``dimension`` components.
        given: What is written and asked with in place of float vectors, row by row.
        rescored: Who compares candidates by their floats: "engine" where it offers that, "asker"
            where the client has to, "" where nothing was made coarser.
    """

    mapping: Callable[[int], dict[str, Any]]
    given: Given
    rescored: str


def bytes_of(vectors: Floats, like: Floats) -> NDArray[np.int8]:
    """Return vectors as signed bytes, on the scale that fits all but the outliers of ``like``."""
    largest = np.percentile(np.abs(like), _OUTLIERS)
    scaled = np.rint(vectors * (_LEVELS / largest)).clip(-_LEVELS, _LEVELS)
    return scaled.astype(np.int8)


def signs_of(vectors: Floats) -> NDArray[np.int8]:
    """Return one bit a component, set where it is above zero, packed into signed bytes."""
    return np.packbits(vectors > 0, axis=1).view(np.int8)


def kinds_of(product: str, vectors: Floats) -> Mapping[str, Kind]:
    """Return the kinds of an engine by name; ``vectors`` set the scale of those made here."""
    return _elasticsearch() if product == "elasticsearch" else _opensearch(vectors)


def request(
    product: str, vector: Sequence[float], limit: int, oversampled: float
) -> dict[str, Any]:
    """Return a search for the nearest; with ``oversampled`` 0 the engine may not rescore."""
    if product == "elasticsearch":
        knn: dict[str, Any] = {"field": "v", "query_vector": vector, "k": limit}
        knn |= {"num_candidates": EFFORT, "rescore_vector": {"oversample": oversampled}}
        return {"knn": knn, "size": limit, "_source": False}
    asked = {"vector": vector, "k": limit, "method_parameters": {"ef_search": EFFORT}}
    return {"query": {"knn": {"v": asked}}, "size": limit, "_source": False}


def _elasticsearch() -> dict[str, Kind]:
    def dense(kind: str, rescored: str = "engine") -> Kind:
        def mapping(dimension: int) -> dict[str, Any]:
            options = {"type": kind, **_GRAPH}
            common = {"type": "dense_vector", "dims": dimension}
            return {**common, "similarity": "max_inner_product", "index_options": options}

        return Kind(mapping, _as_they_are, rescored)

    return {
        "float": dense("hnsw", ""),
        "int8": dense("int8_hnsw"),
        "int4": dense("int4_hnsw"),
        "binary": dense("bbq_hnsw"),
    }


def _opensearch(vectors: Floats) -> dict[str, Kind]:
    def knn(space: str, data: str = "float", **more: Any) -> Callable[[int], dict[str, Any]]:
        def mapping(dimension: int) -> dict[str, Any]:
            method = {"name": "hnsw", "engine": "lucene", "space_type": space}
            common = {"type": "knn_vector", "dimension": dimension, "data_type": data}
            return {**common, "method": {**method, "parameters": {**_GRAPH, **more}}}

        return mapping

    return {
        "float": Kind(knn("innerproduct"), _as_they_are, ""),
        "int8": Kind(knn("innerproduct", encoder={"name": "sq"}), _as_they_are, "asker"),
        "int8 by the client": Kind(
            knn("innerproduct", "byte"), lambda floats: bytes_of(floats, vectors), "asker"
        ),
        "binary by the client": Kind(knn("hamming", "binary"), signs_of, "asker"),
    }


def _as_they_are(vectors: Floats) -> Floats:
    return vectors
