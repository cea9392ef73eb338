"""The triad of LQ-RAG, section V-C: what an answer, its context and its question are to each other.

Each takes the judge's scores in [0, 1] of the parts and is their mean, (1/N) * sum of f_score;
parts without a score are left out, and without any the metric is unresolved.
"""

from collections.abc import Sequence

from lexloop.core.score import Score, Unresolved, is_resolved, resolved


def answer_relevance(scores: Sequence[Score]) -> Score:
    """AR(Q, A) = (1/N) * sum of f_score(Q_i, A_i).

    Source: LQ-RAG, section V-C.4, equation 8.

    Args:
        scores: How well each answer, or part of one, meets its question.
    """
    return _mean(scores, "no answer was scored")


def context_relevance(scores: Sequence[Score]) -> Score:
    """CR(Q, C) = (1/N) * sum of f_score(Q_i, C_i).

    Source: LQ-RAG, section V-C.5, equation 9.

    Args:
        scores: How well each passage fits its question.
    """
    return _mean(scores, "no passage was scored")


def groundedness(scores: Sequence[Score]) -> Score:
    """G(A, C) = (1/N) * sum of f_score(A_i, C_i).

    Source: LQ-RAG, section V-C.6, equation 10.

    Args:
        scores: How well the context supports each claim of the answer.
    """
    return _mean(scores, "no claim was scored")


def relevance_score(answer: Score, context: Score, grounded: Score) -> Score:
    """(AR + CR + G) / 3, the relevance score by which LQ-RAG compares its systems.

    Source: LQ-RAG, section VI-C, figure 7, whose bars are the means of figure 8's three.

    Returns:
        In [0, 1]; unresolved when one of the three is.
    """
    scores = [answer, context, grounded]
    for score in scores:
        if not is_resolved(score):
            return score
    return sum(resolved(scores)) / len(scores)


def _mean(scores: Sequence[Score], nothing: str) -> Score:
    numbers = resolved(scores)
    if numbers:
        return sum(numbers) / len(numbers)
    return next((score for score in scores if isinstance(score, Unresolved)), Unresolved(nothing))
