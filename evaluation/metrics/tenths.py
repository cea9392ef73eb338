"""The scale of the hybrid search paper: 0 to 1 in tenths."""

from lexloop.core.score import Score, Unresolved


def tenths(score: Score) -> Score:
    """The nearest of 0.0, 0.1, ..., 1.0, halves upwards.

    Source: hybrid search paper (Sultania et al.), appendix B: groundedness and answer similarity.

    Args:
        score: In [0, 1].

    Returns:
        A tenth; unresolved when the score is, or lies outside [0, 1].
    """
    if isinstance(score, Unresolved):
        return score
    if not 0.0 <= score <= 1.0:
        return Unresolved(f"{score} lies outside 0 to 1")
    # the nearest millionth first: 0.35 in binary is a little below the half
    return int(round(score * 10, 6) + 0.5) / 10
