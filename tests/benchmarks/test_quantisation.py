"""What is said of vectors that are kept as bytes or bits, worked by hand."""

import numpy as np
from _vector_kinds import bytes_of, kinds_of, request, signs_of
from quantisation import nearest, recall, searched_bytes


def test_recall_is_the_share_of_the_exact_neighbours() -> None:
    exact = np.array([[1, 2], [3, 4]])
    assert recall([[2, 9], [4, 3]], exact) == 0.75
    assert recall([[], []], exact) == 0.0


def test_the_exact_neighbours_are_those_of_the_largest_products() -> None:
    vectors = np.eye(4, dtype=np.float32)
    asked = np.array([[0.1, 0.9, 0.0, 0.5]], dtype=np.float32)
    assert {*nearest(vectors, asked, 2)[0].tolist()} == {1, 3}


def test_searched_are_the_graph_and_the_coarsest_vectors() -> None:
    assert searched_bytes({"vex": 10, "vec": 1000}) == 1010
    assert searched_bytes({"vex": 10, "vec": 1000, "veq": 250}) == 260
    assert searched_bytes({"vex": 10, "vec": 1000, "veb": 40}) == 50


def test_bytes_and_bits_of_a_vector() -> None:
    vectors = np.array([[0.5, -0.25, 0.0, 0.1]], dtype=np.float32)
    scaled = bytes_of(vectors, np.full((1, 4), 0.5, dtype=np.float32))
    assert scaled.tolist() == [[127, -64, 0, 25]]
    assert bytes_of(vectors * 9, vectors).max() == 127  # outliers are cut, not wrapped
    assert signs_of(np.tile(vectors, 2)).tolist() == [[np.int8(0b10011001 - 256)]]


def test_each_engine_is_asked_in_its_own_words() -> None:
    theirs = request("elasticsearch", [0.0], limit=10, oversampled=0)["knn"]
    assert theirs["rescore_vector"] == {"oversample": 0}
    ours = request("opensearch", [0.0], limit=30, oversampled=0)
    assert ours["query"]["knn"]["v"]["k"] == ours["size"] == 30
    held = np.ones((1, 8), dtype=np.float32)
    kinds = {product: kinds_of(product, held) for product in ("elasticsearch", "opensearch")}
    assert kinds["elasticsearch"]["binary"].mapping(8)["index_options"]["type"] == "bbq_hnsw"
    assert kinds["opensearch"]["binary by the client"].mapping(8)["data_type"] == "binary"
