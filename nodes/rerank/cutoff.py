"""How many passages the scores of a ranking are worth."""

import math
from collections.abc import Sequence

TEMPERATURE = 0.08
"""How far, as a share of the best score, a candidate may fall behind to weigh a factor of e less;
benchmarks/adapting.py shows what other values are worth."""


def worth_taking(
    scores: Sequence[float], least_share: float, most: int, temperature: float = TEMPERATURE
) -> int:
    """The number of leading candidates that each hold enough of the ranking's weight.

    A candidate weighs exp((score - best) / (temperature x best)), and its share is its part of all
    weights: about its chance to be the one that answers. One that stands out leaves the others
    little, so that few are taken; the less the scores tell them apart, the more are taken, until
    there are so many that each of them alone would add little to what is found. Multiplying all
    scores by a number changes nothing, so the rule fits any reranker or fusion.

    Args:
        scores: In the order in which candidates are taken, the best one first.
        least_share: A candidate with less ends the list; in (0, 1].
        most: The most that are taken.
        temperature: Above 0; the higher, the less a lead counts.

    Returns:
        At least 1 where there is a candidate, and at most ``most``.
    """
    if not scores:
        return 0
    best = max(scores)
    scale = temperature * abs(best) or 1.0
    weights = [math.exp((score - best) / scale) for score in scores]
    least = least_share * math.fsum(weights)
    taken = next((n for n, weight in enumerate(weights) if weight < least), len(weights))
    return min(max(taken, 1), most)
