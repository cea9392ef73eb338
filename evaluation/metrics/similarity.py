"""How near two texts are by their vectors."""

import numpy as np
from numpy.typing import ArrayLike

from lexloop.core.score import Score, Unresolved


def cosine(first: ArrayLike, second: ArrayLike) -> Score:
    """A.B / (|A| |B|).

    Source: LQ-RAG, section V-C.3, equation 7.

    Args:
        first: Vector of shape (dimension,).
        second: Vector of the same shape.

    Returns:
        In [-1, 1]; unresolved when the shapes differ, a vector is zero, or a number is not finite.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        return Unresolved(f"the vectors have the shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Unresolved("a vector holds a number that is not finite")
    a_peak, b_peak = np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)
    if not (a_peak and b_peak):
        return Unresolved("a vector is zero")
    # by the largest entry first: the squares of tiny or huge entries leave the range of a float
    a, b = a / a_peak, b / b_peak
    value = float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))
    return min(1.0, max(-1.0, value))
