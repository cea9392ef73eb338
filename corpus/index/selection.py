"""The best of many scores, found without sorting them all."""

import numpy as np
from numpy.typing import NDArray

_BLOCKS_A_PLACE = 4
"""Blocks for each place asked for: with more, the first bound is closer and costs more."""


def best_positions(scores: NDArray[np.float32], limit: int, floor: float) -> NDArray[np.int64]:
    """Where the highest scores stand, best first, equal ones in their order.

    The limit-th best of the maxima of equal blocks bounds the limit-th best score from below, so
    that only the few scores from it upwards are ever sorted.

    Args:
        scores: Shape (n,).
        limit: How many at most.
        floor: Scores up to and including this are left out.

    Returns:
        Positions of shape (at most limit,).
    """
    if limit <= 0:
        return np.zeros(0, dtype=np.int64)
    block = len(scores) // (_BLOCKS_A_PLACE * limit)
    bound = floor
    if block > 1:
        whole = len(scores) // block * block
        maxima = scores[:whole].reshape(-1, block).max(axis=1)
        bound = float(np.partition(maxima, -limit)[-limit])
    found = np.flatnonzero(scores >= bound if bound > floor else scores > floor)
    values = scores[found]
    if len(found) > 2 * limit:
        kept = values >= np.partition(values, -limit)[-limit]
        found, values = found[kept], values[kept]
    return found[np.argsort(-values, kind="stable")[:limit]]
