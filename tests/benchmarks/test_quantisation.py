"""What is said of vectors that are kept as bytes or bits, worked by hand."""

import numpy as np
from _vector_kinds import bytes_of, signs_of
from quantisation import recall


def test_recall_is_the_share_of_the_exact_neighbours() -> None:
    exact = np.array([[1, 2], [3, 4]])
    assert recall([[2, 9], [4, 3]], exact) == 0.75
    assert recall([[], []], exact) == 0.0


def test_bytes_and_bits_of_a_vector() -> None:
    vectors = np.array([[0.5, -0.25, 0.0, 0.1]], dtype=np.float32)
    scaled = bytes_of(vectors, np.full((1, 4), 0.5, dtype=np.float32))
    assert scaled.tolist() == [[127, -64, 0, 25]]
    assert bytes_of(vectors * 9, vectors).max() == 127  # outliers are cut, not wrapped
    assert signs_of(np.tile(vectors, 2)).tolist() == [[np.int8(0b10011001 - 256)]]
